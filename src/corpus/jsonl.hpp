#pragma once
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "posgeom/types.hpp"

namespace posgeom {

/// The text of a JSONL row and the hash of its split field (0 without one).
struct JsonRow {
  std::string_view text;  ///< escapes decoded; valid until the next row
  std::uint64_t group = 0;
};

/// Reads one string field of the JSON object of each line.
class JsonReader {
 public:
  /// `split_field`: a string or a number; empty: none.
  JsonReader(std::string field, std::string split_field);
  /// Throws Error that says what is wrong with the line, without its place: no JSON object, invalid UTF-8, field missing, there twice or
  /// not a string.
  JsonRow read(std::string_view line);

 private:
  std::string field_, split_field_;
  std::string line_;  ///< with the room behind it that the parser wants
  simdjson::dom::parser parser_;
};

/// The field that --column names: "text" where it was left at "0".
std::string json_field_of(const std::string& column);
/// Whether a line is white space alone, which is no row.
bool is_blank_line(std::string_view line);

/// The value of Piece::group for a split column's text.
std::uint64_t group_of(std::string_view text);

}  // namespace posgeom
