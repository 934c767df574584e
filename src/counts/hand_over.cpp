#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>

#include "counts/count_tables.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

using Word = std::uint64_t;

// A message: first whether another one follows, then runs. A run: what it is and of which table and half, position, words; then
// lists: of each token one word with the token above and the count below, where a count beyond 32 bits is 0 there and follows in a word of
// its own. Cells: the first one's id, the tokens in them, and cells of 8 or 16 bits for the ids from there on.
constexpr Index head_words = 1, run_words = 3, pair_words = 2, cells_head_words = 2;
constexpr unsigned kind_shift = 32;  ///< a run's kind is the bits of its cells, or 0
static_assert(least_message == head_words + run_words + cells_head_words + 1 && cells_head_words + 1 >= pair_words);

/// The rows of one owner, taken out of the tables one by one.
class OutgoingRows {
 public:
  OutgoingRows(CountTables& tables, int owner) : tables_(tables), owner_(owner) { start(); }

  /// The next message, of at most `limit` words.
  void fill(std::vector<Word>& message, Index limit) {
    message.assign(1, 0);
    while (find() && std::ssize(message) + run_words + cells_head_words < limit) {
      const std::size_t head = message.size();
      message.insert(message.end(), {static_cast<Word>(table_), static_cast<Word>(position_), 0});
      if (cells_.bits > 0) {
        message[head] |= static_cast<Word>(cells_.bits) << kind_shift;
        put_cells(message, static_cast<std::size_t>(limit));
      } else {
        put_pairs(message, static_cast<std::size_t>(limit));
      }
      message[head + 2] = message.size() - head - run_words;
    }
    message[0] = find() ? 1 : 0;
  }

 private:
  void start() {
    if (table_ < tables()) own_ = tables_.owned(entry(), owner_);
    position_ = own_.first - 1;
  }
  Index tables() const { return std::ssize(tables_.entries()) * halves(); }
  Index halves() const { return tables_.split() ? 2 : 1; }
  CountTables::Entry& entry() { return tables_.entries()[static_cast<std::size_t>(table_ / halves())]; }
  PositionTable& rows() { return entry().halves[static_cast<std::size_t>(table_ % halves())]; }

  void put_cells(std::vector<Word>& message, std::size_t limit) {
    const std::size_t words = std::min(limit - message.size() - cells_head_words, cells_.cells.size() / sizeof(Word) - next_);
    // All tokens are in the first run's account: what follows is the same row.
    message.push_back(next_ * sizeof(Word) * 8 / static_cast<std::size_t>(cells_.bits));
    message.push_back(next_ == 0 ? static_cast<Word>(cells_.cell_total) : 0);
    const std::size_t begin = message.size();
    message.resize(begin + words);
    std::memcpy(message.data() + begin, cells_.cells.data() + next_ * sizeof(Word), words * sizeof(Word));
    next_ += words;
    if (next_ * sizeof(Word) < cells_.cells.size()) return;
    // The carries follow as a list.
    cells_.bits = 0;
    next_ = 0;
    rows().clear_row(position_);
  }

  void put_pairs(std::vector<Word>& message, std::size_t limit) {
    for (; next_ < token_.size() && message.size() + pair_words <= limit; ++next_) {
      const Word token = static_cast<Word>(token_[next_]) << 32U, count = static_cast<Word>(count_[next_]);
      const bool small = count <= UINT32_MAX;
      message.push_back(small ? token | count : token);
      if (!small) message.push_back(count);
    }
  }

  /// Goes to the next row that has anything, if this one is done.
  bool find() {
    while (cells_.bits == 0 && next_ == token_.size() && table_ < tables()) {
      token_.clear();
      count_.clear();
      next_ = 0;
      if (++position_ >= own_.first + own_.rows) {
        ++table_;
        start();
        continue;
      }
      take_row();
    }
    return cells_.bits > 0 || next_ < token_.size();
  }

  void take_row() {
    cells_ = rows().row_cells(position_);
    if (cells_.bits > 0) {
      for (const Carry& carry : cells_.carries) {
        token_.push_back(static_cast<Token>(carry.id));
        count_.push_back(Count{carry.times} * cells_.carry_unit);
      }
      return;
    }
    rows().append_row(position_, token_, count_);
    if (!token_.empty()) rows().clear_row(position_);
  }

  CountTables& tables_;
  int owner_;
  Index table_ = 0, position_ = 0;
  OwnedPositions own_;
  RowCells cells_;  ///< to be sent first
  std::vector<Token> token_;
  std::vector<Count> count_;
  std::size_t next_ = 0;  ///< word of the cells, or place in the list
};

void add_message(CountTables& tables, std::span<const Word> message) {
  std::vector<Token> token;
  std::vector<Count> count;
  const Index halves = tables.split() ? 2 : 1;
  for (std::size_t k = head_words; k < message.size();) {
    const auto table = static_cast<Index>(message[k] & UINT32_MAX), position = static_cast<Index>(message[k + 1]);
    const auto bits = static_cast<int>(message[k] >> kind_shift);
    const std::size_t end = k + run_words + message[k + 2];
    PositionTable& rows = tables.entries()[static_cast<std::size_t>(table / halves)].halves[static_cast<std::size_t>(table % halves)];
    k += run_words;
    if (bits > 0) {
      const auto cells = std::as_bytes(message.subspan(k + cells_head_words, end - k - cells_head_words));
      rows.add_cells(position, bits, static_cast<Index>(message[k]), cells, static_cast<Count>(message[k + 1]));
      k = end;
      continue;
    }
    token.clear();
    count.clear();
    for (; k < end; ++k) {
      token.push_back(static_cast<Token>(message[k] >> 32U));
      const Word below = message[k] & UINT32_MAX;
      count.push_back(static_cast<Count>(below != 0 ? below : message[++k]));
    }
    rows.add_row(position, token, count);
  }
}

/// Runs `body` unless something has failed before, and remembers what fails: the ranks must go on exchanging until all are through.
template <class Body>
void attempt(std::exception_ptr& failure, Body&& body) {
  if (failure) return;
  try {
    body();
  } catch (...) {
    failure = std::current_exception();
  }
}

}  // namespace

void hand_over(const Communicator& comm, CountTables& tables, Index message) {
  const int ranks = comm.size(), rank = comm.rank();
  std::vector<Word> out;
  std::unique_ptr<Word[]> buffer;  // not filled: pages that no message reaches are never touched
  collective(comm, "making room for counts on their way between ranks", [&] {
    tables.flush();
    if (ranks > 1) {
      out.reserve(static_cast<std::size_t>(message));
      buffer = std::make_unique_for_overwrite<Word[]>(static_cast<std::size_t>(message));
    }
  });
  const std::span<Word> in(buffer.get(), buffer ? static_cast<std::size_t>(message) : 0);
  std::exception_ptr failure;
  // In step s every rank sends to the s-th rank after it and receives from the s-th before it, message by message.
  for (int step = 1; step < ranks; ++step) {
    const int to = (rank + step) % ranks, from = (rank - step + ranks) % ranks;
    OutgoingRows rows(tables, to);
    bool sending = true, receiving = true;
    while (sending || receiving) {
      if (sending) {
        out.assign(1, 0);
        attempt(failure, [&] { rows.fill(out, message); });
      }
      if (failure) out.assign(1, 0);
      const Index words = exchange(comm, std::span<const Word>(out), sending ? to : nobody, in, receiving ? from : nobody);
      sending = sending && out[0] != 0;
      if (!receiving) continue;
      receiving = in[0] != 0;
      attempt(failure, [&] { add_message(tables, in.first(static_cast<std::size_t>(words))); });
    }
  }
  collective(comm, "handing counts to the ranks that own their positions", [&] {
    if (failure) std::rethrow_exception(failure);
  });
}

}  // namespace posgeom
