#include "geometry/pair_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geometry/radix_sort.hpp"
#include "geometry/rank_boundaries.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/all_to_all.hpp"

namespace posgeom {
namespace {

Count doubled_rank(Count less, Count equal) { return 2 * less + equal + 1; }

}  // namespace

/// How the numbers are cut, and how many of this rank's lie in each bucket.
struct PairRanks::Buckets {
  std::vector<RankBoundary> boundaries;
  std::vector<Index> local;  ///< [boundaries + 1]

  /// The bucket of a key; boundaries.size() + 1 + b where it is equal to boundary b, which stands apart.
  std::size_t find(std::uint64_t key) const {
    const auto above = static_cast<std::size_t>(std::ranges::upper_bound(boundaries, key, {}, &RankBoundary::key) - boundaries.begin());
    if (above > 0 && boundaries[above - 1].equal > 0 && boundaries[above - 1].key == key) return boundaries.size() + above;
    return above;
  }
  bool is_apart(std::size_t found) const { return found > boundaries.size(); }
  const RankBoundary& apart(std::size_t found) const { return boundaries[found - boundaries.size() - 1]; }
  /// Numbers of all ranks below bucket b.
  Count below(std::size_t b) const { return b == 0 ? 0 : boundaries[b - 1].less + boundaries[b - 1].equal; }
};

PairRanks::PairRanks(const Communicator& comm, Index local, Index pieces, const RankOptions& options)
    : comm_(&comm), local_(local), pieces_(pieces), total_(all_reduce(comm, Count{local})) {
  expects(options.window_pairs >= 1, "a window of numbers");
  const Index at_a_time = options.window_pairs * comm.size();
  bucket_count_ = std::max<Index>(1, (total_ + at_a_time - 1) / at_a_time) * comm.size();
}

template <class Visit>
void PairRanks::for_each_key(const Source& source, Visit visit) const {
  Index index = 0;
  for (Index piece = 0; piece < pieces_; ++piece) {
    for (const double value : source(piece)) visit(index++, key_of(value + 0.0));  // -0 and 0 are one number
  }
  expects(index == local_, "the pieces hold the numbers that were announced");
}

PairRanks::Buckets PairRanks::buckets(const Source& source) const {
  Buckets cut;
  cut.boundaries = find_boundaries(*comm_, total_, bucket_count_,
                                   [&](auto visit) { for_each_key(source, [&](Index, std::uint64_t key) { visit(key); }); });
  cut.local.assign(cut.boundaries.size() + 1, 0);
  if (cut.boundaries.empty()) {
    cut.local.front() = local_;
    return cut;
  }
  collective(*comm_, "counting distances by bucket", [&] {
    for_each_key(source, [&](Index, std::uint64_t key) {
      const std::size_t found = cut.find(key);
      if (!cut.is_apart(found)) ++cut.local[found];
    });
  });
  return cut;
}

template <class Payload, class Group, class Replies>
void PairRanks::for_each_window(const Source& source, const Buckets& cut, Payload payload, Group group, Replies& replies) const {
  const auto ranks = static_cast<std::size_t>(comm_->size());
  const auto mine = static_cast<std::size_t>(comm_->rank());
  std::vector<Keyed> sent;
  std::vector<Keyed> sorted;
  std::vector<Keyed> scratch;
  for (std::size_t first = 0; first < cut.local.size(); first += ranks) {
    std::vector<Index> send_counts(ranks, 0);
    for (std::size_t r = 0; r < ranks && first + r < cut.local.size(); ++r) send_counts[r] = cut.local[first + r];
    const std::vector<Index> receive_counts = all_to_all_counts(*comm_, send_counts);
    collective(*comm_, "cutting distances into buckets", [&] {
      sent.resize(static_cast<std::size_t>(std::accumulate(send_counts.begin(), send_counts.end(), Index{0})));
      sorted.resize(static_cast<std::size_t>(std::accumulate(receive_counts.begin(), receive_counts.end(), Index{0})));
      std::vector<std::size_t> place(ranks);
      std::exclusive_scan(send_counts.begin(), send_counts.end(), place.begin(), std::size_t{0});
      for_each_key(source, [&](Index index, std::uint64_t key) {
        const std::size_t found = cut.find(key);
        if (found >= first && found < first + ranks && !cut.is_apart(found)) sent[place[found - first]++] = {key, payload(index)};
      });
    });
    if (ranks == 1) {
      sorted.swap(sent);
    } else {
      all_to_all(*comm_, std::span<const Keyed>(sent), send_counts, std::span(sorted), receive_counts);
    }
    collective(*comm_, "sorting distances", [&] {
      scratch.resize(sorted.size());
      replies.receive(sorted);
      sort_by_key(sorted, scratch);
      const Count below = first + mine < cut.local.size() ? cut.below(first + mine) : 0;
      for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
        while (end < sorted.size() && sorted[end].key == sorted[begin].key) ++end;
        const auto equal = static_cast<Count>(end - begin);
        group(std::span<const Keyed>(sorted).subspan(begin, end - begin), doubled_rank(below + static_cast<Count>(begin), equal));
      }
    });
    replies.send_back(first, send_counts, receive_counts);
  }
}

PairRanks::Sums PairRanks::rank(const Source& source, std::span<Count> doubled_ranks) const {
  expects(std::ssize(doubled_ranks) == local_, "a rank for each number");
  const Buckets cut = buckets(source);
  WideCount squares = 0;
  struct Replies {
    const PairRanks* self;
    const Source* source;
    const Buckets* cut;
    std::span<Count> doubled_ranks;
    std::vector<Count> received;  ///< ranks of what this rank was sent, in that order

    void receive(std::vector<Keyed>& keyed) {
      received.resize(keyed.size());
      for (std::size_t k = 0; k < keyed.size(); ++k) keyed[k].payload = k;
    }
    void send_back(std::size_t first, const std::vector<Index>& send_counts, const std::vector<Index>& receive_counts) {
      const Communicator& comm = *self->comm_;
      std::vector<Count> back = collective(comm, "preparing the ranks of distances", [&] {
        return std::vector<Count>(static_cast<std::size_t>(std::accumulate(send_counts.begin(), send_counts.end(), Index{0})));
      });
      if (comm.size() == 1) {
        back.swap(received);
      } else {
        all_to_all(comm, std::span<const Count>(received), receive_counts, std::span(back), send_counts);
      }
      std::vector<std::size_t> place(send_counts.size());
      std::exclusive_scan(send_counts.begin(), send_counts.end(), place.begin(), std::size_t{0});
      collective(comm, "ranking distances", [&] {
        self->for_each_key(*source, [&](Index index, std::uint64_t key) {
          const std::size_t found = cut->find(key);
          if (found >= first && found < first + place.size() && !cut->is_apart(found)) {
            doubled_ranks[static_cast<std::size_t>(index)] = back[place[found - first]++];
          }
        });
      });
    }
  };
  Replies replies{this, &source, &cut, doubled_ranks, {}};
  const auto group = [&](std::span<const Keyed> equal, Count rank) {
    for (const Keyed& keyed : equal) replies.received[keyed.payload] = rank;
    squares += WideCount{static_cast<Count>(equal.size())} * rank * rank;
  };
  for_each_window(
      source, cut, [](Index) { return std::uint64_t{0}; }, group, replies);
  collective(*comm_, "ranking equal distances", [&] {
    if (cut.boundaries.empty()) return;
    for_each_key(source, [&](Index index, std::uint64_t key) {
      const std::size_t found = cut.find(key);
      if (!cut.is_apart(found)) return;
      const Count rank = doubled_rank(cut.apart(found).less, cut.apart(found).equal);
      doubled_ranks[static_cast<std::size_t>(index)] = rank;
      squares += WideCount{rank} * rank;
    });
  });
  return {centred(sum_over_ranks(squares)), 0};
}

PairRanks::Sums PairRanks::correlate(const Source& source, std::span<const Count> doubled_ranks) const {
  expects(std::ssize(doubled_ranks) == local_, "a rank for each number");
  const Buckets cut = buckets(source);
  WideCount squares = 0;
  WideCount products = 0;
  struct Nothing {
    void receive(std::vector<Keyed>&) const {}
    void send_back(std::size_t, const std::vector<Index>&, const std::vector<Index>&) const {}
  };
  const auto group = [&](std::span<const Keyed> equal, Count rank) {
    WideCount others = 0;
    for (const Keyed& keyed : equal) others += keyed.payload;
    products += others * rank;
    squares += WideCount{static_cast<Count>(equal.size())} * rank * rank;
  };
  const auto payload = [&](Index index) { return static_cast<std::uint64_t>(doubled_ranks[static_cast<std::size_t>(index)]); };
  Nothing nothing;
  for_each_window(source, cut, payload, group, nothing);
  collective(*comm_, "ranking equal distances", [&] {
    if (cut.boundaries.empty()) return;
    for_each_key(source, [&](Index index, std::uint64_t key) {
      const std::size_t found = cut.find(key);
      if (!cut.is_apart(found)) return;
      const Count rank = doubled_rank(cut.apart(found).less, cut.apart(found).equal);
      products += WideCount{rank} * doubled_ranks[static_cast<std::size_t>(index)];
      squares += WideCount{rank} * rank;
    });
  });
  return {centred(sum_over_ranks(squares)), centred(sum_over_ranks(products))};
}

double PairRanks::centred(WideCount products) const {
  const WideCount mean = WideCount{total_} + 1;  // of doubled ranks
  return static_cast<double>(products - mean * mean * total_);
}

WideCount PairRanks::sum_over_ranks(WideCount value) const {
  WideCount total = 0;
  for (const WideCount part : all_gather(*comm_, std::span<const WideCount>(&value, 1))) total += part;
  return total;
}

double rank_correlation(const PairRanks::Sums& sums, double other_variation) {
  if (!(sums.variation > 0) || !(other_variation > 0)) return std::numeric_limits<double>::quiet_NaN();
  return std::clamp(sums.covariation / std::sqrt(sums.variation * other_variation), -1.0, 1.0);
}

}  // namespace posgeom
