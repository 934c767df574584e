#include "pipeline/stress_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace posgeom {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::size_t cell_count(const StressTable& table) { return table.encoding_names.size() * table.dimensions.size(); }

/// The replicates in the cells of a wider table, NaN in the others.
StressBootstrap widened_bootstrap(const StressFile& there, const StressTable& table) {
  const StressBootstrap& from = *there.bootstrap;
  StressBootstrap to{.seed = from.seed, .alpha = from.alpha, .replicates = from.replicates, .raw = {}, .scaled = {}, .violation_rate = {}};
  const auto widen = [&](const std::vector<double>& old_values) {
    std::vector<double> values(cell_count(table) * static_cast<std::size_t>(from.replicates), not_a_number);
    for (const std::string& name : there.table.encoding_names) {
      for (const std::int32_t d : there.table.dimensions) {
        const std::size_t cell = cell_of(table, name, d);
        const std::size_t old_cell = cell_of(there.table, name, d);
        for (std::size_t r = 0; r < static_cast<std::size_t>(from.replicates); ++r)
          values[r * cell_count(table) + cell] = old_values[r * cell_count(there.table) + old_cell];
      }
    }
    return values;
  };
  to.raw = widen(from.raw);
  to.scaled = widen(from.scaled);
  to.violation_rate = widen(from.violation_rate);
  return to;
}

}  // namespace

std::size_t cell_of(const StressTable& table, const std::string& name, std::int32_t d) {
  const auto row = std::ranges::find(table.encoding_names, name) - table.encoding_names.begin();
  return static_cast<std::size_t>(table.index(row, static_cast<Index>(column_of(table, d))));
}

std::size_t column_of(const StressTable& table, std::int32_t d) {
  return static_cast<std::size_t>(std::ranges::lower_bound(table.dimensions, d) - table.dimensions.begin());
}

void add_shuffled(StressFile& file) {
  if (file.shuffled) return;
  file.shuffled.emplace();
  for (auto* cells : {&file.shuffled->raw, &file.shuffled->scaled, &file.shuffled->violation_rate})
    cells->assign(cell_count(file.table), not_a_number);
}

void add_denoised(StressFile& file) {
  if (file.denoised) return;
  file.denoised.emplace();
  for (auto* cells : {&file.denoised->raw, &file.denoised->scaled}) cells->assign(cell_count(file.table), not_a_number);
}

void add_weighted(StressFile& file, SmacofWeights weights) {
  if (file.weighted) return;
  file.weighted.emplace();
  file.weighted->weights = name_of(weights);
  for (auto* values : {&file.weighted->smacof, &file.weighted->mds}) values->assign(file.table.dimensions.size(), not_a_number);
}

StressFile widened(const StressFile& there, const std::vector<std::int32_t>& dims, const std::vector<std::string>& names) {
  StressFile file;
  file.length = there.length;
  StressTable& table = file.table;
  std::set<std::int32_t> all(dims.begin(), dims.end());
  all.insert(there.table.dimensions.begin(), there.table.dimensions.end());
  table.dimensions.assign(all.begin(), all.end());
  table.encoding_names = names;
  for (const std::string& name : there.table.encoding_names) {
    if (std::ranges::find(table.encoding_names, name) == table.encoding_names.end()) table.encoding_names.push_back(name);
  }
  for (auto* measure : measures_of(table)) measure->assign(cell_count(table), not_a_number);
  if (there.shuffled) {
    add_shuffled(file);
    file.shuffled->constant_baseline = there.shuffled->constant_baseline;
    file.shuffled->corpus_violation_rate = there.shuffled->corpus_violation_rate;
  }
  if (there.denoised) {
    add_denoised(file);
    file.denoised->constant_baseline = there.denoised->constant_baseline;
  }
  if (there.weighted) {
    file.weighted.emplace();
    file.weighted->weights = there.weighted->weights;
    for (auto [to, from] :
         {std::pair(&file.weighted->smacof, &there.weighted->smacof), std::pair(&file.weighted->mds, &there.weighted->mds)}) {
      to->assign(table.dimensions.size(), not_a_number);
      for (std::size_t k = 0; k < from->size(); ++k) (*to)[column_of(table, there.table.dimensions[k])] = (*from)[k];
    }
  }
  const auto to = cells_of(file);
  const auto from = cells_of(there);
  if (there.bootstrap) file.bootstrap = widened_bootstrap(there, file.table);
  for (const std::string& name : there.table.encoding_names) {
    for (const std::int32_t d : there.table.dimensions) {
      const std::size_t new_cell = cell_of(table, name, d);
      const std::size_t old_cell = cell_of(there.table, name, d);
      for (std::size_t k = 0; k < to.size(); ++k) {
        if (from[k] != nullptr) (*to[k])[new_cell] = (*from[k])[old_cell];
      }
    }
  }
  return file;
}

std::vector<std::int32_t> missing_dimensions(const StressTable& table, const std::string& name) {
  std::vector<std::int32_t> missing;
  for (const std::int32_t d : table.dimensions) {
    if (std::isnan(table.raw[cell_of(table, name, d)])) missing.push_back(d);
  }
  return missing;
}

std::vector<std::int32_t> missing_beside(const StressTable& table, const std::vector<double>& cells, const std::string& name) {
  std::vector<std::int32_t> missing;
  for (const std::int32_t d : table.dimensions) {
    const std::size_t cell = cell_of(table, name, d);
    if (!std::isnan(table.raw[cell]) && std::isnan(cells[cell])) missing.push_back(d);
  }
  return missing;
}

std::vector<StressRequest> missing_cells(const StressTable& table, const std::vector<NamedEncoding>& encodings) {
  std::vector<StressRequest> requests;
  for (const NamedEncoding& encoding : encodings) {
    std::vector<std::int32_t> dimensions = missing_dimensions(table, encoding.name);
    if (!dimensions.empty()) requests.push_back({encoding, std::move(dimensions)});
  }
  return requests;
}

void insert(StressTable& table, const StressRequest& request, const StressColumns& columns) {
  const auto to = measures_of(table);
  const auto from = measures_of(columns);
  for (std::size_t k = 0; k < request.dimensions.size(); ++k) {
    const std::size_t cell = cell_of(table, request.encoding.name, request.dimensions[k]);
    for (std::size_t measure = 0; measure < to.size(); ++measure) (*to[measure])[cell] = (*from[measure])[k];
  }
}

}  // namespace posgeom
