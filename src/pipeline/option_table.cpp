#include "posgeom/pipeline/option_table.hpp"

#include <fmt/format.h>

#include "posgeom/error.hpp"

namespace posgeom {

const std::vector<Option>& option_table() {
  static const std::vector<Option> table = {
      {"corpus", "corpus", 0, "", false, "file, directory or glob; repeatable"},
      {"corpus", "format", 0, "auto", false, "auto, text, tsv, fasta; .gz, .xz, .zst and .bz2 are read as they are"},
      {"corpus", "column", 0, "0", false, "tsv: the text's column, by name (needs --header) or number from 0"},
      {"corpus", "header", 0, "off", true, "tsv: the first line names the columns"},
      {"corpus", "tokenizer", 0, "whitespace", false, "wordpiece, whitespace, bytes, chars"},
      {"corpus", "vocab", 0, "", false, "vocabulary, one entry a line; without it whitespace and chars build theirs"},
      {"corpus", "max-tokens", 0, "0", false, "the first so many tokens of each document (0: all)"},
      {"sequences", "sequences", 0, "document", false, "document: a token's position is its index in its document"},
      {"sequences", "lengths", 0, "", false, "sequence lengths n1,n2,... (required but for collect and inspect)"},
      {"positions", "unreached", 0, "drop", false, "positions without tokens: drop, uniform, zero"},
      {"positions", "min-count", 0, "1", false, "positions with fewer tokens are treated as unreached"},
      {"positions", "hellinger-range", 0, "sqrt2", false, "sqrt2: H in [0, sqrt 2]; 1: H divided by sqrt 2"},
      {"noise", "noise", 0, "none", false, "none (the noise analysis is not in this version)"},
      {"noise", "seed", 0, "1", false, "seed of everything random"},
      {"geometry", "solver", 0, "auto", false, "auto, pdsyevd, dual (the V x V problem)"},
      {"geometry", "components", 0, "auto", false, "columns of /encoding: a number, all, or auto (the largest of --dims)"},
      {"geometry", "block-size", 0, "64", false, "block size of distributed matrices"},
      {"geometry", "grid", 0, "auto", false, "process grid RxC; auto: nearest to a square"},
      {"geometry", "memory", 0, "auto", false, "bytes a rank may use (K, M, G, T allowed); auto: its share of the node's memory"},
      {"geometry", "write-hellinger", 0, "off", true, "store H in the geometry file"},
      {"stress", "dims", 0, "auto", false, "dimensions d1,d2,..., all, or auto (powers of two up to the rank)"},
      {"stress", "encodings", 0, "mds,sinusoidal,rope,alibi,linear,random", false, "names, or [NAME=]file:PATH[:DATASET] (.npy or HDF5)"},
      {"stress", "rope-base", 0, "10000", false, "base of the rotary schedule"},
      {"stress", "rope-head-dim", 0, "64", false, "head dimension that the rotary schedule is tiled from"},
      {"stress", "alibi-heads", 0, "12", false, "heads of ALiBi"},
      {"stress", "random-kind", 0, "normal", false, "normal N(0,1), uniform U(-1,1), bert N(0,0.02^2)"},
      {"stress", "write-encodings", 0, "off", true, "store every encoding at every d in the stress file"},
      {"output", "out", 'o', "posgeom-out", false, "output directory"},
      {"output", "force", 0, "off", true, "replace results that are there"},
      {"output", "resume", 0, "on", true, "reuse finished stages of the same corpus and options (--resume=off: refuse)"},
      {"output", "partial", 0, "off", true, "collect: all stress files that are there, even where one of --lengths is missing"},
      {"output", "progress", 0, "auto", false, "auto, bar, log (a line a minute), none"},
      {"output", "preset", 0, "none", false,
       "none, paper (= unreached uniform, rope-head-dim 64, alibi-heads 12, random-kind normal, noise none)"},
      {"plan", "ranks", 0, "0", false, "plan: for so many ranks (0: those it runs on)"},
      {"plan", "vocab-size", 0, "0", false, "plan: V where no vocabulary or corpus tells (0: unknown)"},
  };
  return table;
}

OptionValues preset_values(std::string_view name) {
  if (name == "none") return {};
  if (name == "paper") {
    return {
        {"unreached", {"uniform"}}, {"rope-head-dim", {"64"}}, {"alibi-heads", {"12"}}, {"random-kind", {"normal"}}, {"noise", {"none"}}};
  }
  throw Error(fmt::format("option --preset: found '{}', expected one of none, paper", name), ErrorKind::usage);
}

std::string to_ini(const OptionValues& values) {
  std::string text;
  for (const Option& option : option_table()) {
    const auto found = values.find(option.name);
    if (found == values.end()) continue;
    for (const std::string& value : found->second) text += fmt::format("{} = {}\n", option.name, value);
  }
  return text;
}

}  // namespace posgeom
