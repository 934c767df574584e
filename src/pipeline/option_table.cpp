#include "posgeom/pipeline/option_table.hpp"

#include <fmt/format.h>

#include "posgeom/error.hpp"

namespace posgeom {

const std::vector<Option>& option_table() {
  static const std::vector<Option> table = {
      {"corpus", "corpus", 0, "", false, "file, directory or glob; repeatable"},
      {"corpus", "format", 0, "auto", false,
       "auto, text, tsv, jsonl, fasta (.gz, .xz, .zst, .bz2 are read as they are); megatron, raw16, raw32, llmc, datatrove, npy, "
       "infinigram, "
       "hdf5 (FILE.h5:/dataset)"},
      {"corpus", "column", 0, "0", false, "tsv: the text's column, by name (needs --header) or number from 0; jsonl: the field (0: text)"},
      {"corpus", "header", 0, "off", true, "tsv: the first line names the columns"},
      {"corpus", "tokenizer", 0, "auto", false,
       "wordpiece, sentencepiece, whitespace, bytes, chars; auto: whitespace for text, none for token files"},
      {"corpus", "vocab", 0, "", false,
       "vocabulary, one entry a line, or SentencePiece model; without it whitespace and chars build theirs"},
      {"corpus", "vocab-size", 0, "0", false, "V of token files (ids are 0 .. V-1); text: at least the tokenizer's; 0: not given"},
      {"corpus", "separator", 0, "auto", false, "token files: the id between documents, none, or auto (the format's own rule)"},
      {"corpus", "keep-separator", 0, "off", true, "the separator takes a position, as an ordinary token"},
      {"corpus", "ignore-ids", 0, "none", false, "ids a,b,... removed before positions are assigned"},
      {"corpus", "max-tokens", 0, "0", false, "the first so many tokens of each document (0: all)"},
      {"sequences", "sequences", 0, "document", false,
       "document: the first n tokens of each; chunk: windows of n tokens; packed: the corpus as one stream, cut every n tokens"},
      {"sequences", "lengths", 0, "", false, "sequence lengths n1,n2,... (required but for collect, inspect and tokenize)"},
      {"sequences", "last-block", 0, "keep", false, "packed: keep or drop the last block where it is shorter than n"},
      {"positions", "unreached", 0, "drop", false, "positions without tokens: drop, uniform, zero"},
      {"positions", "min-count", 0, "1", false, "positions with fewer tokens are treated as unreached"},
      {"positions", "rarefy-geometry", 0, "off", false,
       "off, or the number of tokens that every position is brought to, drawn without replacement, before distances are formed; auto: the "
       "smallest total of at least 1 % of the largest. Positions with fewer count as unreached. Unequal totals alone look like distance"},
      {"positions", "hellinger-range", 0, "sqrt2", false, "sqrt2: H in [0, sqrt 2]; 1: H divided by sqrt 2"},
      {"noise", "noise", 0, "all", false,
       "none; split: random halves of the documents, for what stands above sampling noise; shuffle: the corpus with each sequence's tokens "
       "shuffled, for what "
       "stands above order-free text; all: "
       "both"},
      {"noise", "replicates", 0, "99", false,
       "replicates of the global null, whose largest eigenvalues give the threshold of the signal rank"},
      {"noise", "alpha", 0, "0.05", false, "rate at which a corpus without any order may get a signal rank above 0"},
      {"noise", "rarefy", 0, "auto", false,
       "tokens that each position and half is brought to; auto: the smallest half total of the positions with at least 1 % of the largest"},
      {"noise", "split-by", 0, "document", false, "what goes to one half together: document, block:N (N successive ones), column:NAME"},
      {"bootstrap", "bootstrap", 0, "0", false,
       "replicates of resampled documents, for intervals of rank, trace, stress and of the order of encodings; at least 2/alpha - 1 (39 at "
       "0.05); not with --rarefy-geometry; 0: none"},
      {"bootstrap", "bootstrap-alpha", 0, "0.05", false, "the bootstrap's intervals hold all but this share of the replicates"},
      {"geometry", "solver", 0, "auto", false,
       "auto (the fastest by a cost model), lapack (one rank), pdsyevd, pdsyevr, elpa, dual (the V x V problem), krylov (leading pairs "
       "only)"},
      {"geometry", "components", 0, "auto", false, "columns of /encoding: a number, all, or auto (the largest of --dims)"},
      {"geometry", "spectrum", 0, "whole", false,
       "whole: all eigenvalues, and so the rank; leading: those of /encoding suffice, which lets auto take krylov"},
      {"geometry", "block-size", 0, "64", false, "block size of distributed matrices"},
      {"geometry", "grid", 0, "auto", false, "process grid RxC; auto: nearest to a square"},
      {"geometry", "threads", 0, "auto", false, "BLAS threads of each rank; auto: the node's cores shared by its ranks"},
      {"geometry", "memory", 0, "auto", false,
       "bytes a rank may use beside the program's own 48 MiB (K, M, G, T allowed); auto: its share of the node's memory"},
      {"geometry", "factored", 0, "none", false,
       "none, or a relative tolerance in [0, 1): the geometry file also holds /factored/a and b with encoding = A B' to it, of the least "
       "rank"},
      {"geometry", "write-hellinger", 0, "off", true, "store H in the geometry file"},
      {"stress", "dims", 0, "auto", false, "dimensions d1,d2,..., all, or auto (powers of two up to the rank)"},
      {"stress", "encodings", 0, "mds,sinusoidal,rope,alibi,linear,random", false,
       "mds, smacof (lowest stress, from mds), signal (what stands above noise), sinusoidal, rope, alibi, linear, random, t5, kerple-log, "
       "kerple-power, fire; "
       "[NAME=]file:PATH[:DATASET][[FIRST:END]] (.npy, HDF5 or safetensors; rows FIRST .. END-1 of a table that does not begin at position "
       "0; HDF5 with a leading axis of steps: a series NAME.step000100, ...); NAME=files:PATTERN[:DATASET] (a series, one file a step); "
       "NAME=projected:ENCODING:wq=PATH[:DATASET][:wk=PATH[:DATASET]][:heads=H] (NAME.q = p W_Q and NAME.qk = p W_Q W_K' of a layer, and "
       "of "
       "each head, weights [out, in])"},
      {"stress", "rope-base", 0, "10000", false, "base of the rotary schedule, above 1"},
      {"stress", "rope-head-dim", 0, "64", false, "head dimension that the rotary schedule is tiled from"},
      {"stress", "rope-scaling", 0, "none", false, "none, linear:F, ntk:F or yarn:F: for contexts F times longer than in training"},
      {"stress", "rope-original-length", 0, "0", false, "yarn: context length of the training"},
      {"stress", "alibi-heads", 0, "12", false, "heads of ALiBi"},
      {"stress", "random-kind", 0, "normal", false, "normal N(0,1), uniform U(-1,1), bert N(0,0.02^2)"},
      {"stress", "smacof-iterations", 0, "1000", false, "smacof: passes over all pairs at each d, at most"},
      {"stress", "smacof-tolerance", 0, "1e-7", false, "smacof: stop where ten passes lower the stress by a smaller share, below 1"},
      {"stress", "smacof-weights", 0, "none", false,
       "smacof: none (all pairs of positions weigh the same) or tokens (the square root of the product of their token counts, so that "
       "thinly counted positions bend the rest less)"},
      {"stress", "write-encodings", 0, "off", true, "store every encoding at every d in the stress file"},
      {"output", "out", 'o', "posgeom-out", false, "output directory"},
      {"output", "seed", 0, "1", false, "seed of everything random"},
      {"output", "force", 0, "off", true, "replace results that are there"},
      {"output", "resume", 0, "on", true, "reuse finished stages of the same corpus and options (--resume=off: refuse)"},
      {"output", "partial", 0, "off", true, "collect: all stress files that are there, even where one of --lengths is missing"},
      {"output", "keep-every", 0, "600", false,
       "count: seconds between kept states, from which a stopped count goes on (0: at a signal only)"},
      {"output", "progress", 0, "auto", false, "auto, bar, log (a line a minute), none"},
      {"output", "preset", 0, "none", false,
       "none, paper (= unreached uniform, rope-head-dim 64, alibi-heads 12, random-kind normal, noise none)"},
      {"plan", "ranks", 0, "0", false, "plan: for so many ranks (0: those it runs on)"},
      {"plan", "tokens", 0, "0", false,
       "plan: tokens of a corpus that is not there yet (with --vocab-size or --vocab), or that --corpus is a sample of; 0: those of "
       "--corpus"},
      {"plan", "documents", 0, "0", false,
       "plan: its documents, which bound the tokens at a position; with --tokens, without --corpus; 0: not known"},
      {"plan", "ranks-per-node", 0, "0", false,
       "plan: so many ranks a node, which hold counts and distributions once together, and without --memory share the memory of a node "
       "like this; "
       "0: as if each rank had a node, but for that memory"},
      {"plan", "calibrate", 0, "off", true, "plan: measure this machine for two seconds first, for the times"},
      {"synth", "synth-kind", 0, "planted", false,
       "planted: components of disjoint tokens, rank known; drift: components share all tokens; stationary: no position differs"},
      {"synth", "synth-positions", 0, "64", false, "positions, and the longest document"},
      {"synth", "synth-vocab", 0, "3000", false, "V"},
      {"synth", "synth-documents", 0, "20000", false, "documents"},
      {"synth", "synth-lengths", 0, "lognormal:20:0.8", false,
       "tokens of a document: fixed:L, uniform:A:B, geometric:MEAN, lognormal:MEDIAN:SIGMA"},
      {"synth", "synth-components", 0, "3", false, "planted and drift: so many components with smooth weights along the positions"},
      {"synth", "synth-overlap", 0, "0", false, "share of every component that is one common distribution, in [0, 1)"},
      {"synth", "synth-zipf", 0, "1", false, "exponent of Zipf's law within a component"},
      {"tokenize", "token-file", 0, "megatron", false, "megatron (.bin and .idx) or raw (.bin)"},
      {"tokenize", "end-of-text", 0, "none", false, "raw: the id written after each document, or none"},
      {"tokenize", "name", 0, "tokens", false, "name of the files in --out, without .bin"},
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
