#include <fmt/format.h>

#include "corpus/token_map.hpp"
#include "corpus/unicode.hpp"
#include "posgeom/corpus/tokenizer.hpp"
#include "posgeom/error.hpp"

namespace posgeom {

void split_words(std::string_view text, std::vector<std::string_view>& words) {
  std::size_t word = 0;
  const auto end_word = [&](std::size_t end) {
    if (end > word) words.push_back(text.substr(word, end - word));
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (!is_space(decode(text, at))) continue;
    end_word(begin);
    word = at;
  }
  end_word(text.size());
}

void split_code_points(std::string_view text, std::vector<std::string_view>& code_points) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t c = decode(text, at);
    if (c == not_utf8 || c == 0) {
      throw Error(fmt::format(
          "{} at byte {} of the document; characters can only be counted in UTF-8 text: convert the file, or use --tokenizer bytes",
          c == 0 ? "a NUL byte" : fmt::format("invalid UTF-8 (byte 0x{:02X})", static_cast<unsigned char>(text[begin])), begin));
    }
    code_points.push_back(text.substr(begin, at - begin));
  }
}

namespace {

/// Units looked up one by one.
class UnitTokenizer : public Tokenizer {
 public:
  explicit UnitTokenizer(const std::vector<std::string>& vocabulary) : map_(vocabulary), vocab_size_(std::ssize(vocabulary)) {}
  Index vocab_size() const override { return vocab_size_; }

 protected:
  void append_id(std::string_view unit, std::string_view kind, Token unknown, std::vector<Token>& ids) const {
    Token id = map_.find(unit);
    if (id < 0) id = unknown;
    if (id < 0) {
      throw Error(
          fmt::format("the {} '{}' is not among the {} entries of the vocabulary; give a --vocab that holds it{}, or leave --vocab out to "
                      "have one built "
                      "from the corpus",
                      kind, printable(unit), vocab_size_, kind == "word" ? ", or [UNK] or <unk> for all such words" : ""));
    }
    ids.push_back(id);
  }
  const TokenMap& map() const { return map_; }

 private:
  TokenMap map_;
  Index vocab_size_;
};

class WhitespaceTokenizer : public UnitTokenizer {
 public:
  explicit WhitespaceTokenizer(const std::vector<std::string>& vocabulary) : UnitTokenizer(vocabulary), unknown_(map().find("[UNK]")) {
    if (unknown_ < 0) unknown_ = map().find("<unk>");
  }
  void encode(std::string_view text, std::vector<Token>& ids) const override {
    std::string scratch;
    std::vector<std::string_view> words;
    split_words(drop_undecodable(text, scratch), words);
    for (const std::string_view word : words) append_id(word, "word", unknown_, ids);
  }

 private:
  Token unknown_;
};

class CharsTokenizer : public UnitTokenizer {
 public:
  using UnitTokenizer::UnitTokenizer;
  void encode(std::string_view text, std::vector<Token>& ids) const override {
    std::vector<std::string_view> code_points;
    split_code_points(text, code_points);
    for (const std::string_view code_point : code_points) append_id(code_point, "character", -1, ids);
  }
};

class BytesTokenizer : public Tokenizer {
 public:
  void encode(std::string_view text, std::vector<Token>& ids) const override {
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  }
  Index vocab_size() const override { return 256; }
};

}  // namespace

std::unique_ptr<Tokenizer> whitespace_tokenizer(const std::vector<std::string>& vocabulary) {
  return std::make_unique<WhitespaceTokenizer>(vocabulary);
}

std::unique_ptr<Tokenizer> chars_tokenizer(const std::vector<std::string>& vocabulary) {
  for (std::size_t k = 0; k < vocabulary.size(); ++k) {
    std::size_t at = 0;
    if (!vocabulary[k].empty() && decode(vocabulary[k], at) != not_utf8 && at == vocabulary[k].size()) continue;
    throw Error(
        fmt::format("entry {} (counted from 0) of the vocabulary is '{}', but --tokenizer chars needs exactly one character an entry", k,
                    printable(vocabulary[k])));
  }
  return std::make_unique<CharsTokenizer>(vocabulary);
}

std::unique_ptr<Tokenizer> bytes_tokenizer() { return std::make_unique<BytesTokenizer>(); }

}  // namespace posgeom
