#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <array>
#include <string>

#include "corpus/token_map.hpp"
#include "corpus/unicode.hpp"
#include "posgeom/corpus/tokenizer.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr std::size_t longest_word = 100;  ///< code points

enum class Class : unsigned char { letter, space, dropped, punctuation };

/// BasicTokenizer's classes of ASCII; `letter` is whatever is kept as it is.
constexpr auto ascii_classes = [] {
  std::array<Class, 128> classes{};
  for (unsigned c = 0; c < 128; ++c) {
    const bool punctuation = (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    classes[c] = punctuation ? Class::punctuation : Class::letter;
    if (c < 32 || c == 127) classes[c] = Class::dropped;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') classes[c] = Class::space;
  }
  return classes;
}();

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B820 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool in_categories(char32_t c, std::uint32_t mask) { return (U_MASK(u_charType(static_cast<UChar32>(c))) & mask) != 0; }

Class class_of(char32_t c) {
  if (c < 128) return ascii_classes[c];
  if (c == not_utf8 || c == 0xFFFD || in_categories(c, U_GC_C_MASK)) return Class::dropped;
  if (is_space(c)) return Class::space;  // category Zs, and the separators U+2028 and U+2029, at which the words are split later
  return in_categories(c, U_GC_P_MASK) ? Class::punctuation : Class::letter;
}

class WordpieceTokenizer : public Tokenizer {
 public:
  explicit WordpieceTokenizer(const std::vector<std::string>& vocabulary)
      : beginnings_(vocabulary),
        continuations_(vocabulary, "##"),
        unknown_(beginnings_.find("[UNK]")),
        vocab_size_(std::ssize(vocabulary)) {
    if (unknown_ < 0) {
      throw Error(fmt::format(
          "the vocabulary of {} entries has no [UNK], which WordPiece gives for unknown words; is it a BERT vocab.txt, one entry a line?",
          vocab_size_));
    }
    UErrorCode status = U_ZERO_ERROR;
    decomposition_ = unorm2_getNFDInstance(&status);
    if (U_FAILURE(status) != 0)
      throw Error(fmt::format("ICU has no canonical decomposition ({}); is its data installed?", u_errorName(status)));
  }

  void encode(std::string_view text, std::vector<Token>& ids) const override {
    Scratch scratch;
    if (is_ascii(text)) {
      encode_ascii(text, scratch, ids);
      return;
    }
    std::string& chunk = scratch.chunk;  // what stands between white space
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      const char32_t c = decode(text, at);
      const Class kind = class_of(c);
      if (kind == Class::dropped) continue;
      const bool alone = is_ideograph(c);
      if (kind == Class::space || alone) end_chunk(scratch, ids);
      if (kind == Class::space) continue;
      chunk.append(text.substr(begin, at - begin));
      if (alone) end_chunk(scratch, ids);
    }
    end_chunk(scratch, ids);
  }

  Index vocab_size() const override { return vocab_size_; }

 private:
  struct Scratch {
    std::string chunk, word;
    std::u16string original, lowered, decomposed;
  };

  /// Clean, lower, split: for ASCII the order does not matter.
  void encode_ascii(std::string_view text, Scratch& scratch, std::vector<Token>& ids) const {
    std::string& word = scratch.word;
    for (const char c : text) {
      switch (ascii_classes[static_cast<unsigned char>(c)]) {
        case Class::letter:
          word += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
          break;
        case Class::space:
          end_word(word, ids);
          break;
        case Class::punctuation:
          end_word(word, ids);
          word += c;
          end_word(word, ids);
          break;
        case Class::dropped:
          break;
      }
    }
    end_word(word, ids);
  }

  void end_chunk(Scratch& scratch, std::vector<Token>& ids) const {
    if (is_ascii(scratch.chunk)) {
      encode_ascii(scratch.chunk, scratch, ids);
    } else {
      encode_unicode(scratch, ids);
    }
    scratch.chunk.clear();
  }

  /// One cleaned chunk without white space: lower-cased (in it, for the final sigma), decomposed, stripped of Mn, split at punctuation.
  void encode_unicode(Scratch& scratch, std::vector<Token>& ids) const {
    scratch.original.clear();
    for (std::size_t at = 0; at < scratch.chunk.size();) {
      const char32_t c = decode(scratch.chunk, at);
      if (c < 0x10000) {
        scratch.original += static_cast<char16_t>(c);
      } else {
        scratch.original += static_cast<char16_t>(U16_LEAD(c));
        scratch.original += static_cast<char16_t>(U16_TRAIL(c));
      }
    }
    transform(scratch.original, scratch.lowered, [](const std::u16string& from, char16_t* to, int capacity, UErrorCode& status) {
      return u_strToLower(to, capacity, from.data(), narrow_to_int(std::ssize(from), "the length of a word"), "", &status);
    });
    transform(scratch.lowered, scratch.decomposed, [this](const std::u16string& from, char16_t* to, int capacity, UErrorCode& status) {
      return unorm2_normalize(decomposition_, from.data(), narrow_to_int(std::ssize(from), "the length of a word"), to, capacity, &status);
    });
    std::string& word = scratch.word;
    const std::u16string& text = scratch.decomposed;
    for (std::size_t k = 0; k < text.size(); ++k) {
      char32_t c = text[k];
      if (U16_IS_LEAD(c) && k + 1 < text.size()) {
        ++k;
        c = static_cast<char32_t>(U16_GET_SUPPLEMENTARY(c, text[k]));
      }
      if (c >= 128 && in_categories(c, U_GC_MN_MASK)) continue;
      const bool space = is_space(c);
      const bool punctuation = c < 128 ? ascii_classes[c] == Class::punctuation : in_categories(c, U_GC_P_MASK);
      if (space || punctuation) end_word(word, ids);
      if (space) continue;
      append_utf8(word, c);
      if (punctuation) end_word(word, ids);
    }
    end_word(word, ids);
  }

  /// Runs one of ICU's functions, which ask for more room where theirs does not do.
  template <class Function>
  static void transform(const std::u16string& from, std::u16string& to, Function function) {
    to.resize(2 * from.size() + 16);
    UErrorCode status = U_ZERO_ERROR;
    int needed = function(from, to.data(), narrow_to_int(std::ssize(to), "the length of a word"), status);
    if (status == U_BUFFER_OVERFLOW_ERROR) {
      to.resize(static_cast<std::size_t>(needed));
      status = U_ZERO_ERROR;
      needed = function(from, to.data(), needed, status);
    }
    if (U_FAILURE(status) != 0)
      throw Error(fmt::format("ICU cannot convert a word of {} UTF-16 units: {}", from.size(), u_errorName(status)));
    to.resize(static_cast<std::size_t>(needed));
  }

  /// Greedy longest match first; the word is emptied.
  void end_word(std::string& word, std::vector<Token>& ids) const {
    if (word.empty()) return;
    match(word, ids);
    word.clear();
  }

  void match(std::string_view word, std::vector<Token>& ids) const {
    const auto continues = [&](std::size_t k) { return k < word.size() && (static_cast<unsigned char>(word[k]) & 0xC0) == 0x80; };
    if (word.size() > longest_word) {
      std::size_t code_points = 0;
      for (std::size_t k = 0; k < word.size(); ++k) code_points += continues(k) ? 0 : 1;
      if (code_points > longest_word) return ids.push_back(unknown_);
    }
    const std::size_t first = ids.size();
    for (std::size_t begin = 0; begin < word.size();) {
      const TokenMap& map = begin == 0 ? beginnings_ : continuations_;
      std::size_t end = std::min(word.size(), begin + map.longest());
      Token id = -1;
      for (; end > begin; --end) {
        if (continues(end)) continue;
        id = map.find(word.substr(begin, end - begin));
        if (id >= 0) break;
      }
      if (id < 0) {
        ids.resize(first);
        return ids.push_back(unknown_);
      }
      ids.push_back(id);
      begin = end;
    }
  }

  TokenMap beginnings_, continuations_;
  Token unknown_;
  Index vocab_size_;
  const UNormalizer2* decomposition_ = nullptr;
};

}  // namespace

std::unique_ptr<Tokenizer> wordpiece_tokenizer(const std::vector<std::string>& vocabulary) {
  return std::make_unique<WordpieceTokenizer>(vocabulary);
}

}  // namespace posgeom
