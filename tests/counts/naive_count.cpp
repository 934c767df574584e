#include "counts/counting_support.hpp"

namespace posgeom::testing_support {
namespace {

struct Item {
  Token token;
  int half;
};
using Sequence = std::vector<Item>;

/// Sequences of `length`, and what identifies each for its permutation.
struct Named {
  Sequence items;
  std::uint64_t first, second;
};

std::vector<Named> sequences_of(const Documents& documents, const CountOptions& options, Index length, const std::vector<int>& halves) {
  std::vector<Named> all;
  const auto n = static_cast<std::size_t>(length);
  if (options.sequences == Sequences::packed) {
    Sequence stream;
    for (std::size_t d = 0; d < documents.size(); ++d) {
      for (const Token token : documents[d]) stream.push_back({token, halves[d]});
    }
    for (std::size_t begin = 0; begin < stream.size(); begin += n) {
      const std::size_t end = std::min(stream.size(), begin + n);
      if (options.drop_last_block && end - begin < n) break;
      all.push_back({Sequence(stream.begin() + static_cast<Index>(begin), stream.begin() + static_cast<Index>(end)), begin / n, 0});
    }
    return all;
  }
  for (std::size_t d = 0; d < documents.size(); ++d) {
    for (std::size_t k = 0; k < documents[d].size(); ++k) {
      if (k >= n && options.sequences == Sequences::document) break;
      if (k % n == 0) all.push_back({{}, d, k / n});
      all.back().items.push_back({documents[d][k], halves[d]});
    }
  }
  return all;
}

void shuffle(Named& sequence, Index length, std::uint64_t seed) {
  std::uint64_t drawn = 0;
  const auto next = [&] {
    // Purpose 2 is the shuffle; each of the four words is two draws, the lower half first.
    const r123::Philox4x64::ctr_type counter{{sequence.first, sequence.second, drawn / 8, 2}};
    const r123::Philox4x64::key_type key{{seed, static_cast<std::uint64_t>(length)}};
    const std::uint64_t word = r123::Philox4x64()(counter, key)[drawn % 8 / 2];
    return drawn++ % 2 == 0 ? word & 0xFFFFFFFFU : word >> 32U;
  };
  for (std::uint64_t left = sequence.items.size(); left > 1; --left) {
    std::uint64_t product = next() * left;
    while ((product & 0xFFFFFFFFU) < (std::uint64_t{1} << 32U) % left) product = next() * left;
    std::swap(sequence.items[left - 1], sequence.items[product >> 32U]);
  }
}

Dense table_of(const Documents& documents, const CountOptions& options, Index length, bool shuffled, Index vocab_size,
               const std::vector<int>& halves) {
  Dense table{length, shuffled, std::vector<Count>(static_cast<std::size_t>(length * vocab_size)), {}};
  if (options.noise.split) table.half_a = table.all;
  for (Named& sequence : sequences_of(documents, options, length, halves)) {
    if (shuffled) shuffle(sequence, length, options.noise.seed);
    for (std::size_t i = 0; i < sequence.items.size(); ++i) {
      const std::size_t cell = i * static_cast<std::size_t>(vocab_size) + static_cast<std::size_t>(sequence.items[i].token);
      ++table.all[cell];
      if (options.noise.split && sequence.items[i].half == 0) ++table.half_a[cell];
    }
  }
  return table;
}

}  // namespace

std::vector<int> naive_halves(Index documents, const NoiseOptions& noise) {
  std::vector<int> halves;
  for (Index d = 0; d < documents; ++d) {
    const auto key = static_cast<std::uint64_t>(noise.split_by == SplitBy::block ? d / noise.block : d);
    halves.push_back(static_cast<int>(r123::Philox4x64()({{key, 0, 0, 1}}, {{noise.seed, 0}})[0] & 1U));
  }
  return halves;
}

WholeCounts naive_count(const Documents& documents, const CountOptions& options, Index vocab_size, const std::vector<int>& halves) {
  WholeCounts whole;
  for (const auto& document : documents) {
    const Index size = std::ssize(document);
    ++whole.documents;
    whole.empty += size == 0 ? 1 : 0;
    whole.tokens += size;
    whole.longest = std::max(whole.longest, size);
  }
  const auto add = [&](Index length, bool shuffled) {
    whole.tables.push_back(table_of(documents, options, length, shuffled, vocab_size, halves));
  };
  if (options.sequences == Sequences::document) {
    add(options.lengths.back(), false);
  } else {
    for (const Index length : options.lengths) add(length, false);
  }
  for (const Index length : options.lengths) {
    if (options.noise.shuffle) add(length, true);
  }
  return whole;
}

}  // namespace posgeom::testing_support
