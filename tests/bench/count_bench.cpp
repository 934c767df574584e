// One measurement of the count benchmark, in a process of its own: count.py runs them in turn and prints the table.
//   count_bench FILE generate TOKENS
//   count_bench FILE PEER LENGTH BUFFER_MIB    prints "wall_seconds cpu_seconds checksum bytes"; under mpirun each rank takes its part
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "counts/position_table.hpp"
#include "posgeom/corpus/corpus.hpp"
#include "posgeom/counts/count_corpus.hpp"
#include "posgeom/error.hpp"
#include "posgeom/mpi/communicator.hpp"
#include "posgeom/mpi/session.hpp"
#include "token_file.hpp"

namespace {

using namespace posgeom;
using bench::TokenFile;

/// What one rank measured.
struct Measured {
  double wall = 0, cpu = 0;
  std::uint64_t checksum = 0;
  Index bytes = 0;
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Measured measure(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  Measured measured;
  measured.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  measured.cpu = cpu_seconds() - cpu;
  return measured;
}

/// Differs where two cells of a table are exchanged, or a count goes to another cell; modulo 2^64. count.py has the same.
std::uint64_t checksum_of_row(Index position, const std::vector<Token>& token, const std::vector<Count>& count) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < token.size(); ++k) {
    const auto c = static_cast<std::uint64_t>(count[k]);
    sum += c * c * (1 + static_cast<std::uint64_t>(position * 31 + token[k]) % 1009);
  }
  return sum;
}

struct Part {
  Index begin, end;  ///< tokens
};

/// A rank's sequences; the last, partial one is left out.
Part part_of(const TokenFile& file, Index length, const Communicator& comm) {
  const Index sequences = file.tokens() / length;
  return {sequences * comm.rank() / comm.size() * length, sequences * (comm.rank() + 1) / comm.size() * length};
}

/// Calls take(ids, fresh) for each MiB of the part: the ids that wait, the last `fresh` of them new; it returns how many it has used up.
template <class Take>
void read_chunks(const TokenFile& file, Part part, Index room, Take&& take) {
  constexpr Index chunk = bench::chunk_bytes / 2;
  std::vector<std::uint16_t> ids(static_cast<std::size_t>(chunk + room));
  Index waiting = 0;
  for (Index begin = part.begin; begin < part.end; begin += chunk) {
    const Index fresh = std::min(chunk, part.end - begin);
    file.read(begin, std::span(ids).subspan(static_cast<std::size_t>(waiting), static_cast<std::size_t>(fresh)));
    waiting += fresh;
    const Index used = take(std::span<const std::uint16_t>(ids.data(), static_cast<std::size_t>(waiting)), fresh);
    std::copy(ids.begin() + used, ids.begin() + waiting, ids.begin());
    waiting -= used;
  }
}

Measured kernel(const TokenFile& file, Index length, Index buffer_bytes, bool one_by_one, const Communicator& comm) {
  const Part part = part_of(file, length, comm);
  std::unique_ptr<PositionTable> table;
  Measured measured = measure([&] {
    table = std::make_unique<PositionTable>(length, bench::vocab_size, buffer_bytes);
    read_chunks(file, part, length, [&](std::span<const std::uint16_t> ids, Index fresh) {
      bench::check_range(ids.last(static_cast<std::size_t>(fresh)));
      const Index whole = std::ssize(ids) / length * length;
      if (one_by_one) {
        for (Index i = 0; i < whole; i += length) table->add(0, ids.subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(length)));
      } else {
        table->add_sequences(length, ids.first(static_cast<std::size_t>(whole)));
      }
      return whole;
    });
    table->flush();
  });
  measured.bytes = table->bytes();
  for (Index position = 0; position < length && comm.size() == 1; ++position) {
    std::vector<Token> token;
    std::vector<Count> count;
    table->append_row(position, token, count);
    measured.checksum += checksum_of_row(position, token, count);
  }
  return measured;
}

Measured whole_corpus(const std::string& path, Index length, const Communicator& comm) {
  CorpusOptions corpus_options;
  corpus_options.paths = {path};
  corpus_options.format = Format::raw16;
  corpus_options.vocab_size = bench::vocab_size;
  corpus_options.separator.choice = Separator::Choice::none;  // every id counts, as for the peers
  CountOptions options;
  options.sequences = Sequences::packed;
  options.lengths = {length};
  options.drop_last_block = true;
  CorpusCounts counts;
  Measured measured = measure([&] {
    Corpus corpus = open_corpus(comm, corpus_options);
    counts = count_corpus(comm, corpus, options);
  });
  const PositionRows& rows = counts.tables.at(0).all;
  for (Index r = 0; r < rows.rows(); ++r) {
    const auto begin = rows.indptr[static_cast<std::size_t>(r)];
    const auto end = rows.indptr[static_cast<std::size_t>(r + 1)];
    measured.checksum += checksum_of_row(rows.first + r, {rows.token.begin() + begin, rows.token.begin() + end},
                                         {rows.count.begin() + begin, rows.count.begin() + end});
  }
  return measured;
}

template <class Cell>
void add_to(std::vector<Cell>& histogram, std::span<const std::uint16_t> ids) {
  // Unrolled: a loop of a few instructions is half as slow again where it happens to cross a cache line.
  Cell* cells = histogram.data();
  std::size_t i = 0;
  for (; i + 8 <= ids.size(); i += 8) {
    for (std::size_t k = 0; k < 8; ++k) ++cells[ids[i + k]];
  }
  for (; i < ids.size(); ++i) ++cells[ids[i]];
}

template <class Cell>
Measured histogram(const TokenFile& file, bool from_file) {
  const Part all{0, file.tokens()};
  std::vector<Cell> cells(65536);
  std::vector<std::uint16_t> ids;
  if (!from_file) {
    ids.resize(static_cast<std::size_t>(file.tokens()));
    file.read(0, ids);
  }
  Measured measured = measure([&] {
    if (from_file) {
      read_chunks(file, all, 0, [&](std::span<const std::uint16_t> chunk, Index) {
        add_to(cells, chunk);
        return std::ssize(chunk);
      });
    } else {
      add_to(cells, std::span<const std::uint16_t>(ids));
    }
  });
  for (const Cell cell : cells) measured.checksum += cell;
  return measured;
}

Measured run(const std::string& path, const std::string& peer, Index length, Index buffer_bytes, const Communicator& comm) {
  const TokenFile file(path);
  if (peer == "kernel") return kernel(file, length, buffer_bytes, false, comm);
  if (peer == "kernel_one_by_one") return kernel(file, length, buffer_bytes, true, comm);
  if (peer == "corpus") return whole_corpus(path, length, comm);
  if (peer == "histogram32") return histogram<std::uint32_t>(file, false);
  if (peer == "histogram64") return histogram<std::uint64_t>(file, false);
  if (peer == "read_histogram") return histogram<std::uint32_t>(file, true);
  const auto read_only = [](std::span<const std::uint16_t> ids, Index) { return std::ssize(ids); };
  if (peer == "read") return measure([&] { read_chunks(file, part_of(file, length, comm), 0, read_only); });
  if (peer == "read_check") {
    return measure([&] {
      read_chunks(file, part_of(file, length, comm), 0, [](std::span<const std::uint16_t> ids, Index) {
        bench::check_range(ids);
        return std::ssize(ids);
      });
    });
  }
  throw Error("count_bench: no such peer: " + peer);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Session session(argc, argv);
    const Communicator comm = Communicator::world();
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 3 && arguments[1] == "generate") {
      bench::generate(arguments[0], std::stoll(arguments[2]));
      return 0;
    }
    if (arguments.size() != 4) throw Error("count_bench: FILE generate TOKENS, or FILE PEER LENGTH BUFFER_MIB");
    Measured measured = run(arguments[0], arguments[1], std::stoll(arguments[2]), std::stoll(arguments[3]) << 20, comm);
    double sum[2] = {measured.cpu, static_cast<double>(measured.bytes)};
    MPI_Allreduce(MPI_IN_PLACE, &measured.wall, 1, MPI_DOUBLE, MPI_MAX, comm.handle());
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, comm.handle());
    MPI_Allreduce(MPI_IN_PLACE, &measured.checksum, 1, MPI_UINT64_T, MPI_SUM, comm.handle());
    if (comm.is_root()) std::printf("%.6f %.6f %lu %.0f\n", measured.wall, sum[0], static_cast<unsigned long>(measured.checksum), sum[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "count_bench: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
