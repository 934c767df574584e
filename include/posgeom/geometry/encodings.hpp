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

/// Whether the encoding of this name is made from H itself, so that every corpus has its own, and noise of H is fitted too.
inline bool is_made_from_h(std::string_view name) { return name == "mds" || name == "smacof"; }

/// An encoding whose leading d columns are its encoding at d (mds, random, a file).
struct Coordinates {
  Index rows = 0;                ///< m: the kept positions
  Index columns = 0;             ///< columns that exist; beyond: undefined (NaN) unless zero_beyond
  Index stored = 0;              ///< columns in `values`; columns stored .. columns-1 are zero
  bool zero_beyond = false;      ///< mds that holds its whole rank: further columns are zero
  bool flag_not_unique = false;  ///< mds: /not_unique applies
  bool whole = false;            ///< all columns at every d: an encoding of a model's own width
  std::vector<double> values;    ///< rows x stored, column-major
};

/// An encoding whose distance depends on the lag |i-j| alone, for each d anew (sinusoidal, rope, alibi, linear,
/// t5, kerple, fire).
struct LagKernel {
  /// D at lags 0 .. lags-1, for dimension d; all NaN where the encoding is undefined at d.
  std::function<std::vector<double>(Index lags, Index d)> distances;
  bool same_at_every_d = false;
  /// p_i at dimension d, row-major positions.size() x d (alibi: x heads, linear: x 1, whatever d), for --write-encodings; empty where
  /// undefined at d, and where the encoding is a bias by distance without vectors (t5, kerple, fire).
  std::function<std::vector<double>(std::span<const std::int32_t> positions, Index d)> coordinates;
};

struct NamedEncoding {
  std::string name;
  std::variant<Coordinates, LagKernel> form;
};

enum class RandomKind { normal, uniform, bert };
std::string_view name_of(RandomKind kind);
RandomKind random_kind_named(std::string_view name);

/// How the rotary frequencies w_k are changed for contexts `factor` times longer than those of training.
struct RopeScaling {
  enum class Kind { none, linear, ntk, yarn };
  Kind kind = Kind::none;
  double factor = 1;          ///< F >= 1
  Index original_length = 0;  ///< of the training; yarn only
};
/// "none", "linear:4", ...
std::string name_of(const RopeScaling& scaling);

struct EncodingOptions {
  double rope_base = 10000;
  Index rope_head_dim = 64;
  RopeScaling rope_scaling{};
  Index alibi_heads = 12;
  RandomKind random_kind = RandomKind::normal;
  std::uint64_t seed = 1;
};

/// p[2k] = sin(i w_k), p[2k+1] = cos(i w_k), w_k = 10000^(-2k/d) (Vaswani et al. 2017). NaN at odd d.
LagKernel sinusoidal_encoding();
/// The rotary schedule's cos/sin pairs (Su et al. 2021), d_h pairs' worth tiled d/d_h times; d < d_h: d_h = d; otherwise d must be a
/// multiple of d_h, and even, else NaN.
LagKernel rope_encoding(double base, Index head_dim, const RopeScaling& scaling = {});
/// w_0 .. w_{head/2-1} of a head, w_k = base^(-2k/head), scaled. linear (position interpolation, Chen et al. 2023): w_k / F. ntk
/// (NTK-aware, bloc97 2023; Peng et al. 2023): the base becomes base F^(head/(head-2)), which leaves w_0 and divides the last w by F. yarn
/// (Peng et al. 2023, as the authors' code and its descendants compute it): w_k (1 - ramp_k) + w_k / F ramp_k, where ramp rises linearly in
/// k from 0 at the floor of c(32) to 1 at the ceiling of c(1), both within 0 .. head-1, c(beta) = head ln(L / (2 pi beta)) / (2 ln base)
/// being the k whose wave turns beta times within the original length L; its scale of the attention is no part of the geometry. Needs base
/// > 1.
std::vector<double> rope_frequencies(double base, Index head, const RopeScaling& scaling);
/// p_i = (i/n)(m_1..m_h), m_k = 2^(-8k/h) (Press et al. 2022); n = `length`; the same at every d.
LagKernel alibi_encoding(Index heads, Index length);
/// p_i = i/n; the same at every d.
LagKernel linear_encoding(Index length);
/// The encodings below add a learned or parametrised bias to the attention, by the lag alone; they have no vectors, and which distance
/// their bias stands for is a choice made here. All are the same at every d.
///
/// T5 (Raffel et al. 2020): one learned number for each bucket of lags. Bidirectional with 32 buckets, maximal distance 128: half of them
/// for each sign, of which lags below 8 have one each, and bucket 8 + floor(8 log(lag / 8) / log(128 / 8)), at most 15, the others. What is
/// learned is not known, so the distance is the bucket's place: D = bucket / 15.
LagKernel t5_encoding();
/// KERPLE (Chi et al. 2022), whose biases are conditionally positive definite kernels k with k(0) = 0, so that D^2 = -2 k(lag) is the
/// squared distance of their feature vectors (Schoenberg 1938). Logarithmic: k = -r1 log(1 + r2 lag); power: k = -r1 lag^r2. r1 = r2 = 1:
/// D = sqrt(2 log(1 + lag)) and sqrt(2 lag).
LagKernel kerple_log_encoding(double r1 = 1, double r2 = 1);
/// r1 > 0, 0 < r2 <= 2.
LagKernel kerple_power_encoding(double r1 = 1, double r2 = 1);
/// FIRE (Li et al. 2024): bias f(psi(lag) / psi(max(L, i))), psi(x) = log(1 + c x), f a small network, L a learned threshold. With L = n,
/// the length, the query's i does not count; the distance is what the network sees: D = psi(lag) / psi(n), with the authors' first c = 0.1.
LagKernel fire_encoding(Index length, double c = 0.1);
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
