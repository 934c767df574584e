#include "corpus/token_refusals.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

TEST_F(TokenErrors, Options) {
  const std::string path = folder_.write("a.npy", npy_file({1, 2}, "<u2", "(2,)")), text = folder_.write("a.txt", "a\n");
  const auto usage = [&](const std::function<void(CorpusOptions&)>& change, std::initializer_list<std::string_view> parts) {
    CorpusOptions options = token_options({path}, 10);
    change(options);
    expect_contains(error_of_opening(options, ErrorKind::usage), parts);
  };
  usage([](CorpusOptions& o) { o.vocab_size = 0; }, {"a.npy", "npy", "--vocab-size"});
  usage([](CorpusOptions& o) { o.vocab_size = -1; }, {"--vocab-size -1"});
  usage([](CorpusOptions& o) { o.vocab_size = Index{1} << 31; }, {"--vocab-size 2147483648"});
  usage([](CorpusOptions& o) { o.tokenizer_given = true; }, {"--tokenizer whitespace", "a.npy", "npy"});
  usage([](CorpusOptions& o) { o.column = "text"; }, {"--column text", "a.npy"});
  usage([](CorpusOptions& o) { o.header = true; }, {"--header", "a.npy"});
  usage([](CorpusOptions& o) { o.split_column = "x"; }, {"--split-by column:x", "a.npy"});
  usage([&](CorpusOptions& o) { o.vocab = text; }, {"--vocab ", "--vocab-size"});
  usage([](CorpusOptions& o) { o.separator = given_separator(-2); }, {"--separator -2"});
  usage([](CorpusOptions& o) { o.separator = given_separator(Index{1} << 32); }, {"--separator 4294967296"});
  usage([](CorpusOptions& o) { o.ignored_ids = {1, -5}; }, {"--ignore-ids -5"});
  usage(
      [](CorpusOptions& o) {
        o.separator = {Separator::Choice::none, -1};
        o.keep_separator = true;
      },
      {"--keep-separator", "none"});
  usage(
      [](CorpusOptions& o) {
        o.separator = given_separator(10);
        o.keep_separator = true;
      },
      {"--keep-separator", "separator 10", "V is 10"});
  CorpusOptions options;
  options.paths = {text};
  options.separator = given_separator(1);
  expect_contains(error_of_opening(options), {"--separator", "a.txt", "text"});
  options.separator = {};
  options.keep_separator = true;
  expect_contains(error_of_opening(options), {"--keep-separator", "a.txt"});
  options = token_options({path, folder_.write("b.bin", llmc_file({1}, 2))}, 10);
  expect_contains(error_of_opening(options), {"mixes formats", "a.npy", "npy", "b.bin", "llmc"});
}

/// The first bad id, wherever it is, of every width and sign.
TEST_F(TokenErrors, IdsOutOfRange) {
  const Documents documents{{1, 2}, {}, {3, 4, 5, 99, 100, 101}, {7}};
  const auto path_of = [&](int type, int width) {
    folder_.write("m.idx", megatron_index(documents, type, width));
    return folder_.write("m.bin", id_bytes(joined(documents), width));
  };
  struct Kind {
    int type, width;
  };
  for (const Kind kind : {Kind{1, 1}, {2, 1}, {3, 2}, {4, 4}, {5, 8}, {8, 2}}) {
    for (const Index unit_bytes : {Index{1}, Index{24}, Index{0}}) {
      for (const bool stream : {false, true}) {
        CorpusOptions options = token_options({path_of(kind.type, kind.width)}, 100);
        options.unit_bytes = unit_bytes;
        expect_contains(error_of_reading(options, stream),
                        {"m.bin", "id 100 at token 6", "document 2, position 4", "V = 100", "--vocab-size"});
        options.vocab_size = 102;
        const Corpus corpus = open_corpus(world(), options);
        EXPECT_EQ(read_units(corpus, 0, {}).documents, documents);
      }
    }
  }
  for (const Kind kind : {Kind{2, 1}, {3, 2}, {4, 4}, {5, 8}}) {
    const Documents negative{{1}, {2, -1}};
    folder_.write("n.idx", megatron_index(negative, kind.type, kind.width));
    const std::string path = folder_.write("n.bin", id_bytes(joined(negative), kind.width));
    expect_contains(error_of_reading(token_options({path}, 2000000000)),
                    {"n.bin", "id -1 at token 2", "document 1, position 1", "negative"});
  }
  // 2^31 and 2^32 + 1 must not wrap into the range, nor a 64-bit -1 be taken for a separator of all ones.
  for (const Index large : {Index{1} << 31, (Index{1} << 32) + 1, Index{1} << 62, Index{-1}}) {
    CorpusOptions options = token_options({folder_.write("l.npy", npy_file({1, large}, "<i8", "(2,)"))}, 100);
    expect_contains(error_of_reading(options), {"id " + std::to_string(large), "token 1"});
    options.separator = given_separator(4294967295);
    expect_contains(error_of_reading(options), {"id " + std::to_string(large), "token 1"});
  }
}

TEST_F(TokenErrors, IdsOutOfRangeAmongSeparatorsAndIgnoredOnes) {
  CorpusOptions options = token_options({folder_.write("a", id_bytes({50, 9, 1, 60, 50, 50, 2, 3, 60, 4, 11, 5}, 2))}, 10, Format::raw16);
  options.separator = given_separator(50);
  options.ignored_ids = {60};
  for (const Index bad : {9, 8}) {
    options.vocab_size = bad == 9 ? 10 : 9;
    for (const Index unit_bytes : {2, 8, 0}) {
      options.unit_bytes = unit_bytes;
      expect_contains(error_of_reading(options),
                      bad == 9 ? std::initializer_list<std::string_view>{"id 11 at token 10", "document 3, position 3"}
                               : std::initializer_list<std::string_view>{"id 9 at token 1", "document 1, position 0"});
    }
  }
  options.max_tokens = 1;
  options.vocab_size = 10;
  options.unit_bytes = 0;
  expect_contains(error_of_reading(options), {"id 11 at token 10"});
}

TEST_F(TokenErrors, TheLikelyWidthIsNamed) {
  Ids many(20000, 5);
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<Index>(k % 3 + (k % 5 == 0 ? 65536 : 1));
  CorpusOptions options = token_options({folder_.write("a", id_bytes(many, 4))}, 65540, Format::raw16);
  options.vocab_size = 70000;
  expect_contains(error_of_opening(options), {"every second one", "a small number", "--format raw32"});
  // 16-bit ids below the same V, whose second ones are of any size, are taken as they are.
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<Index>(k * 7 % 60000);
  options.paths = {folder_.write("b", id_bytes(many, 2))};
  EXPECT_NO_THROW(open_corpus(world(), options));
  std::fill(many.begin(), many.end(), 51);
  many.back() = 99;
  std::string swapped = id_bytes(many, 2);
  for (std::size_t k = 0; k < swapped.size(); k += 2) std::swap(swapped[k], swapped[k + 1]);
  expect_contains(error_of_reading(token_options({folder_.write("a", swapped)}, 100, Format::raw16)),
                  {"id 13056 at token 0", "big-endian"});
}

TEST_F(TokenErrors, AFileThatChangesMeanwhile) {
  const Documents documents{{1, 2}, {3, 4, 5}};
  folder_.write("m.idx", megatron_index(documents, 8, 2));
  const std::string path = folder_.write("m.bin", id_bytes(joined(documents), 2));
  const Corpus corpus = open_corpus(world(), token_options({path}, 10));
  for (const std::string& bytes : {id_bytes({1, 2, 3, 4}, 2), id_bytes({1, 2, 3, 4, 5, 6}, 2)}) {
    folder_.write("m.bin", bytes);
    expect_contains(testing_support::error_of([&] { open_token_units(corpus, 0, {}); }), {"m.bin", "had 10", "do not change"});
  }
  folder_.write("m.bin", id_bytes(joined(documents), 2));
  folder_.write("m.idx", megatron_index(documents, 8, 2).substr(0, 40));
  expect_contains(testing_support::error_of([&] { open_token_units(corpus, 0, {}); }), {"m.idx"});
  folder_.write("m.idx", megatron_index({{1, 2}, {3, 4}, {5}}, 8, 2));
  expect_contains(testing_support::error_of([&] { open_token_units(corpus, 0, {}); }), {"m.idx", "4 document boundaries", "had 3"});

  folder_.write("m.idx", megatron_index(documents, 8, 2));
  const auto source = open_token_units(corpus, 0, {});
  ASSERT_TRUE(source->open(0));
  std::filesystem::resize_file(path, 6);
  TokenBatch batch;
  expect_contains(testing_support::error_of([&] { source->next(batch); }), {"m.bin", "ends at byte 6", "do not change"});
}

}  // namespace
}  // namespace posgeom
