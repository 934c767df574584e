#include "geometry/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/krylov_basis.hpp"
#include "geometry/krylov_foresight.hpp"
#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// B Q = Q H + W E with the basis Q, the next block W, and E block x count.
class Lanczos {
 public:
  Lanczos(GramOperator& b, const KrylovOptions& options)
      : b_(b),
        options_(options),
        whole_(b.rows() - 1),
        basis_(collective(b.communicator(), "making a Krylov basis", [&] { return KrylovBasis(b, std::min(options.basis, whole_)); })) {
    begin_anew();
  }

  Index steps() const { return steps_; }
  bool complete() const { return basis_.count() == whole_; }
  bool full() const { return basis_.count() + next_.count > std::min(options_.basis, whole_); }
  Index count() const { return basis_.count(); }

  /// **Collective.** Takes the next block into the basis.
  void extend() {
    const Index before = basis_.count();
    const Index width = next_.count;
    VectorBlock image{width, std::vector<double>(next_.values.size())};
    b_.apply(next_.values, width, image.values);
    ++steps_;
    basis_.append(next_);
    const Index now = basis_.count();
    std::vector<double> h(static_cast<std::size_t>(now * now));
    for (Index j = 0; j < before; ++j) std::copy_n(h_.begin() + j * before, before, h.begin() + j * now);
    const std::vector<double> inner = basis_.project(image);
    basis_.subtract(image, inner);
    for (Index j = 0; j < width; ++j) {
      for (Index i = 0; i < now; ++i) {
        const double value =
            i < before
                ? inner[static_cast<std::size_t>(i + j * now)]
                : (inner[static_cast<std::size_t>(i + j * now)] + inner[static_cast<std::size_t>(before + j + (i - before) * now)]) / 2;
        h[static_cast<std::size_t>(i + (before + j) * now)] = h[static_cast<std::size_t>(before + j + i * now)] = value;
      }
    }
    h_ = std::move(h);
    const Index wanted = std::min(options_.block, whole_ - now);
    if (wanted == 0) {
      next_ = {};
      coupling_.clear();
      return;
    }
    // A block that the end of a restart made narrow grows again.
    if (width < wanted) {
      const VectorBlock more = basis_.random_block(wanted - width);
      image.values.insert(image.values.end(), more.values.begin(), more.values.end());
      image.count = wanted;
    }
    Orthonormal block = basis_.orthonormalise(std::move(image), wanted, scale());
    coupling_.assign(static_cast<std::size_t>(wanted * now), 0.0);
    for (Index j = 0; j < width; ++j) std::copy_n(block.r.begin() + j * wanted, wanted, coupling_.begin() + (before + j) * wanted);
    next_ = std::move(block.w);
  }

  /// **Collective.** Ritz values, descending, and their residuals by the recurrence.
  void solve() {
    const Index n = basis_.count();
    ritz_ = collective(b_.communicator(), "solving the projected eigenproblem", [&] {
      return b_.communicator().is_root()
                 ? dense_eigh(h_, n)
                 : DenseEigenpairs{std::vector<double>(static_cast<std::size_t>(n)), std::vector<double>(static_cast<std::size_t>(n * n))};
    });
    broadcast(b_.communicator(), std::span(ritz_.values));
    broadcast(b_.communicator(), std::span(ritz_.vectors));
    residuals_.assign(static_cast<std::size_t>(n), 0.0);
    ritz_coupling_.resize(static_cast<std::size_t>(next_.count * n));
    multiply_local({.m = next_.count, .n = n, .k = n}, coupling_.data(), ritz_.vectors.data(), 0.0, ritz_coupling_.data());
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index i = 0; i < next_.count; ++i) sum += std::pow(ritz_coupling_[static_cast<std::size_t>(i + j * next_.count)], 2);
      residuals_[static_cast<std::size_t>(j)] = std::sqrt(sum);
    }
  }
  const std::vector<double>& values() const { return ritz_.values; }
  /// The largest residual of the wanted, relative to lambda_1.
  double worst(Index wanted) const {
    const double largest = *std::max_element(residuals_.begin(), residuals_.begin() + wanted);
    return largest > options_.floor ? largest / std::max(values().front(), options_.floor) : 0.0;
  }

  /// Keeps the `kept` leading Ritz vectors.
  void restart(Index kept) {
    basis_.restart(ritz_.vectors, kept);
    coupling_.assign(ritz_coupling_.begin(), ritz_coupling_.begin() + next_.count * kept);
    h_.assign(static_cast<std::size_t>(kept * kept), 0.0);
    for (Index j = 0; j < kept; ++j) h_[static_cast<std::size_t>(j + j * kept)] = ritz_.values[static_cast<std::size_t>(j)];
    const Index room = std::min(options_.basis, whole_) - kept;
    expects(room >= std::min(options_.block, whole_ - kept), "a basis with room for a block after a restart");
  }

  /// **Collective.** Goes on from random vectors, orthogonal to the basis: what the start had nothing of shows.
  void begin_anew() {
    const Index wanted = std::min(options_.block, whole_ - basis_.count());
    next_ = basis_.orthonormalise(basis_.random_block(wanted), wanted, 0).w;
    coupling_.assign(static_cast<std::size_t>(wanted * basis_.count()), 0.0);
  }

  std::vector<double> leading_vectors(Index wanted) const { return basis_.combine(ritz_.vectors, wanted); }

 private:
  double scale() const {
    double largest = 0;
    for (Index j = 0; j < basis_.count(); ++j) largest = std::max(largest, std::abs(h_[static_cast<std::size_t>(j + j * basis_.count())]));
    return largest;
  }

  GramOperator& b_;
  KrylovOptions options_;
  Index whole_;  ///< the order of B on what is orthogonal to the vector of ones
  KrylovBasis basis_;
  VectorBlock next_;
  std::vector<double> h_;
  std::vector<double> coupling_;       ///< E, next_.count x basis
  std::vector<double> ritz_coupling_;  ///< E times the Ritz vectors
  DenseEigenpairs ritz_;
  std::vector<double> residuals_;
  Index steps_ = 0;
};

/// All rows of the wanted vectors, and their quality, from B itself.
KrylovPairs finished(GramOperator& b, const Lanczos& lanczos, Index wanted) {
  const Index n = b.local_rows();
  KrylovPairs pairs;
  pairs.values.assign(lanczos.values().begin(), lanczos.values().begin() + wanted);
  const std::vector<double> z = lanczos.leading_vectors(wanted);
  std::vector<double> squares(static_cast<std::size_t>(wanted), 0.0);
  for (Index first = 0; first < wanted; first += 2 * GramOperator::lanes) {
    const Index count = std::min(2 * GramOperator::lanes, wanted - first);
    std::vector<double> image(static_cast<std::size_t>(count * n));
    b.apply(std::span(z).subspan(static_cast<std::size_t>(first * n), image.size()), count, image);
    for (Index j = 0; j < count; ++j) {
      double sum = 0;
      for (Index i = 0; i < n; ++i) {
        const double r = image[static_cast<std::size_t>(i + j * n)] -
                         pairs.values[static_cast<std::size_t>(first + j)] * z[static_cast<std::size_t>(i + (first + j) * n)];
        sum += r * r;
      }
      squares[static_cast<std::size_t>(first + j)] = sum;
    }
  }
  all_reduce(b.communicator(), std::span(squares));
  broadcast(b.communicator(), std::span(squares));
  for (const double square : squares) pairs.residuals.push_back(std::sqrt(square));
  const std::vector<double> inner = products_over_ranks(b, z, wanted, z, wanted);
  double departure = 0;
  for (Index j = 0; j < wanted; ++j) {
    for (Index i = 0; i < wanted; ++i) departure += std::pow(inner[static_cast<std::size_t>(i + j * wanted)] - (i == j ? 1.0 : 0.0), 2);
  }
  pairs.orthogonality = std::sqrt(departure);
  // Rows lie on the ranks in order: each rank's part is wanted x n after a transposition.
  std::vector<double> by_row(z.size());
  for (Index j = 0; j < wanted; ++j) {
    for (Index i = 0; i < n; ++i) by_row[static_cast<std::size_t>(j + i * wanted)] = z[static_cast<std::size_t>(i + j * n)];
  }
  const std::vector<double> all = all_gather(b.communicator(), std::span<const double>(by_row));
  const Index m = b.rows();
  pairs.vectors.resize(all.size());
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < wanted; ++j) pairs.vectors[static_cast<std::size_t>(i + j * m)] = all[static_cast<std::size_t>(j + i * wanted)];
  }
  return pairs;
}

/// The wanted pairs that there are on what is orthogonal to the vector of ones, of which B makes zero: where all m are wanted, it is the
/// last one.
void add_constant_vector(KrylovPairs& pairs, Index m) {
  // Before what rounding made negative.
  const auto at = std::ranges::partition_point(pairs.values, [](double value) { return value >= 0; }) - pairs.values.begin();
  pairs.values.insert(pairs.values.begin() + at, 0.0);
  pairs.residuals.insert(pairs.residuals.begin() + at, 0.0);
  pairs.vectors.insert(pairs.vectors.begin() + at * m, static_cast<std::size_t>(m), 1 / std::sqrt(static_cast<double>(m)));
}

}  // namespace

KrylovOptions krylov_sizes(KrylovOptions options, Index m) {
  const Index wanted = std::min(options.count, std::max<Index>(1, m - 1));
  if (options.block == 0) options.block = GramOperator::lanes;
  if (options.basis == 0) options.basis = 2 * wanted + 12 * options.block;
  options.block = std::min(options.block, std::max<Index>(1, m - 1));
  options.basis = std::min(std::max(options.basis, wanted + 2 * options.block), std::max<Index>(1, m - 1));
  return options;
}

KrylovPairs krylov_eigenpairs(const Communicator& comm, const SquareRootDistributions& s, const KrylovOptions& asked) {
  const Index m = s.row_count();
  expects(asked.count >= 1 && asked.count <= m, "1 .. m eigenpairs");
  const KrylovOptions options = krylov_sizes(asked, m);
  const Index wanted = std::min(options.count, m - 1);
  if (wanted == 0) {
    KrylovPairs none;
    none.converged = true;
    add_constant_vector(none, m);
    return none;
  }
  GramOperator b(comm, s, options.threads);
  Lanczos lanczos(b, options);
  Foresight foresight;
  FlatBulk bulk;
  bool verified = options.block >= wanted;
  bool converged = false;
  Index foretold = 0;
  Index verify_until = 0;
  while (true) {
    lanczos.extend();
    const bool stop = lanczos.complete() || lanczos.full() || (options.most_steps > 0 && lanczos.steps() >= options.most_steps);
    if (lanczos.count() < wanted || (!stop && lanczos.count() < wanted + options.block)) continue;
    lanczos.solve();
    const double worst = lanczos.worst(wanted);
    if (lanczos.complete()) {
      converged = true;
      break;
    }
    const bool good = worst <= options.tolerance;
    if (good && lanczos.steps() >= verify_until && verified) {
      converged = true;
      break;
    }
    if (good && !verified) {
      // More pairs than a block has vectors: eigenvalues of a higher multiplicity may hide from it.
      lanczos.restart(wanted);
      lanczos.begin_anew();
      verified = true;
      verify_until = lanczos.steps() + 3;
      continue;
    }
    if (options.most_steps > 0 && lanczos.steps() >= options.most_steps) break;
    if (const Index flat = bulk.foretold(lanczos.steps(), wanted, worst); options.most_steps > 0 && flat > options.most_steps) {
      foretold = flat;
      break;
    }
    if (!lanczos.full()) continue;
    foretold = foresight.add(lanczos.steps(), worst, options.tolerance);
    // The first residuals fall more slowly than the later ones: too many steps must be foretold by far, or for long.
    const bool late = 2 * lanczos.steps() > options.most_steps;
    if (options.most_steps > 0 && foretold > (late ? 1 : 3) * options.most_steps) break;
    const Index room = std::min(options.basis, m - 1);
    lanczos.restart(std::min(wanted + (room - wanted) / 3, room - options.block));
  }
  const double worst = lanczos.worst(wanted);
  KrylovPairs pairs = finished(b, lanczos, wanted);
  if (wanted < options.count) add_constant_vector(pairs, m);
  pairs.converged = converged || (verified && worst <= options.acceptable);
  pairs.steps = lanczos.steps();
  pairs.foretold_steps = foretold;
  pairs.worst = worst;
  return pairs;
}

}  // namespace posgeom
