#pragma once
#include <string>
#include <string_view>

#include "posgeom/types.hpp"

namespace posgeom {

/// What decode() gives for bytes that are no UTF-8.
inline constexpr char32_t not_utf8 = 0xFFFFFFFF;

/// The code point at text[at], and `at` moved behind it; not_utf8 for an invalid sequence, of which one byte is consumed, or all that could
/// have begun a code point (Unicode 15.0, table 3-7: no overlong forms, no surrogates, none above U+10FFFF).
char32_t decode(std::string_view text, std::size_t& at);
void append_utf8(std::string& text, char32_t code_point);
bool is_ascii(std::string_view text);

/// White space by Python's str.split(): what text without an argument is split at.
bool is_space(char32_t c);

/// `text` without NUL, U+FFFD and bytes that are no UTF-8; `scratch` holds it where something had to go.
std::string_view drop_undecodable(std::string_view text, std::string& scratch);

/// `text` for an error's line: control characters and invalid bytes as \xNN, and cut where it is long.
std::string printable(std::string_view text);

}  // namespace posgeom
