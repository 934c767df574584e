#pragma once
#include <chrono>
#include <string>

#include "counts/count_tables.hpp"
#include "counts/sequencer.hpp"

namespace posgeom {

/// One run of count_corpus(): a rank's reader and tables, and the rounds in which the ranks go on together.
class Counting {
 public:
  Counting(const Communicator& comm, const Corpus& corpus, const CountOptions& options, const CountHooks& hooks,
           const CountCheckpoint* resume);
  /// **Collective.**
  CorpusCounts run();

 private:
  using Clock = std::chrono::steady_clock;
  struct Round {
    bool stop = false, checkpoint = false, done = false;
  };

  Round round();
  void step();
  Index message_bytes() const;
  Index held_bytes() const;
  void look_at_memory();
  bool has_grown() const;
  void make_room();
  void check_growth();
  [[noreturn]] void refuse_growth(Index needed) const;
  bool finish_units(bool stopping);
  void keep(bool go_on);
  CorpusCounts numbers() const;
  UnitSet all_done() const;
  [[noreturn]] void stop();

  const Communicator& comm_;
  const Corpus& corpus_;
  CountOptions options_;
  const CountHooks& hooks_;
  const CountCheckpoint* resume_;
  MemoryShares shares_;
  Index message_;  ///< elements of a message, the same on every rank
  CountTables tables_;
  Sequencer sequencer_;
  DocumentReader reader_;
  TokenBatch batch_;
  UnitSet done_;
  bool in_unit_ = false, ended_ = false, stop_seen_ = false, kept_ = false;
  Index tokens_ = 0;         ///< read by all ranks in this run, as of the last round
  bool past_limit_ = false;  ///< others' rows should go to their owners
  Index looked_at_ = -1;     ///< tokens that this rank had read when it looked at its memory
  Index checked_bytes_ = 0;  ///< held when the compressed rows' size was looked at
  Clock::time_point start_, last_kept_;
};

}  // namespace posgeom
