#include "posgeom/io/store.hpp"

namespace posgeom {
namespace {

template <class Values, class File>
std::array<Values*, cell_tables.size()> cells_of_file(File& file) {
  std::array<Values*, cell_tables.size()> cells{};
  std::size_t k = 0;
  for (auto* measure : measures_of(file.table)) cells[k++] = measure;
  if (file.shuffled) {
    cells[k] = &file.shuffled->raw;
    cells[k + 1] = &file.shuffled->scaled;
    cells[k + 2] = &file.shuffled->violation_rate;
  }
  k += 3;
  if (file.denoised) {
    cells[k] = &file.denoised->raw;
    cells[k + 1] = &file.denoised->scaled;
  }
  return cells;
}

template <class Values, class S>
std::array<Values*, cell_tables.size()> cells_of_sweep(S& s) {
  return {&s.raw,      &s.scaled,       &s.scale,           &s.violation_rate,          &s.min_separation, &s.pearson,
          &s.spearman, &s.shuffled_raw, &s.shuffled_scaled, &s.shuffled_violation_rate, &s.denoised_raw,   &s.denoised_scaled};
}

}  // namespace

std::array<std::vector<double>*, cell_tables.size()> cells_of(StressFile& file) { return cells_of_file<std::vector<double>>(file); }
std::array<const std::vector<double>*, cell_tables.size()> cells_of(const StressFile& file) {
  return cells_of_file<const std::vector<double>>(file);
}
std::array<std::vector<double>*, cell_tables.size()> cells_of(Sweep& sweep) { return cells_of_sweep<std::vector<double>>(sweep); }
std::array<const std::vector<double>*, cell_tables.size()> cells_of(const Sweep& sweep) {
  return cells_of_sweep<const std::vector<double>>(sweep);
}

}  // namespace posgeom
