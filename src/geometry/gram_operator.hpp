#pragma once
#include <span>
#include <vector>

#include "geometry/split_rows.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// B = X X' as an operator on blocks of vectors, X = J S by rows over the ranks: nothing m x m is formed. Vectors lie on the ranks as the
/// rows do, in consecutive runs of about equally many entries.
class GramOperator {
 public:
  static constexpr Index lanes = 16;  ///< vectors that one pass over the entries serves

  /// **Collective.** `threads`: of this rank; they share its rows.
  GramOperator(const Communicator& comm, const SquareRootDistributions& s, int threads);

  Index rows() const { return rows_; }
  Index first() const { return first_; }  ///< this rank's rows: first() .. first()+local_rows()-1
  Index local_rows() const { return std::ssize(x_.place); }
  const Communicator& communicator() const { return *comm_; }

  /// **Collective.** y = B x for `count` vectors whose elements sum to zero: local_rows() x count, column-major. y's sum to zero.
  void apply(std::span<const double> x, Index count, std::span<double> y);
  /// **Collective.** Subtracts each vector's mean.
  void centre(std::span<double> x, Index count) const;

 private:
  /// body(thread, first row, last row) of the stored rows, on all threads.
  template <class Body>
  void on_threads(Body body) const;

  const Communicator* comm_;
  Index rows_;
  Index first_ = 0;
  int threads_;
  SplitColumns columns_;
  SplitRows x_;
  std::vector<Index> thread_begin_;  ///< [threads + 1] the first stored row of each thread
  std::vector<double> by_row_;       ///< [stored][lanes]
  std::vector<double> by_column_;    ///< [threads][column_count][lanes]
};

}  // namespace posgeom
