#include "posgeom/io/token_file_writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>

#include "io/megatron_index.hpp"
#include "io/partial_file.hpp"
#include "posgeom/mpi/collective.hpp"

namespace posgeom {
namespace {

/// Megatron-LM's own rule: with this many ids or more it writes 32 bits.
constexpr Index megatron_wide_vocab = 65500;
constexpr Index ids_of_16_bits = Index{1} << 16;
constexpr Index ids_of_32_bits = Index{1} << 32;

int width_for(TokenFileKind kind, Index vocab_size, Index separator) {
  constexpr Index most = Index{1} << 31;  // a Token has 31 bits
  if (vocab_size < 1 || vocab_size > most) {
    throw Error(fmt::format("writing a token file: the vocabulary size is {}, expected 1 to {}", vocab_size, most), ErrorKind::usage);
  }
  if (separator < -1 || separator >= ids_of_32_bits) {
    throw Error(fmt::format("writing a token file: the separator is {}, expected an id of 0 to {}", separator, ids_of_32_bits - 1),
                ErrorKind::usage);
  }
  if (kind == TokenFileKind::megatron) {
    if (separator >= 0) {
      throw Error("writing a token file: megatron files have no separator, their index says where documents end; leave it out",
                  ErrorKind::usage);
    }
    return vocab_size < megatron_wide_vocab ? 2 : 4;
  }
  return vocab_size <= ids_of_16_bits && separator < ids_of_16_bits ? 2 : 4;
}

void expect_free(const std::string& path) {
  if (io::exists(path)) throw Error(fmt::format("writing {}: it exists already; replace it with --force, or choose another name", path));
}

}  // namespace

struct TokenFileWriter::State {
  State(const Communicator& ranks, const std::string& prefix, TokenFileKind the_kind, Index vocabulary, Index the_separator, bool replace)
      : comm(ranks),
        kind(the_kind),
        vocab_size(vocabulary),
        separator(the_separator),
        force(replace),
        bin_path(prefix + ".bin"),
        idx_path(prefix + ".idx"),
        doing("writing " + bin_path) {}

  const Communicator& comm;
  TokenFileKind kind;
  Index vocab_size;
  Index separator;
  bool force;
  std::string bin_path;
  std::string idx_path;
  std::string doing;
  int width = 2;
  Index tokens = 0;     ///< of all ranks and calls
  Index documents = 0;  ///< likewise
  bool open = false;

  std::optional<io::PartialFile> bin_owner, idx_owner;  ///< the root's
  io::Descriptor bin, idx;
  io::MegatronIndex index;
  std::vector<char> buffer;

  /// **Collective.** Runs `body` on every rank; where it fails on any, all drop what they have before they tell.
  template <class Body>
  void together(Body body) {
    try {
      collective(comm, doing, body);
    } catch (const CollectiveError&) {
      drop();
      barrier(comm);
      throw;
    }
  }
  void drop() {
    open = false;
    bin.close();
    idx.close();
    bin_owner.reset();
    idx_owner.reset();
  }

  void create();
  void check(std::span<const Token> ids, std::span<const std::int32_t> lengths, Index first_document) const;
  template <class Stored>
  void write(std::span<const Token> ids, std::span<const std::int32_t> lengths, Index offset);
  void commit();
};

void TokenFileWriter::State::create() {
  if (!comm.is_root()) return;
  // An index that is there would pass for that of the new file, so a raw file minds it too.
  if (!force) {
    expect_free(bin_path);
    expect_free(idx_path);
  }
  bin_owner.emplace(bin_path);
  if (kind == TokenFileKind::megatron) idx_owner.emplace(idx_path);
}

void TokenFileWriter::State::check(std::span<const Token> ids, std::span<const std::int32_t> lengths, Index first_document) const {
  Index total = 0;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    if (lengths[d] < 0) {
      throw Error(fmt::format("writing {}: document {} has {} tokens, expected 0 to {}; split it", bin_path,
                              first_document + static_cast<Index>(d), lengths[d], std::numeric_limits<std::int32_t>::max()));
    }
    total += lengths[d];
  }
  expects(total == std::ssize(ids), "the documents' lengths add up to the tokens");
  // The largest as if unsigned, so that negative ones count as large: without a way out of the loop it becomes vector instructions.
  std::uint32_t largest = 0;
  for (const Token id : ids) largest = std::max(largest, static_cast<std::uint32_t>(id));
  if (ids.empty() || largest < vocab_size) return;
  const Index place = std::find_if(ids.begin(), ids.end(), [&](Token id) { return id < 0 || id >= vocab_size; }) - ids.begin();
  Index begin = 0;
  std::size_t d = 0;
  while (begin + lengths[d] <= place) begin += lengths[d++];
  throw Error(fmt::format("writing {}: document {}, position {}: id {}, expected 0 to {}; is the vocabulary size right?", bin_path,
                          first_document + static_cast<Index>(d), place - begin, ids[static_cast<std::size_t>(place)], vocab_size - 1));
}

template <class Stored>
void TokenFileWriter::State::write(std::span<const Token> ids, std::span<const std::int32_t> lengths, Index offset) {
  io::OffsetWriter output(bin, io::PartialFile::name_for(bin_path), offset, buffer);
  if (separator < 0) {
    output.put<Stored>(ids);
  } else {
    std::size_t begin = 0;
    for (const std::int32_t length : lengths) {
      output.put<Stored>(ids.subspan(begin, static_cast<std::size_t>(length)));
      output.put<Stored>(separator);
      begin += static_cast<std::size_t>(length);
    }
  }
  output.flush();
}

void TokenFileWriter::State::commit() {
  if (!comm.is_root()) return;
  const Index expected = (tokens + (separator < 0 ? 0 : documents)) * width;
  if (const Index found = io::file_size(bin, io::PartialFile::name_for(bin_path)); found != expected) {
    throw Error(fmt::format("writing {}: it has {} bytes on the disk, expected {}; did another program change it?",
                            io::PartialFile::name_for(bin_path), found, expected));
  }
  if (!force) {
    expect_free(bin_path);
    expect_free(idx_path);
  }
  bin_owner->sync();
  if (idx_owner) idx_owner->sync();
  // An index stands beside the file that it belongs to, or beside none: whenever the machine stops.
  if (::unlink(idx_path.c_str()) == 0) {
    io::sync_folder_of(idx_path);
  } else if (errno != ENOENT) {
    throw io::system_error("replacing", idx_path, errno);
  }
  bin_owner->commit();
  if (idx_owner) idx_owner->commit();
}

TokenFileWriter::TokenFileWriter(const Communicator& comm, const std::string& prefix, TokenFileKind kind, Index vocab_size, Index separator,
                                 bool force)
    : state_(std::make_unique<State>(comm, prefix, kind, vocab_size, separator, force)) {
  State& s = *state_;
  s.together([&] {
    s.width = width_for(kind, vocab_size, separator);
    s.create();
  });
  s.together([&] {
    s.bin = io::open_partial(s.bin_path, comm.rank());
    if (kind == TokenFileKind::megatron) s.idx = io::open_partial(s.idx_path, comm.rank());
  });
  s.open = true;
}

TokenFileWriter::~TokenFileWriter() = default;

void TokenFileWriter::append(std::span<const Token> tokens, std::span<const std::int32_t> lengths) {
  State& s = *state_;
  expects(s.open, "a token file is open from its making to finish(), or to an error");
  const Index first_token = s.tokens + exclusive_sum(s.comm, std::ssize(tokens));
  const Index first_document = s.documents + exclusive_sum(s.comm, std::ssize(lengths));
  s.together([&] {
    s.check(tokens, lengths, first_document);
    const Index offset = (first_token + (s.separator < 0 ? 0 : first_document)) * s.width;
    if (s.width == 2) {
      s.write<std::uint16_t>(tokens, lengths, offset);
    } else {
      s.write<std::uint32_t>(tokens, lengths, offset);
    }
    if (s.kind == TokenFileKind::megatron) s.index.add(first_document, first_token, lengths);
  });
  s.tokens += all_reduce(s.comm, std::ssize(tokens));
  s.documents += all_reduce(s.comm, std::ssize(lengths));
}

void TokenFileWriter::finish() {
  State& s = *state_;
  expects(s.open, "a token file is finished once");
  s.together([&] {
    if (s.kind == TokenFileKind::megatron) {
      const std::string name = io::PartialFile::name_for(s.idx_path);
      s.index.write(s.idx, name, {s.documents, s.width, s.comm.rank(), s.comm.size()}, s.buffer);
      io::sync_file(s.idx, name);
    }
    io::sync_file(s.bin, io::PartialFile::name_for(s.bin_path));
  });
  s.together([&] { s.commit(); });
  s.drop();
  barrier(s.comm);  // the locks are gone before anyone goes on
}

int TokenFileWriter::width() const { return state_->width; }
Index TokenFileWriter::token_count() const { return state_->tokens; }
Index TokenFileWriter::document_count() const { return state_->documents; }

}  // namespace posgeom
