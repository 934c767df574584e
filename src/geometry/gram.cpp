#include "geometry/rows.hpp"
#include "posgeom/geometry/hellinger.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

constexpr Index panel_width = 256;

/// The rows of J S that one axis of the Gram matrix has here, a dense panel of columns at a time. Panels are asked for in ascending order:
/// a cursor a row makes the assembly O(entries) over all of them.
class CentredPanels {
 public:
  CentredPanels(const SquareRootDistributions& s, const std::vector<double>& mean, const BlockCyclic& axis) : s_(s), mean_(mean) {
    for (const BlockCyclic::Run& run : axis.blocks()) {
      for (Index i = run.global; i < run.global + run.count; ++i) {
        cursor_.push_back(s.row_begin[static_cast<std::size_t>(i)]);
        end_.push_back(s.row_end[static_cast<std::size_t>(i)]);
      }
    }
    panel_.resize(cursor_.size() * static_cast<std::size_t>(std::min(panel_width, s.column_count)));
  }

  /// Columns first .. first+width-1, column-major.
  std::span<const double> next(Index first, Index width) {
    const std::size_t rows = cursor_.size();
    for (Index k = 0; k < width; ++k) {
      std::fill_n(panel_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(k) * rows), rows,
                  -mean_[static_cast<std::size_t>(first + k)]);
    }
    for (std::size_t l = 0; l < rows; ++l) {
      Index& e = cursor_[l];
      for (; e < end_[l] && s_.column[static_cast<std::size_t>(e)] < first + width; ++e) {
        const Index k = s_.column[static_cast<std::size_t>(e)] - first;
        panel_[l + static_cast<std::size_t>(k) * rows] += s_.value[static_cast<std::size_t>(e)];
      }
    }
    return std::span(panel_).first(rows * static_cast<std::size_t>(width));
  }

 private:
  const SquareRootDistributions& s_;
  const std::vector<double>& mean_;
  std::vector<Index> cursor_;
  std::vector<Index> end_;
  std::vector<double> panel_;
};

}  // namespace

DistributedMatrix hellinger_gram(const ProcessGrid& grid, const SquareRootDistributions& s, Index block) {
  DistributedMatrix gram(grid, s.row_count(), s.row_count(), block);
  if (gram.local_rows() == 0 || gram.local_columns() == 0) return gram;
  const std::vector<double> mean = column_means(s);
  CentredPanels rows(s, mean, gram.row_axis());
  CentredPanels columns(s, mean, gram.column_axis());
  for (Index first = 0; first < s.column_count; first += panel_width) {
    const Index width = std::min(panel_width, s.column_count - first);
    rank_k_update(gram, rows.next(first, width), columns.next(first, width), width);
  }
  return gram;
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
