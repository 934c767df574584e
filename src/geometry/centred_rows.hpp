#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "posgeom/geometry/hellinger.hpp"

namespace posgeom {

/// J S in a form that keeps both its sparsity and its digits: X = [D | T]. A column that more than a third of the rows hold is stored
/// centred, x - mean, for every row (D): nothing is lost in J D = D, and there is little sparsity to lose. The others stay as they are (T),
/// and J is applied to what is made of them: their variance is at least two thirds of their second moment, so that errors relative to T T'
/// are errors relative to J T T' J. The columns of X are numbered so: those of D, the others that many rows hold (is_frequent), the rare
/// ones; each kind as S has them. The entries of a row of S lie so too as a rule, and need no sorting.
struct CentredColumns {
  Index rows = 0;                    ///< m
  Index dense_count = 0;             ///< columns of D: numbers 0 .. dense_count-1
  Index frequent_count = 0;          ///< with those of D
  std::vector<std::int32_t> number;  ///< [column_count] of each column of S
  std::vector<Index> holders;        ///< [column_count] rows that hold each number
  std::vector<double> mean;          ///< [column_count] of each number
  Index column_count() const { return std::ssize(number); }
};

CentredColumns centred_columns(const SquareRootDistributions& s);

/// Some rows of X. Rows that share storage in S share it here.
struct CentredRows {
  std::vector<Index> place;          ///< [rows asked for] where each one is stored
  std::vector<double> dense;         ///< [stored][dense_count]
  std::vector<Index> begin;          ///< [stored + 1] of the row's entries of T
  std::vector<std::int32_t> column;  ///< their numbers, ascending within a row
  std::vector<double> value;
  std::vector<double> along_mean;  ///< [stored] T_i . mean row of T
  double mean_squared = 0;         ///< |mean row of T|^2
  Index stored() const { return std::ssize(begin) - 1; }
};

CentredRows centred_rows(const SquareRootDistributions& s, const CentredColumns& columns, std::span<const Index> rows);

}  // namespace posgeom
