#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "posgeom/corpus/synthetic.hpp"
#include "posgeom/io/token_file_writer.hpp"
#include "posgeom/mpi/collective.hpp"
#include "posgeom/pipeline/stages.hpp"
#include "posgeom/words.hpp"

namespace posgeom {
namespace {

constexpr Index documents_at_once = 4096;

}  // namespace

void synth_stage(const StageContext& context) {
  const Config& config = context.config;
  const Communicator& comm = context.comm;
  context.report.begin("synth");
  const SyntheticCorpus corpus =
      collective(comm, "making the synthetic distributions", [&] { return SyntheticCorpus(config.synth.corpus); });
  const std::string prefix = (std::filesystem::path(config.output.directory) / config.tokenize.name).string();
  TokenFileWriter writer(comm, prefix, config.tokenize.kind, config.synth.corpus.vocab_size, config.tokenize.end_of_text,
                         config.output.force);
  const Index documents = config.synth.documents;
  for (Index begin = 0; begin < documents; begin += documents_at_once * comm.size()) {
    check_stop(context);
    std::vector<Token> tokens;
    std::vector<std::int32_t> lengths;
    const Index own = begin + comm.rank() * documents_at_once;
    collective(comm, "drawing documents", [&] {
      for (Index d = own; d < std::min(own + documents_at_once, documents); ++d) lengths.push_back(corpus.append_document(d, tokens));
    });
    writer.append(tokens, lengths);
    context.report.progress(
        static_cast<double>(std::min(begin + documents_at_once * comm.size(), documents)) / static_cast<double>(documents),
        fmt::format("{:.4g} tokens", static_cast<double>(writer.token_count())));
  }
  writer.finish();
  TruthFile truth;
  truth.positions = config.synth.corpus.positions;
  truth.components = corpus.component_count();
  truth.vocab_size = config.synth.corpus.vocab_size;
  truth.weights = corpus.weights();
  truth.distributions = corpus.components();
  const std::string path = (std::filesystem::path(config.output.directory) / "truth.h5").string();
  write_truth(comm, path, truth, provenance_of(context, {"synthetic=" + prefix}, ""));
  const bool megatron = config.tokenize.kind == TokenFileKind::megatron;
  context.report.end(fmt::format("{}, {} in {}.bin{}; exact distributions in {}", number_of(writer.document_count(), "document"),
                                 number_of(writer.token_count(), "token"), prefix, megatron ? " and .idx" : "", path));
  context.report.line(how_to_read(config, prefix, writer, truth.vocab_size));
}

}  // namespace posgeom
