#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "posgeom/corpus/document_reader.hpp"
#include "posgeom/io/token_file_writer.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

/// Whole documents of one unit.
struct UnitTokens {
  std::vector<Token> tokens;
  std::vector<std::int32_t> lengths;
  bool corpus_ends = false;
  bool document_ended = true;

  void add(const TokenBatch& batch) {
    tokens.insert(tokens.end(), batch.narrow.begin(), batch.narrow.end());
    tokens.insert(tokens.end(), batch.wide.begin(), batch.wide.end());
    for (const Piece& piece : batch.pieces) {
      if (document_ended) lengths.push_back(0);
      document_ended = piece.ends;
      lengths.back() += narrow_to_int(piece.size(), "the tokens of a document's piece");
    }
  }
};

/// A document that holds the id that ends documents would be read back as two.
void require_absent(const std::vector<Token>& tokens, Index end_of_text) {
  if (end_of_text < 0 || std::find(tokens.begin(), tokens.end(), end_of_text) == tokens.end()) return;
  throw Error(fmt::format("--end-of-text {}: the corpus holds that id as an ordinary token; give one that no token has, such as V or above",
                          end_of_text));
}

/// The next unit of this rank's; nothing where there is none left.
UnitTokens next_unit(DocumentReader& reader) {
  UnitTokens unit;
  TokenBatch batch;
  while (!batch.unit_ends) {
    if (!reader.next(batch)) {
      unit.corpus_ends = true;
      break;
    }
    unit.add(batch);
  }
  return unit;
}

void write_vocabulary(const StageContext& context, const Corpus& corpus, const std::string& path) {
  collective(context.comm, "writing the vocabulary", [&] {
    if (!context.comm.is_root() || !corpus.vocabulary_built) return;
    std::ofstream out(path, std::ios::binary);
    for (const std::string& entry : corpus.vocabulary) out << entry << '\n';
    out.close();
    if (!out) throw Error(fmt::format("writing {}: the disk may be full, or the directory not writable", path));
  });
}

}  // namespace

std::string how_to_read(const Config& config, const std::string& prefix, const TokenFileWriter& writer, Index vocab_size) {
  const bool megatron = config.tokenize.kind == TokenFileKind::megatron;
  const Index separator = config.tokenize.end_of_text;
  return fmt::format("read it with --corpus {}.bin --format {} --vocab-size {}{}", prefix,
                     megatron ? "megatron" : fmt::format("raw{}", 8 * writer.width()), vocab_size,
                     separator >= 0 ? fmt::format(" --separator {}", separator) : "");
}

void tokenize_stage(const StageContext& context) {
  const Config& config = context.config;
  const Communicator& comm = context.comm;
  context.report.begin("open corpus");
  const Corpus corpus = open_corpus(comm, config.corpus);
  context.report.end(fmt::format("{} file{}, format {}, V = {}", corpus.files.size(), corpus.files.size() == 1 ? "" : "s",
                                 name_of(corpus.options.format), corpus.vocab_size));

  context.report.begin("tokenize");
  const std::string prefix = (std::filesystem::path(config.output.directory) / config.tokenize.name).string();
  const Index separator = config.tokenize.end_of_text;
  TokenFileWriter writer(comm, prefix, config.tokenize.kind, corpus.vocab_size, separator, config.output.force);
  DocumentReader reader =
      collective(comm, "opening the corpus", [&] { return DocumentReader(corpus, {}, comm.rank(), comm.size(), Sharing::in_turn); });
  for (Index ended = 0; ended < comm.size();) {
    check_stop(context);
    const UnitTokens unit = collective(comm, "tokenising", [&] {
      UnitTokens found = next_unit(reader);
      require_absent(found.tokens, separator);
      return found;
    });
    writer.append(unit.tokens, unit.lengths);
    Index sums[] = {unit.corpus_ends ? 1 : 0, reader.bytes_done(), reader.bytes_total()};
    all_reduce(comm, std::span<Index>(sums));
    ended = sums[0];
    context.report.progress(sums[2] > 0 ? static_cast<double>(sums[1]) / static_cast<double>(sums[2]) : 0,
                            fmt::format("{:.4g} tokens", static_cast<double>(writer.token_count())));
  }
  writer.finish();
  const std::string vocabulary = prefix + ".vocab.txt";
  write_vocabulary(context, corpus, vocabulary);
  const bool megatron = config.tokenize.kind == TokenFileKind::megatron;
  context.report.end(fmt::format("{}, {} of {} bytes in {}.bin{}", number_of(writer.document_count(), "document"),
                                 number_of(writer.token_count(), "token"), writer.width(), prefix, megatron ? " and .idx" : ""));
  context.report.line(how_to_read(config, prefix, writer, corpus.vocab_size) +
                      (corpus.vocabulary_built ? "; its vocabulary is " + vocabulary : ""));
}

}  // namespace posgeom
