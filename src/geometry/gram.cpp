#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>
#include <thread>

#include "geometry/gram_mirror.hpp"
#include "geometry/row_products.hpp"
#include "geometry/split_rows.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// The rows of X that one axis of the Gram matrix has here.
std::vector<Index> owned(const BlockCyclic& axis) {
  std::vector<Index> rows;
  for (const BlockCyclic::Run& run : axis.blocks()) {
    for (Index i = run.global; i < run.global + run.count; ++i) rows.push_back(i);
  }
  return rows;
}

/// This rank's part of the lower triangle of B, by strips of columns that threads take in turn.
class LowerTriangle {
 public:
  LowerTriangle(const SquareRootDistributions& s, DistributedMatrix& gram)
      : gram_(gram),
        rows_(owned(gram.row_axis())),
        columns_(owned(gram.column_axis())),
        numbering_(centred_columns(s)),
        x_(split_rows(s, numbering_, both())),
        products_(numbering_, x_) {}  // NOLINT(clang-analyzer-optin.cplusplus.UninitializedObject): members with initialisers

  void compute(int threads) {
    const Index strips = (std::ssize(columns_) + RowProducts::anchors - 1) / RowProducts::anchors;
    const auto workers = static_cast<std::size_t>(std::clamp<Index>(threads, 1, std::max<Index>(1, strips)));
    std::vector<RowProducts::Workspace> work(workers, products_.workspace());
    std::atomic<Index> next = 0;
    const auto run = [&](RowProducts::Workspace& own) {
      for (Index strip = next++; strip < strips; strip = next++) compute_strip(own, strip * RowProducts::anchors);
    };
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < workers; ++t) others.emplace_back([&run, &work, t] { run(work[t]); });
    run(work.front());
  }

 private:
  std::vector<Index> both() const {
    std::vector<Index> all = rows_;
    all.insert(all.end(), columns_.begin(), columns_.end());
    return all;
  }

  /// Columns first .. first+anchors-1 of the local part, from the diagonal down.
  void compute_strip(RowProducts::Workspace& work, Index first) {
    const Index width = std::min(RowProducts::anchors, std::ssize(columns_) - first);
    const auto anchors = std::span(x_.place).subspan(rows_.size() + static_cast<std::size_t>(first), static_cast<std::size_t>(width));
    products_.set_anchors(work, anchors);
    const Index top = std::ranges::lower_bound(rows_, columns_[static_cast<std::size_t>(first)]) - rows_.begin();
    for (Index begin = top; begin < std::ssize(rows_); begin += RowProducts::most_rows) {
      const Index count = std::min(RowProducts::most_rows, std::ssize(rows_) - begin);
      const auto places = std::span(x_.place).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
      products_.multiply(work, places);
      for (Index c = 0; c < width; ++c) {
        const double along = x_.along_mean[static_cast<std::size_t>(anchors[static_cast<std::size_t>(c)])];
        double* column = &gram_.local(begin, first + c);
        for (Index r = 0; r < count; ++r) {
          const double means = along + x_.along_mean[static_cast<std::size_t>(places[static_cast<std::size_t>(r)])];
          column[r] = work.products[static_cast<std::size_t>(r * RowProducts::anchors + c)] - means + x_.mean_squared;
        }
      }
    }
  }

  DistributedMatrix& gram_;
  std::vector<Index> rows_;     ///< [local rows]
  std::vector<Index> columns_;  ///< [local columns]
  SplitColumns numbering_;
  SplitRows x_;  ///< of the rows, then of the columns
  RowProducts products_;
};

}  // namespace

DistributedMatrix hellinger_gram(const ProcessGrid& grid, const SquareRootDistributions& s, Index block) {
  DistributedMatrix gram = collective(grid.communicator(), "forming the Gram matrix", [&] {
    DistributedMatrix lower(grid, s.row_count(), s.row_count(), block);
    if (lower.local_rows() > 0 && lower.local_columns() > 0) LowerTriangle(s, lower).compute(blas_threads());
    return lower;
  });
  mirror_lower_triangle(gram);
  return gram;
}

Index gram_bytes(const RowsSize& s, const GridShape& shape, Index block) {
  constexpr Index number = sizeof(double);
  const Index rows = BlockCyclic{s.rows, block, shape.rows, 0}.local_extent();
  const Index columns = BlockCyclic{s.rows, block, shape.columns, 0}.local_extent();
  const Index stored = std::min(s.rows, rows + columns);
  const Index panel = s.frequent * RowProducts::anchors * number + s.columns * number;  // the entries of T are those of S
  constexpr Index per_column = 5 * sizeof(double);                                      // SplitColumns, and a copy on the way
  return number * (rows * columns + stored * s.dense) + per_column * s.columns + panel;
}

DistributedMatrix hellinger_matrix(const ProcessGrid& grid, const SquareRootDistributions& s, Index block) {
  DistributedMatrix h(grid, s.row_count(), s.row_count(), block);
  HellingerRows rows(s);
  std::vector<double> tile(static_cast<std::size_t>(HellingerRows::row_block * std::min(block, s.row_count())));
  for (const BlockCyclic::Run& row : h.row_axis().blocks()) {
    for (const BlockCyclic::Run& column : h.column_axis().blocks()) {
      for (Index done = 0; done < row.count; done += HellingerRows::row_block) {
        const Index count = std::min(HellingerRows::row_block, row.count - done);
        rows.compute(row.global + done, count, column.global, column.count, tile);
        for (Index j = 0; j < column.count; ++j) {
          for (Index r = 0; r < count; ++r)
            h.local(row.local + done + r, column.local + j) = tile[static_cast<std::size_t>(r * column.count + j)];
        }
      }
    }
  }
  return h;
}

}  // namespace posgeom
