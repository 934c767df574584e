#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <string>

#include "corpus/unicode.hpp"
#include "posgeom/corpus/tokenizer.hpp"
#include "posgeom/error.hpp"

/// Exported by the library, but in none of its installed headers.
namespace sentencepiece::logging {
void SetMinLogLevel(int level);
}

namespace posgeom {
namespace {

constexpr int no_messages = 4;  ///< above the library's FATAL: what went wrong is in the status that it returns

class SentencePieceTokenizer : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(const std::string& model) {
    sentencepiece::logging::SetMinLogLevel(no_messages);
    if (model.empty()) throw Error("the file is empty; give a SentencePiece model as spm_train writes it (FILE.model)");
    const auto status = processor_.LoadFromSerializedProto(model);
    if (!status.ok() || processor_.GetPieceSize() <= 0) {
      throw Error(
          fmt::format("its {} bytes are no SentencePiece model ({}); give the FILE.model that spm_train writes, whole and not FILE.vocab",
                      model.size(), status.ok() ? "it has no pieces" : printable(status.ToString())));
    }
  }

  void encode(std::string_view text, std::vector<Token>& ids) const override {
    std::vector<int> pieces;
    if (const auto status = processor_.Encode(text, &pieces); !status.ok())
      throw Error(fmt::format("SentencePiece refused the text: {}", printable(status.ToString())));
    ids.insert(ids.end(), pieces.begin(), pieces.end());
  }
  Index vocab_size() const override { return processor_.GetPieceSize(); }

 private:
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::string& model) { return std::make_unique<SentencePieceTokenizer>(model); }

}  // namespace posgeom
