#include "corpus/jsonl.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "corpus/unicode.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr std::size_t listed_fields = 20;

std::string_view kind_of(element value) {
  switch (value.type()) {
    case element_type::STRING:
      return "a string";
    case element_type::OBJECT:
      return "an object";
    case element_type::ARRAY:
      return "an array";
    case element_type::BOOL:
      return "true or false";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

std::string fields_of(simdjson::dom::object object) {
  std::string list;
  std::size_t count = 0;
  for (const auto field : object) {
    if (count < listed_fields) list += fmt::format("{}'{}'", count == 0 ? "" : ", ", printable(field.key));
    ++count;
  }
  if (count == 0) return "it has none";
  return "its fields are " + list + (count > listed_fields ? fmt::format(" and {} more", count - listed_fields) : "");
}

/// The one field of that name: of two, readers take now the first, now the last.
element value_of(simdjson::dom::object object, std::string_view name, std::string_view option) {
  std::optional<element> found;
  for (const auto field : object) {
    if (field.key != name) continue;
    if (found) throw Error(fmt::format("the object has the field '{}' twice; leave one of them", printable(name)));
    found = field.value;
  }
  if (!found) {
    throw Error(
        fmt::format("the object has no field '{}'; {}; every row needs it: name the field that holds the text with {}, or mend the row",
                    printable(name), fields_of(object), option));
  }
  return *found;
}

std::uint64_t group_of_value(element value, std::string_view name) {
  switch (value.type()) {
    case element_type::STRING:
      return group_of(std::string_view(value));
    case element_type::INT64:
      return group_of(std::to_string(std::int64_t(value)));
    case element_type::UINT64:
      return group_of(std::to_string(std::uint64_t(value)));
    case element_type::DOUBLE:
      return group_of(fmt::format("{}", double(value)));
    default:
      throw Error(
          fmt::format("the field '{}' is {}, but documents can only be grouped by a string or a number", printable(name), kind_of(value)));
  }
}

}  // namespace

std::string json_field_of(const std::string& column) { return column == "0" ? "text" : column; }

bool is_blank_line(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

std::uint64_t group_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

JsonReader::JsonReader(std::string field, std::string split_field) : field_(std::move(field)), split_field_(std::move(split_field)) {}

JsonRow JsonReader::read(std::string_view line) {
  line_.reserve(line.size() + simdjson::SIMDJSON_PADDING);
  line_.assign(line);
  element row;
  // The whole line is checked, not only as far as the field: a row that is no JSON anywhere is no row.
  if (const simdjson::error_code error = parser_.parse(line_.data(), line_.size(), false).get(row); error != simdjson::SUCCESS) {
    throw Error(
        fmt::format("the line is no JSON object ({}) but '{}'; give one object a line, or say --format text where lines are documents",
                    error == simdjson::UTF8_ERROR ? "invalid UTF-8" : simdjson::error_message(error), printable(line)));
  }
  simdjson::dom::object object;
  if (row.get(object) != simdjson::SUCCESS) {
    throw Error(fmt::format("the line is {}, no JSON object; give one object with a field '{}' a line", kind_of(row), printable(field_)));
  }
  const element value = value_of(object, field_, "--column");
  JsonRow result;
  if (value.get(result.text) != simdjson::SUCCESS) {
    throw Error(fmt::format("the field '{}' is {}, no string; {}; name the field that holds the text with --column", printable(field_),
                            kind_of(value), fields_of(object)));
  }
  if (!split_field_.empty()) result.group = group_of_value(value_of(object, split_field_, "--split-by column:NAME"), split_field_);
  return result;
}

}  // namespace posgeom
