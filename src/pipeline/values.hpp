#pragma once
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/pipeline/config.hpp"

namespace posgeom {

/// Throws Error (usage): "option --OPTION: found '...', expected ...".
[[noreturn]] void refuse(std::string_view option, std::string_view found, std::string_view expected);

/// Reads single values by name and turns them into what they stand for; throws as refuse() does.
class Values {
 public:
  explicit Values(const OptionValues& values) : values_(values) {}

  /// As typed; the last one where there are several, empty where there is none.
  std::string text(std::string_view name) const;
  bool flag(std::string_view name) const;
  Index integer(std::string_view name, Index least, Index most = std::numeric_limits<Index>::max()) const;
  double positive(std::string_view name) const;
  /// Between 0 and 1, both excluded.
  double share(std::string_view name) const;
  /// Comma separated, without blanks around the entries; an empty entry is refused.
  std::vector<std::string> list(std::string_view name) const;
  /// A number of bytes, with K, M, G or T.
  Index bytes(std::string_view name) const;

  /// A list of integers >= `least`, ascending and distinct.
  template <class Integer>
  std::vector<Integer> integers(std::string_view name, Index least = 1, Index most = std::numeric_limits<std::int32_t>::max()) const {
    std::vector<Integer> numbers;
    for (const std::string& part : list(name)) numbers.push_back(static_cast<Integer>(parse_integer(name, part, least, most)));
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
  }

  static Index parse_integer(std::string_view name, const std::string& value, Index least, Index most);

 private:
  const OptionValues& values_;
};

/// One entry of --encodings: a name of posgeom's own; [NAME=]file:PATH[:DATASET][[FIRST:END]], rows FIRST .. END-1 (each may be left out);
/// NAME=files:PATTERN[:DATASET][[FIRST:END]], a file a step; or NAME=projected:ENCODING:wq=PATH[:DATASET][:wk=PATH[:DATASET]][:heads=H].
EncodingSpec encoding_spec(const std::string& text);
/// Whether posgeom makes an encoding of that name itself.
bool is_own_encoding(std::string_view name);
/// --rope-scaling and --rope-original-length.
RopeScaling rope_scaling(const Values& values);

/// The stress and geometry groups.
StressOptions stress_options(const Values& values, std::uint64_t seed);
GeometryOptions geometry_options(const Values& values, const StressOptions& stress);

}  // namespace posgeom
