#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "posgeom/geometry/mds.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// An encoding whose leading d columns are its encoding at d (mds, random, a file).
struct Coordinates {
  Index rows = 0;                ///< m: the kept positions
  Index columns = 0;             ///< columns that exist; beyond: undefined (NaN) unless zero_beyond
  Index stored = 0;              ///< columns in `values`; columns stored .. columns-1 are zero
  bool zero_beyond = false;      ///< mds that holds its whole rank: further columns are zero
  bool flag_not_unique = false;  ///< mds: /not_unique applies
  std::vector<double> values;    ///< rows x stored, column-major
};

/// An encoding whose distance depends on the lag |i-j| alone, for each d anew (sinusoidal, rope, alibi, linear).
struct LagKernel {
  /// D at lags 0 .. lags-1, for dimension d; all NaN where the encoding is undefined at d.
  std::function<std::vector<double>(Index lags, Index d)> distances;
  bool same_at_every_d = false;
  /// p_i at dimension d, row-major positions.size() x d (alibi: x heads, linear: x 1, whatever d), for --write-encodings; empty where
  /// undefined at d.
  std::function<std::vector<double>(std::span<const std::int32_t> positions, Index d)> coordinates;
};

struct NamedEncoding {
  std::string name;
  std::variant<Coordinates, LagKernel> form;
};

enum class RandomKind { normal, uniform, bert };
std::string_view name_of(RandomKind kind);
RandomKind random_kind_named(std::string_view name);

struct EncodingOptions {
  double rope_base = 10000;
  Index rope_head_dim = 64;
  Index alibi_heads = 12;
  RandomKind random_kind = RandomKind::normal;
  std::uint64_t seed = 1;
};

/// p[2k] = sin(i w_k), p[2k+1] = cos(i w_k), w_k = 10000^(-2k/d) (Vaswani et al. 2017). NaN at odd d.
LagKernel sinusoidal_encoding();
/// The rotary schedule's cos/sin pairs (Su et al. 2021), d_h pairs' worth tiled d/d_h times; d < d_h: d_h = d; otherwise d must be a
/// multiple of d_h, and even, else NaN.
LagKernel rope_encoding(double base, Index head_dim);
/// p_i = (i/n)(m_1..m_h), m_k = 2^(-8k/h) (Press et al. 2022); n = `length`; the same at every d.
LagKernel alibi_encoding(Index heads, Index length);
/// p_i = i/n; the same at every d.
LagKernel linear_encoding(Index length);
/// Entry (i, k) from Philox 4x32-10 (Salmon et al. 2011): key (seed mod 2^32, seed / 2^32), counter (i, k, 0, 0), so that it depends on
/// seed, i and k alone. The four output words give two numbers in (0, 1), u = (52 bits + 1/2) 2^-52, the bits being the upper 26 of words 0
/// and 1, and of words 2 and 3, the first word's before the second's. uniform: 2 u_1 - 1 in (-1, 1); normal: N(0,1), sqrt(-2 ln u_1) cos(2
/// pi u_2) (Box and Muller 1958); bert: 0.02 times that. Rows are the true positions.
Coordinates random_encoding(RandomKind kind, std::uint64_t seed, std::span<const std::int32_t> positions, Index columns);
/// The stored MDS solution; zero beyond its rank where the rank is within the components.
Coordinates mds_encoding(const Encoding& encoding, Index rank);
/// A file's matrix (file_rows x file_columns, row-major), rows taken at the true positions. Throws Error with `name` where there are too
/// few rows or where a number that is needed is not finite.
Coordinates file_encoding(const std::string& name, std::span<const double> matrix, Index file_rows, Index file_columns,
                          std::span<const std::int32_t> positions);

}  // namespace posgeom
