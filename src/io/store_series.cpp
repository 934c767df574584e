#include "io/store_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace posgeom::io {
namespace {

/// Where the step's number begins in "NAME.step000100"; npos where the name is none of a series.
std::size_t number_place(const std::string& name) {
  constexpr std::string_view mark = ".step";
  const std::size_t place = name.rfind(mark);
  if (place == std::string::npos || place == 0) return std::string::npos;
  const std::size_t number = place + mark.size();
  const bool digits = number < name.size() && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(number), name.end(),
                                                          [](char c) { return c >= '0' && c <= '9'; });
  return digits ? number : std::string::npos;
}

}  // namespace

std::vector<SeriesRows> series_among(const std::vector<std::string>& encoding_names) {
  std::vector<SeriesRows> all;
  for (std::size_t e = 0; e < encoding_names.size(); ++e) {
    const std::string& full = encoding_names[e];
    const std::size_t number = number_place(full);
    std::int64_t step = 0;
    if (number == std::string::npos || std::from_chars(full.data() + number, full.data() + full.size(), step).ec != std::errc()) continue;
    const std::string name = full.substr(0, number - std::string_view(".step").size());
    auto series = std::ranges::find(all, name, &SeriesRows::name);
    if (series == all.end()) series = all.insert(all.end(), {name, {}, {}});
    const auto place = std::ranges::lower_bound(series->step, step) - series->step.begin();
    series->step.insert(series->step.begin() + place, step);
    series->row.insert(series->row.begin() + place, static_cast<Index>(e));
  }
  return all;
}

void lay_out_series(hid_t h5, const StressTable& table, DimensionScales& scales) {
  const std::array<std::pair<const char*, const std::vector<double>*>, 4> measures{{{"raw", &table.raw},
                                                                                    {"scaled", &table.scaled},
                                                                                    {"violation_rate", &table.violation_rate},
                                                                                    {"min_separation", &table.min_separation}}};
  const Index width = std::ssize(table.dimensions);
  for (const SeriesRows& series : series_among(table.encoding_names)) {
    const std::string group = "/series/" + series.name + "/";
    const Index steps[]{std::ssize(series.step)};
    const Index cells[]{steps[0], width};
    hdf5::write_vector(h5, group + "step", std::span<const std::int64_t>(series.step), steps);
    scales.add(group + "step");
    for (const auto& [name, values] : measures) {
      std::vector<double> rows;
      for (const Index row : series.row) rows.insert(rows.end(), values->begin() + row * width, values->begin() + (row + 1) * width);
      hdf5::write_vector(h5, group + name, std::span<const double>(rows), cells);
      scales.attach(group + name, {group + "step", "/dimension"});
    }
  }
}

}  // namespace posgeom::io
