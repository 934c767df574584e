#include "geometry/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "posgeom/geometry/mds.hpp"

namespace posgeom {
namespace {

/// The smallest k whose leading values sum to at least `share` of `total`.
Index dimensions_for(std::span<const double> values, double total, double share) {
  double sum = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    sum += values[k];
    if (sum >= share * total) return static_cast<Index>(k) + 1;
  }
  return std::ssize(values);
}

}  // namespace

Index numerical_rank(std::span<const double> eigenvalues, double rank_tolerance, double floor) {
  if (eigenvalues.empty()) return 0;
  const double limit = std::max(rank_tolerance * eigenvalues.front(), floor);
  return std::ranges::partition_point(eigenvalues, [limit](double x) { return x > limit; }) - eigenvalues.begin();
}

Spectrum spectrum_of(std::vector<double> eigenvalues, double trace, double rank_tolerance, double floor) {
  Spectrum spectrum;
  spectrum.eigenvalues = std::move(eigenvalues);
  spectrum.trace = trace;
  spectrum.rank = numerical_rank(spectrum.eigenvalues, rank_tolerance, floor);
  if (spectrum.rank == 0) return spectrum;

  const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(spectrum.eigenvalues.size());
  const auto positive =
      std::span<const double>(spectrum.eigenvalues).first(static_cast<std::size_t>(numerical_rank(spectrum.eigenvalues, rounding, floor)));
  double sum = 0;
  double sum_squared = 0;
  for (const double x : positive) {
    sum += x;
    sum_squared += x * x;
  }
  double entropy = 0;
  for (const double x : positive) entropy -= x / sum * std::log(x / sum);
  spectrum.entropy_rank = std::exp(entropy);
  spectrum.participation_ratio = sum / sum_squared * sum;
  spectrum.dims_90 = dimensions_for(positive, sum, 0.90);
  spectrum.dims_95 = dimensions_for(positive, sum, 0.95);
  spectrum.dims_99 = dimensions_for(positive, sum, 0.99);
  return spectrum;
}

Spectrum leading_spectrum_of(std::vector<double> eigenvalues, Index order, double trace, double rank_tolerance, double floor) {
  if (std::ssize(eigenvalues) == order) return spectrum_of(std::move(eigenvalues), trace, rank_tolerance, floor);
  Spectrum spectrum;
  spectrum.complete = false;
  spectrum.eigenvalues = std::move(eigenvalues);
  spectrum.trace = trace;
  const Index known = std::ssize(spectrum.eigenvalues);
  const Index above = numerical_rank(spectrum.eigenvalues, rank_tolerance, floor);
  spectrum.rank = above < known ? above : -1;
  spectrum.entropy_rank = spectrum.participation_ratio = std::numeric_limits<double>::quiet_NaN();
  const auto dimensions = [&](double share) {
    double sum = 0;
    for (Index k = 0; k < known; ++k) {
      sum += spectrum.eigenvalues[static_cast<std::size_t>(k)];
      if (sum >= share * trace) return k + 1;
    }
    return Index{-1};
  };
  spectrum.dims_90 = dimensions(0.90);
  spectrum.dims_95 = dimensions(0.95);
  spectrum.dims_99 = dimensions(0.99);
  return spectrum;
}

Index flat_bulk_begin(std::span<const double> values) {
  constexpr Index reach = 8;
  constexpr Index least = 16;
  constexpr double nearness = 0.9;
  Index run = 0;
  for (Index j = 0; j + reach < std::ssize(values); ++j) {
    const double value = values[static_cast<std::size_t>(j)];
    run = value > 0 && values[static_cast<std::size_t>(j + reach)] >= nearness * value ? run + 1 : 0;
    if (run == least) return j + 1 - least;
  }
  return -1;
}

void fix_sign(std::span<double> column) {
  double largest = 0;
  for (const double x : column) largest = std::max(largest, std::abs(x));
  const auto leading = std::ranges::find_if(column, [largest](double x) { return std::abs(x) >= largest * (1 - 1e-6); });
  if (leading == column.end() || *leading >= 0) return;
  for (double& x : column) x = -x;
}

bool not_unique(const Spectrum& spectrum, Index d) {
  const Index known = std::ssize(spectrum.eigenvalues);
  if (d < 1 || d >= (spectrum.rank < 0 ? known : std::min(spectrum.rank, known))) return false;
  const auto at = static_cast<std::size_t>(d);
  return spectrum.eigenvalues[at - 1] - spectrum.eigenvalues[at] < 1e-8 * spectrum.eigenvalues.front();
}

}  // namespace posgeom
