#include "corpus/unicode.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace posgeom {

char32_t decode(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t k) -> unsigned { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const unsigned lead = byte(at++);
  if (lead < 0x80) return lead;
  unsigned low = 0x80, high = 0xBF;  // bounds of the second byte
  int more = 0;
  char32_t c = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    more = 1;
    c = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    more = 2;
    c = lead & 0x0F;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    more = 3;
    c = lead & 0x07;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return not_utf8;
  }
  for (; more > 0; --more, low = 0x80, high = 0xBF) {
    const unsigned next = byte(at);
    if (next < low || next > high) return not_utf8;
    c = c << 6 | (next & 0x3F);
    ++at;
  }
  return c;
}

void append_utf8(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      text += static_cast<char>(0xE0 | c >> 12);
    } else {
      text += static_cast<char>(0xF0 | c >> 18);
      text += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    }
    text += static_cast<char>(0x80 | (c >> 6 & 0x3F));
  }
  text += static_cast<char>(0x80 | (c & 0x3F));
}

bool is_ascii(std::string_view text) {
  std::uint64_t seen = 0;
  std::size_t k = 0;
  for (; k + 8 <= text.size(); k += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + k, 8);
    seen |= word;
  }
  for (; k < text.size(); ++k) seen |= static_cast<unsigned char>(text[k]) & 0x80U;
  return (seen & 0x8080808080808080) == 0;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::string_view drop_undecodable(std::string_view text, std::string& scratch) {
  if (is_ascii(text) && text.find('\0') == std::string_view::npos) return text;
  scratch.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = decode(text, at);
    if (c != not_utf8 && c != 0 && c != 0xFFFD) scratch.append(text.substr(begin, at - begin));
  }
  return scratch;
}

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (result.size() >= longest) return result + "...";
    const std::size_t begin = at;
    const char32_t c = decode(text, at);
    if (c != not_utf8 && c >= 0x20 && c != 0x7F && (c < 0x80 || c > 0x9F) && c != 0x2028 && c != 0x2029) {
      result += text.substr(begin, at - begin);
    } else {
      for (std::size_t k = begin; k < at; ++k) result += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[k]));
    }
  }
  return result;
}

}  // namespace posgeom
