#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "posgeom/geometry/hellinger.hpp"

namespace posgeom {

/// How the columns of S are dealt with: X = [D | T], D dense and T sparse. They are numbered so: those of D, the others that many rows hold
/// (is_frequent), the rare ones; each kind as S has them. square_root_distributions numbers them so itself.
struct SplitColumns {
  Index rows = 0;                    ///< those that `holders` counts
  Index dense_count = 0;             ///< columns of D: numbers 0 .. dense_count-1
  Index frequent_count = 0;          ///< with those of D
  std::vector<std::int32_t> number;  ///< [column_count] of each column of S
  std::vector<Index> holders;        ///< [column_count] rows that hold each number
  std::vector<double> mean;          ///< [column_count] of each number; empty: X is not centred
  Index column_count() const { return std::ssize(number); }
};

/// J S in a form that keeps both its sparsity and its digits. A column that more than half of the rows hold is stored centred, x - mean,
/// for every row (D): nothing is lost in J D = D, and there is little sparsity to lose. The others stay as they are (T), and J is applied
/// to what is made of them: their variance is at least half of their second moment, so that errors relative to T T' are errors
/// relative to J T T' J.
SplitColumns centred_columns(const SquareRootDistributions& s);

/// S itself, all of it sparse; rows that share storage count once.
SplitColumns sparse_columns(const SquareRootDistributions& s);

/// Some rows of X. Rows that share storage in S share it here.
struct SplitRows {
  SplitRows() = default;
  SplitRows(SplitRows&&) = default;
  SplitRows& operator=(SplitRows&&) = default;
  SplitRows(const SplitRows&) = delete;
  SplitRows& operator=(const SplitRows&) = delete;
  ~SplitRows() = default;

  std::vector<Index> place;              ///< [rows asked for] where each one is stored
  std::vector<double> dense;             ///< [stored][dense_count]
  std::vector<Index> begin;              ///< [stored] where the row's entries of T are,
  std::vector<Index> end;                ///< [stored] up to here: both ascending but for rows that share storage
  const std::int32_t* column = nullptr;  ///< their numbers, ascending within a row: those of S, where it numbers its columns so,
  const double* value = nullptr;         ///< and its values,
  std::vector<std::int32_t> own_column;  ///< or a copy
  std::vector<double> own_value;
  std::vector<double> along_mean;  ///< [stored] T_i . mean row of T; zeros where X is not centred
  double mean_squared = 0;         ///< |mean row of T|^2
  Index stored() const { return std::ssize(begin); }
  Index entries() const;  ///< of T, in all stored rows
};

/// All of S's.
std::vector<Index> all_rows(const SquareRootDistributions& s);

/// `s` must outlive what is returned.
SplitRows split_rows(const SquareRootDistributions& s, const SplitColumns& columns, std::span<const Index> rows);

}  // namespace posgeom
