// One measurement of the count benchmark, in a process of its own: count.py runs them in turn and prints the table.
//   count_bench FILE generate TOKENS PASSES    also links FILE.1, FILE.2, ... to it, for corpora that are counted PASSES times
//   count_bench FILE PEER LENGTH BUFFER_MIB PASSES WARM_MIB    prints "wall_seconds cpu_seconds system_seconds checksum bytes
//   finish_seconds"
// Under mpirun each rank takes its part. The file is counted PASSES times, as a corpus of so many files. system_seconds: of the
// cpu's, those in the kernel (reads, and memory touched for the first time). finish_seconds: of the wall's, those after the last token.
// WARM_MIB of memory are touched and given back before: a virtual machine's host may have to find memory that its guest touches, twenty
// times slower than what it has found before.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "counts/huge_buffer.hpp"
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
  double wall = 0, cpu = 0, system = 0, finish = 0;
  std::uint64_t checksum = 0;
  Index bytes = 0;
};
using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point time) { return std::chrono::duration<double>(Clock::now() - time).count(); }

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double system_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_stime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_stime.tv_usec);
}

void warm(Index bytes) {
  constexpr Index page = 4096;
  const HugeBuffer memory(bytes);
  for (Index at = 0; at < memory.bytes(); at += page) static_cast<volatile char*>(memory.data())[at] = 1;
}

Measured measure(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double cpu = cpu_seconds(), system = system_seconds();
  const auto start = Clock::now();
  work();
  Measured measured;
  measured.wall = seconds_since(start);
  measured.cpu = cpu_seconds() - cpu;
  measured.system = system_seconds() - system;
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

/// A rank's sequences of one pass; the last, partial one is left out.
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

Measured kernel(const TokenFile& file, Index length, Index buffer_bytes, bool one_by_one, Index passes, const Communicator& comm) {
  const Part part = part_of(file, length, comm);
  std::unique_ptr<PositionTable> table;
  double finish = 0;
  Measured measured = measure([&] {
    table = std::make_unique<PositionTable>(length, bench::vocab_size, buffer_bytes);
    const auto take = [&](std::span<const std::uint16_t> ids, Index fresh) {
      bench::check_range(ids.last(static_cast<std::size_t>(fresh)));
      const Index whole = std::ssize(ids) / length * length;
      if (one_by_one) {
        for (Index i = 0; i < whole; i += length) table->add(0, ids.subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(length)));
      } else {
        table->add_sequences(length, ids.first(static_cast<std::size_t>(whole)));
      }
      return whole;
    };
    for (Index pass = 0; pass < passes; ++pass) read_chunks(file, part, length, take);
    const auto read = Clock::now();
    table->flush();
    finish = seconds_since(read);
  });
  measured.finish = finish;
  measured.bytes = table->bytes();
  for (Index position = 0; position < length && comm.size() == 1; ++position) {
    std::vector<Token> token;
    std::vector<Count> count;
    table->append_row(position, token, count);
    measured.checksum += checksum_of_row(position, token, count);
  }
  return measured;
}

/// What count_corpus is to do beyond counting: `peer` is "corpus", or that and what --noise would be, or "documents": documents told apart,
/// nothing else.
NoiseOptions noise_of(const std::string& peer) {
  NoiseOptions noise;
  noise.split = peer == "corpus_split" || peer == "corpus_all";
  noise.shuffle = peer == "corpus_shuffle" || peer == "corpus_all";
  return noise;
}

std::uint64_t checksum_of(const PositionRows& rows) {
  std::uint64_t sum = 0;
  for (Index r = 0; r < rows.rows(); ++r) {
    const auto begin = rows.indptr[static_cast<std::size_t>(r)];
    const auto end = rows.indptr[static_cast<std::size_t>(r + 1)];
    sum += checksum_of_row(rows.first + r, {rows.token.begin() + begin, rows.token.begin() + end},
                           {rows.count.begin() + begin, rows.count.begin() + end});
  }
  return sum;
}

Measured whole_corpus(const std::string& path, const std::string& peer, Index length, Index passes, const Communicator& comm) {
  CorpusOptions corpus_options;
  corpus_options.paths = {path};
  for (Index pass = 1; pass < passes; ++pass) corpus_options.paths.push_back(bench::name_of_pass(path, pass));
  corpus_options.format = Format::raw16;
  corpus_options.vocab_size = bench::vocab_size;
  // Every id counts, as for the peers; the separators too where documents are told apart.
  corpus_options.separator.choice = peer == "corpus" ? Separator::Choice::none : Separator::Choice::given;
  corpus_options.separator.id = bench::separator;
  corpus_options.keep_separator = peer != "corpus";
  CountOptions options;
  options.sequences = Sequences::packed;
  options.lengths = {length};
  options.drop_last_block = true;
  options.noise = noise_of(peer);
  CorpusCounts counts;
  auto counted = Clock::now();
  CountHooks hooks;
  hooks.progress = [&](const CountStatus&) { counted = Clock::now(); };
  double finish = 0;
  Measured measured = measure([&] {
    Corpus corpus = open_corpus(comm, corpus_options);
    counts = count_corpus(comm, corpus, options, hooks);
    finish = seconds_since(counted);
  });
  measured.finish = finish;
  measured.checksum = checksum_of(counts.tables.at(0).all);
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

Measured run(const std::string& path, const std::string& peer, Index length, Index buffer_bytes, Index passes, const Communicator& comm) {
  const TokenFile file(path);
  if (peer == "kernel") return kernel(file, length, buffer_bytes, false, passes, comm);
  if (peer == "kernel_one_by_one") return kernel(file, length, buffer_bytes, true, passes, comm);
  if (peer.starts_with("corpus")) return whole_corpus(path, peer, length, passes, comm);
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
    if (arguments.size() == 4 && arguments[1] == "generate") {
      bench::generate(arguments[0], std::stoll(arguments[2]), std::stoll(arguments[3]));
      return 0;
    }
    if (arguments.size() != 6) throw Error("count_bench: FILE generate TOKENS PASSES, or FILE PEER LENGTH BUFFER_MIB PASSES WARM_MIB");
    warm(std::stoll(arguments[5]) << 20);
    Measured measured =
        run(arguments[0], arguments[1], std::stoll(arguments[2]), std::stoll(arguments[3]) << 20, std::stoll(arguments[4]), comm);
    double sum[3] = {measured.cpu, measured.system, static_cast<double>(measured.bytes)};
    MPI_Allreduce(MPI_IN_PLACE, &measured.wall, 1, MPI_DOUBLE, MPI_MAX, comm.handle());
    MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, comm.handle());
    MPI_Allreduce(MPI_IN_PLACE, &measured.checksum, 1, MPI_UINT64_T, MPI_SUM, comm.handle());
    if (comm.is_root()) {
      std::printf("%.6f %.6f %.6f %lu %.0f %.6f\n", measured.wall, sum[0], sum[1], static_cast<unsigned long>(measured.checksum), sum[2],
                  measured.finish);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "count_bench: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
