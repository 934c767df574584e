#include "geometry/gram_operator.hpp"

#include <algorithm>
#include <numeric>
#include <thread>

#include "posgeom/error.hpp"
#include "posgeom/linalg/operations.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/simd.hpp"

namespace posgeom {
namespace {

constexpr Index lanes = GramOperator::lanes;
constexpr Index register_width = 8;
constexpr Index vectors = lanes / register_width;
using Vector = double __attribute__((vector_size(register_width * sizeof(double)), aligned(sizeof(double)), may_alias));

/// The first row of each rank's run: runs of about equally many entries and rows.
std::vector<Index> shares(const SquareRootDistributions& s, int ranks) {
  const auto weight = [&s](Index i) { return s.row_end[static_cast<std::size_t>(i)] - s.row_begin[static_cast<std::size_t>(i)] + lanes; };
  Index total = 0;
  for (Index i = 0; i < s.row_count(); ++i) total += weight(i);
  std::vector<Index> begin{0};
  Index sum = 0;
  for (Index i = 0; i < s.row_count(); ++i) {
    while (std::ssize(begin) < ranks && sum * ranks >= total * std::ssize(begin)) begin.push_back(i);
    sum += weight(i);
  }
  begin.resize(static_cast<std::size_t>(ranks) + 1, s.row_count());
  return begin;
}

}  // namespace

/// z_c += t_pc x_p, a row at a time.
POSGEOM_SIMD static void add_transposed(const SplitRows& t, Index first, Index last, const double* x, double* z) {
  for (Index p = first; p < last; ++p) {
    Vector row[vectors];
#pragma GCC unroll 2
    for (Index v = 0; v < vectors; ++v) row[v] = *reinterpret_cast<const Vector*>(x + p * lanes + v * register_width);
    const Index end = t.end[static_cast<std::size_t>(p)];
    for (Index e = t.begin[static_cast<std::size_t>(p)]; e < end; ++e) {
      double* to = z + t.column[e] * lanes;
      const double value = t.value[e];
#pragma GCC unroll 2
      for (Index v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(to + v * register_width) += row[v] * value;
    }
  }
}

/// y_p += sum_c t_pc z_c.
POSGEOM_SIMD static void add_product(const SplitRows& t, Index first, Index last, const double* z, double* y) {
  for (Index p = first; p < last; ++p) {
    Vector sum[vectors];
#pragma GCC unroll 2
    for (Index v = 0; v < vectors; ++v) sum[v] = *reinterpret_cast<const Vector*>(y + p * lanes + v * register_width);
    const Index end = t.end[static_cast<std::size_t>(p)];
    for (Index e = t.begin[static_cast<std::size_t>(p)]; e < end; ++e) {
      const double* from = z + t.column[e] * lanes;
      const double value = t.value[e];
#pragma GCC unroll 2
      for (Index v = 0; v < vectors; ++v) sum[v] += *reinterpret_cast<const Vector*>(from + v * register_width) * value;
    }
#pragma GCC unroll 2
    for (Index v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(y + p * lanes + v * register_width) = sum[v];
  }
}

GramOperator::GramOperator(const Communicator& comm, const SquareRootDistributions& s, int threads)
    : comm_(&comm), rows_(s.row_count()), threads_(threads) {
  collective(comm, "preparing the Gram operator", [&] {
    const std::vector<Index> begin = shares(s, comm.size());
    first_ = begin[static_cast<std::size_t>(comm.rank())];
    std::vector<Index> own(static_cast<std::size_t>(begin[static_cast<std::size_t>(comm.rank()) + 1] - first_));
    std::iota(own.begin(), own.end(), first_);
    columns_ = centred_columns(s);
    x_ = split_rows(s, columns_, own);
    // Runs of about equally many entries.
    const Index entries = x_.entries();
    thread_begin_.assign(1, 0);
    Index sum = 0;
    for (Index p = 0; p < x_.stored(); ++p) {
      while (sum * threads_ > entries * std::ssize(thread_begin_)) thread_begin_.push_back(p);
      sum += x_.end[static_cast<std::size_t>(p)] - x_.begin[static_cast<std::size_t>(p)];
    }
    thread_begin_.resize(static_cast<std::size_t>(threads_) + 1, x_.stored());
  });
}

template <class Body>
void GramOperator::on_threads(Body body) const {
  const auto bound = [this](Index t) { return thread_begin_[static_cast<std::size_t>(t)]; };
  std::vector<std::jthread> others;
  for (Index t = 1; t < threads_; ++t) others.emplace_back([=, &body] { body(t, bound(t), bound(t + 1)); });
  body(Index{0}, bound(0), bound(1));
}

void GramOperator::centre(std::span<double> x, Index count) const {
  const Index n = local_rows();
  std::vector<double> means(static_cast<std::size_t>(count));
  for (Index j = 0; j < count; ++j) means[static_cast<std::size_t>(j)] = std::accumulate(x.begin() + j * n, x.begin() + (j + 1) * n, 0.0);
  all_reduce(*comm_, std::span(means));
  for (Index j = 0; j < count; ++j) {
    const double mean = means[static_cast<std::size_t>(j)] / static_cast<double>(rows_);
    for (Index i = 0; i < n; ++i) x[static_cast<std::size_t>(i + j * n)] -= mean;
  }
}

void GramOperator::apply(std::span<const double> x, Index count, std::span<double> y) {
  const Index n = local_rows();
  expects(std::ssize(x) == n * count && std::ssize(y) == n * count, "local rows x count");
  const Index stored = x_.stored();
  const Index column_extent = columns_.column_count() * lanes;
  const Index dense_extent = columns_.dense_count * lanes;
  for (Index first = 0; first < count; first += lanes) {
    const Index width = std::min(lanes, count - first);
    collective(*comm_, "applying the Gram operator", [&] {
      by_row_.assign(static_cast<std::size_t>(stored * lanes), 0.0);
      by_column_.assign(static_cast<std::size_t>(threads_ * column_extent), 0.0);
      for (Index j = 0; j < width; ++j) {
        const double* vector = x.data() + (first + j) * n;
        for (Index i = 0; i < n; ++i) by_row_[static_cast<std::size_t>(x_.place[static_cast<std::size_t>(i)] * lanes + j)] += vector[i];
      }
      multiply_local({.m = lanes, .n = columns_.dense_count, .k = stored, .transpose_b = true}, by_row_.data(), x_.dense.data(), 0.0,
                     by_column_.data());
      on_threads(
          [&](Index t, Index begin, Index end) { add_transposed(x_, begin, end, by_row_.data(), by_column_.data() + t * column_extent); });
      for (Index t = 1; t < threads_; ++t) {
        for (Index e = dense_extent; e < column_extent; ++e)
          by_column_[static_cast<std::size_t>(e)] += by_column_[static_cast<std::size_t>(e + t * column_extent)];
      }
    });
    all_reduce(*comm_, std::span(by_column_).first(static_cast<std::size_t>(column_extent)));
    multiply_local({.m = lanes, .n = stored, .k = columns_.dense_count}, by_column_.data(), x_.dense.data(), 0.0, by_row_.data());
    on_threads([&](Index, Index begin, Index end) { add_product(x_, begin, end, by_column_.data(), by_row_.data()); });
    for (Index j = 0; j < width; ++j) {
      double* vector = y.data() + (first + j) * n;
      for (Index i = 0; i < n; ++i) vector[i] = by_row_[static_cast<std::size_t>(x_.place[static_cast<std::size_t>(i)] * lanes + j)];
    }
  }
  centre(y, count);
}

}  // namespace posgeom
