#include <fmt/format.h>

#include <array>
#include <utility>

#include "posgeom/corpus/corpus.hpp"
#include "posgeom/corpus/tokenizer.hpp"
#include "posgeom/error.hpp"

namespace posgeom {
namespace {

constexpr std::array formats{
    std::pair{Format::automatic, std::string_view("auto")}, std::pair{Format::text, std::string_view("text")},
    std::pair{Format::tsv, std::string_view("tsv")},        std::pair{Format::jsonl, std::string_view("jsonl")},
    std::pair{Format::fasta, std::string_view("fasta")},    std::pair{Format::megatron, std::string_view("megatron")},
    std::pair{Format::raw16, std::string_view("raw16")},    std::pair{Format::raw32, std::string_view("raw32")},
    std::pair{Format::llmc, std::string_view("llmc")},      std::pair{Format::datatrove, std::string_view("datatrove")},
    std::pair{Format::npy, std::string_view("npy")},        std::pair{Format::infinigram, std::string_view("infinigram")},
    std::pair{Format::hdf5, std::string_view("hdf5")}};
constexpr std::array tokenizers{std::pair{TokenizerKind::whitespace, std::string_view("whitespace")},
                                std::pair{TokenizerKind::wordpiece, std::string_view("wordpiece")},
                                std::pair{TokenizerKind::sentencepiece, std::string_view("sentencepiece")},
                                std::pair{TokenizerKind::bytes, std::string_view("bytes")},
                                std::pair{TokenizerKind::chars, std::string_view("chars")}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [entry, name] : table) {
    if (entry == value) return name;
  }
  return "unknown";
}

template <class Table>
auto value_in(const Table& table, std::string_view name, std::string_view option) {
  std::string known;
  for (const auto& [value, entry] : table) {
    if (entry == name) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry);
  }
  throw Error(fmt::format("{} {} is not known; choose one of {}", option, name, known), ErrorKind::usage);
}

}  // namespace

std::string_view name_of(Format format) { return name_in(formats, format); }
Format format_named(std::string_view name) { return value_in(formats, name, "--format"); }
std::string_view name_of(TokenizerKind kind) { return name_in(tokenizers, kind); }
TokenizerKind tokenizer_named(std::string_view name) { return value_in(tokenizers, name, "--tokenizer"); }

}  // namespace posgeom
