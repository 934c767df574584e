#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/types.hpp"

namespace posgeom {

enum class TokenizerKind { whitespace, wordpiece, sentencepiece, bytes, chars };
std::string_view name_of(TokenizerKind kind);
/// Throws Error (usage) that lists the names, where `name` is none of them.
TokenizerKind tokenizer_named(std::string_view name);

/// Text to token ids. Stateless after construction: the same text gives the same ids on every rank.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Appends the ids of `text` (UTF-8) to `ids`. Throws Error where the text holds what the vocabulary cannot express (chars, whitespace:
  /// a unit that is not in the vocabulary) or is not UTF-8 (chars).
  virtual void encode(std::string_view text, std::vector<Token>& ids) const = 0;
  virtual Index vocab_size() const = 0;
};

/// Words separated by Unicode white space; ids are the words' indices in `vocabulary`.
std::unique_ptr<Tokenizer> whitespace_tokenizer(const std::vector<std::string>& vocabulary);
/// Code points; ids are the indices in `vocabulary` (one code point an entry).
std::unique_ptr<Tokenizer> chars_tokenizer(const std::vector<std::string>& vocabulary);
/// UTF-8 bytes; V = 256.
std::unique_ptr<Tokenizer> bytes_tokenizer();
/// BERT's uncased tokenisation (Devlin et al. 2019; Hugging Face's BasicTokenizer + WordPiece): control characters removed, white space
/// normalised, CJK ideographs set apart, lower-cased, accents stripped (NFD without Mn), split at punctuation, greedy longest match with
/// "##" continuations, [UNK] for a word over 100 characters or without a match. Throws Error where [UNK] is not in the vocabulary.
std::unique_ptr<Tokenizer> wordpiece_tokenizer(const std::vector<std::string>& vocabulary);
/// SentencePiece (Kudo and Richardson 2018) by its own library: the ids that Encode() gives, without begin and end of sentence. `model`:
/// the bytes of a FILE.model. Throws Error where they are none.
std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::string& model);

/// Appends the units that a vocabulary built from the corpus consists of: words (Unicode white space by Python's str.split() between them;
/// bytes that are no UTF-8 are part of a word), or code points (throws Error where `text` is not UTF-8 or holds NUL). Views into `text`.
void split_words(std::string_view text, std::vector<std::string_view>& words);
void split_code_points(std::string_view text, std::vector<std::string_view>& code_points);

}  // namespace posgeom
