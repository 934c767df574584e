#include "posgeom/geometry/denoised.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "geometry/compensated_sum.hpp"
#include "geometry/stress_cell.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

/// The rows of `from` that `positions` are.
std::vector<std::size_t> rows_of(std::span<const std::int32_t> from, std::span<const std::int32_t> positions) {
  std::vector<std::size_t> rows;
  for (const std::int32_t position : positions) {
    const auto found = std::ranges::lower_bound(from, position);
    expects(found != from.end() && *found == position, "positions that are kept");
    rows.push_back(static_cast<std::size_t>(found - from.begin()));
  }
  return rows;
}

/// sum D^2, sum D h, sum (D - h)^2 over the pairs.
struct Sums {
  CompensatedSum squared, cross, residual;
};

/// One request while its pairs are gone through.
class Scoring {
 public:
  Scoring(const StressRequest& request, Index rows, Index lags) {
    if (const auto* x = std::get_if<Coordinates>(&request.encoding.form)) {
      expects(x->rows == rows, "coordinates of the positions of the noise analysis");
      by_rows_.resize(static_cast<std::size_t>(rows * x->stored));
      columns_ = x->stored;
      for (Index j = 0; j < columns_; ++j) {
        for (Index i = 0; i < rows; ++i)
          by_rows_[static_cast<std::size_t>(i * columns_ + j)] = x->values[static_cast<std::size_t>(i + j * rows)];
      }
      for (const std::int32_t d : request.dimensions) {
        const bool undefined = d > x->columns && !x->zero_beyond && !x->whole;
        width_.push_back(undefined ? -1 : x->whole ? columns_ : std::min<Index>(d, columns_));
      }
    } else {
      for (const std::int32_t d : request.dimensions) {
        distances_.push_back(std::get<LagKernel>(request.encoding.form).distances(lags, d));
        width_.push_back(std::isnan(distances_.back().back()) ? -1 : 0);
      }
    }
    sums.resize(width_.size());
  }

  void add(Index i, Index j, std::int32_t lag, double h) {
    double squared = 0;
    Index done = 0;
    for (std::size_t k = 0; k < width_.size(); ++k) {
      if (width_[k] < 0) continue;
      double d = 0;
      if (distances_.empty()) {
        const double* a = by_rows_.data() + i * columns_;
        const double* b = by_rows_.data() + j * columns_;
        for (; done < width_[k]; ++done) squared += (a[done] - b[done]) * (a[done] - b[done]);
        d = std::sqrt(squared);
      } else {
        d = distances_[k][static_cast<std::size_t>(lag)];
      }
      sums[k].squared.add(d * d);
      sums[k].cross.add(d * h);
      sums[k].residual.add((d - h) * (d - h));
    }
  }

  DenoisedColumns finish(const HellingerSummary& summary) const {
    DenoisedColumns columns;
    for (std::size_t k = 0; k < width_.size(); ++k) {
      StressCell cell = undefined_cell();
      if (width_[k] >= 0) {
        CellSums total;
        total.d_squared = sums[k].squared.value();
        total.d_h = sums[k].cross.value();
        total.residual = sums[k].residual.value();
        cell = finish_cell(total, summary, 0);
      }
      columns.raw.push_back(cell.raw);
      columns.scaled.push_back(cell.scaled);
    }
    return columns;
  }

  std::vector<Sums> sums;  ///< [dimensions]

 private:
  Index columns_ = 0;
  std::vector<double> by_rows_;                 ///< rows x columns_, row-major; of coordinates
  std::vector<std::vector<double>> distances_;  ///< [dimensions][lags]; of lag kernels
  std::vector<Index> width_;                    ///< [dimensions] columns that count; -1: undefined
};

/// Visits this rank's pairs i < j.
template <class Visit>
void for_each_pair(const DistributedMatrix& squared, Visit&& visit) {
  for (const BlockCyclic::Run& column : squared.column_axis().blocks()) {
    for (const BlockCyclic::Run& row : squared.row_axis().blocks()) {
      for (Index b = 0; b < column.count; ++b) {
        const Index j = column.global + b;
        for (Index a = 0; a < row.count && row.global + a < j; ++a) {
          visit(row.global + a, j, std::sqrt(std::max(0.0, squared.local(row.local + a, column.local + b))));
        }
      }
    }
  }
}

}  // namespace

SquareRootDistributions kept_rows(const SquareRootDistributions& s, std::span<const std::int32_t> positions) {
  SquareRootDistributions kept;
  std::vector<std::int32_t> column;
  std::vector<double> value;
  kept.length = s.length;
  kept.column_count = s.column_count;
  kept.position.assign(positions.begin(), positions.end());
  for (const std::size_t row : rows_of(s.position, positions)) {
    const Index begin = s.row_begin[row], end = s.row_end[row];
    kept.row_begin.push_back(std::ssize(value));
    column.insert(column.end(), s.column.begin() + begin, s.column.begin() + end);
    value.insert(value.end(), s.value.begin() + begin, s.value.begin() + end);
    kept.row_end.push_back(std::ssize(value));
    if (!s.total.empty()) kept.total.push_back(s.total[row]);
  }
  kept.column = std::move(column);
  kept.value = std::move(value);
  return kept;
}

Coordinates kept_rows(const Coordinates& x, std::span<const std::int32_t> from, std::span<const std::int32_t> positions) {
  expects(x.rows == std::ssize(from), "coordinates of these positions");
  Coordinates kept = x;
  kept.rows = std::ssize(positions);
  kept.values.clear();
  const std::vector<std::size_t> rows = rows_of(from, positions);
  for (Index j = 0; j < x.stored; ++j) {
    for (const std::size_t row : rows) kept.values.push_back(x.values[row + static_cast<std::size_t>(j * x.rows)]);
  }
  return kept;
}

DenoisedScores denoised_stress(const DistributedMatrix& squared, std::span<const std::int32_t> positions,
                               const std::vector<StressRequest>& requests) {
  const Communicator& comm = squared.grid().communicator();
  const Index m = std::ssize(positions);
  expects(m >= 1 && squared.rows() == m, "distances of these positions");
  std::vector<Scoring> scorings;
  CompensatedSum sum, sum_squared;
  collective(comm, "scoring against the de-noised distances", [&] {
    for (const StressRequest& request : requests) scorings.emplace_back(request, m, Index{positions.back()} + 1);
    for_each_pair(squared, [&](Index i, Index j, double h) {
      sum.add(h);
      sum_squared.add(h * h);
      const std::int32_t lag = positions[static_cast<std::size_t>(j)] - positions[static_cast<std::size_t>(i)];
      for (Scoring& scoring : scorings) scoring.add(i, j, lag, h);
    });
  });
  HellingerSummary summary;
  summary.pair_count = m * (m - 1) / 2;
  combine(comm, std::span(&sum, 1));
  combine(comm, std::span(&sum_squared, 1));
  summary.sum = sum.value();
  summary.sum_squared = sum_squared.value();
  DenoisedScores scores;
  scores.constant_baseline = constant_baseline(summary.sum, summary.sum_squared, summary.pair_count);
  for (Scoring& scoring : scorings) {
    std::vector<CompensatedSum> flat;
    for (const Sums& s : scoring.sums) flat.insert(flat.end(), {s.squared, s.cross, s.residual});
    combine(comm, std::span(flat));
    for (std::size_t k = 0; k < scoring.sums.size(); ++k) scoring.sums[k] = {flat[3 * k], flat[3 * k + 1], flat[3 * k + 2]};
    scores.columns.push_back(scoring.finish(summary));
  }
  return scores;
}

}  // namespace posgeom
