#include "posgeom/geometry/factored.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "posgeom/error.hpp"
#include "posgeom/geometry/mds.hpp"
#include "posgeom/linalg/svd.hpp"

namespace posgeom {
namespace {

/// tails[r]: sqrt(sum of the squares of values r, r+1, ...), added from the smallest on.
std::vector<double> tails_of(const std::vector<double>& values) {
  std::vector<double> tails(values.size() + 1, 0.0);
  for (std::size_t r = values.size(); r-- > 0;) tails[r] = std::hypot(tails[r + 1], values[r]);
  return tails;
}

}  // namespace

FactoredEncoding factored_encoding(const std::vector<double>& matrix, Index rows, Index columns, double tolerance) {
  expects(std::ssize(matrix) == rows * columns, "a whole matrix");
  expects(tolerance >= 0 && tolerance < 1, "a tolerance from 0 to 1");
  std::vector<double> by_columns(matrix.size());
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j)
      by_columns[static_cast<std::size_t>(i + j * rows)] = matrix[static_cast<std::size_t>(i * columns + j)];
  }
  ThinSvd svd = thin_svd(std::move(by_columns), rows, columns);
  const std::vector<double> tails = tails_of(svd.values);
  const double rounding = static_cast<double>(std::max(rows, columns)) * std::numeric_limits<double>::epsilon();
  const double allowed = std::max(tolerance, rounding) * tails.front();
  FactoredEncoding factored;
  factored.rows = rows;
  factored.columns = columns;
  factored.rank = std::ranges::find_if(tails, [&](double tail) { return tail <= allowed; }) - tails.begin();
  const Index r = factored.rank;
  factored.error = tails.front() > 0 ? tails[static_cast<std::size_t>(r)] / tails.front() : 0;
  factored.a.resize(static_cast<std::size_t>(rows * r));
  factored.b.resize(static_cast<std::size_t>(columns * r));
  for (Index c = 0; c < r; ++c) {
    const auto right = std::span(svd.right).subspan(static_cast<std::size_t>(c * columns), static_cast<std::size_t>(columns));
    const double before = *std::ranges::max_element(right, {}, [](double x) { return std::abs(x); });
    const auto place = std::ranges::find(right, before) - right.begin();
    fix_sign(right);
    const double sign = right[static_cast<std::size_t>(place)] == before ? 1 : -1;
    const double scale = sign * svd.values[static_cast<std::size_t>(c)];
    for (Index i = 0; i < rows; ++i)
      factored.a[static_cast<std::size_t>(i * r + c)] = scale * svd.left[static_cast<std::size_t>(i + c * rows)];
    for (Index j = 0; j < columns; ++j) factored.b[static_cast<std::size_t>(j * r + c)] = right[static_cast<std::size_t>(j)];
  }
  return factored;
}

std::string FactoredEncoding::note() const {
  const std::string counts =
      fmt::format("A [{}, {}] and B [{}, {}] are {} numbers, P is {}", rows, rank, columns, rank, parameters_factored(), parameters_full());
  if (!saves())
    return counts + fmt::format(": factoring does not save here, it does below rank {:.1f}",
                                static_cast<double>(parameters_full()) / static_cast<double>(std::max<Index>(rows + columns, 1)));
  return counts +
         fmt::format(": {:.1f} % fewer", 100 * (1 - static_cast<double>(parameters_factored()) / static_cast<double>(parameters_full())));
}

}  // namespace posgeom
