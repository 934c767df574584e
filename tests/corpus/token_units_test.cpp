#include <gtest/gtest.h>

#include <random>

#include "support/scale.hpp"
#include "token_reading.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

/// Lengths 0 at the start, in the middle and at the end; none but those; one long one; nothing at all.
const std::vector<Documents>& families() {
  static const std::vector<Documents> all = [] {
    std::vector<Documents> families{{},
                                    {{}},
                                    {{}, {}, {}},
                                    {{7}},
                                    {{}, {1, 2, 3}, {4}, {}, {}, {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {16}, {}},
                                    {{1, 2}, {3, 4}, {5, 6}, {7, 8}}};
    Ids long_one(2500);
    std::iota(long_one.begin(), long_one.end(), Index{0});
    for (Index& id : long_one) id = id * 31 % 100;
    families.push_back({{1}, long_one, {}, {2}, long_one});
    return families;
  }();
  return all;
}

TEST(TokenUnits, Megatron) {
  const TemporaryFolder folder;
  struct Kind {
    int type, width;
  };
  for (const Kind kind : {Kind{1, 1}, {2, 1}, {3, 2}, {4, 4}, {5, 8}, {8, 2}}) {
    for (const Documents& documents : families()) {
      folder.write("a.idx", megatron_index(documents, kind.type, kind.width));
      const std::string path = folder.write("a.bin", id_bytes(joined(documents), kind.width));
      expect_documents(token_options({path}, 100), kind.width, documents, "type " + std::to_string(kind.type));
    }
  }
}

TEST(TokenUnits, MegatronDocumentsOfSeveralSequences) {
  const TemporaryFolder folder;
  const Documents sequences{{}, {1, 2}, {}, {3}, {4, 5, 6}, {}, {7}, {}};
  const Ids begins{0, 0, 2, 4, 4, 6, 8};  // the second, fifth and the last are empty
  const std::string index = megatron_index(sequences, begins, 8, 2);
  folder.write("a.bin", id_bytes(joined(sequences), 2));
  folder.write("a.idx", index);
  // From boundary to boundary: 0-0, 0-2, 2-4, 4-4, 4-6, 6-8, 8-8.
  const Documents expected{{}, {1, 2}, {3}, {}, {4, 5, 6}, {7}, {}};
  expect_documents(token_options({folder / "a"}, 100), 2, expected, "by prefix");
  folder.write("a.idx", index + std::string(8, '\0'));
  expect_documents(token_options({folder / "a.idx"}, 100), 2, expected, "with modes, by the index");
}

TEST(TokenUnits, Datatrove) {
  const TemporaryFolder folder;
  for (const int width : {2, 4}) {
    for (const Documents& documents : families()) {
      const std::string path = folder.write("a.ds", id_bytes(joined(documents), width));
      folder.write("a.ds.index", ends_of(documents));
      folder.write("a.ds.metadata", "gpt2|" + std::to_string(width) + "\n100\n");
      expect_documents(token_options({path}, 100), width, documents, "width " + std::to_string(width));
    }
  }
}

TEST(TokenUnits, Infinigram) {
  const TemporaryFolder folder;
  for (const int width : {2, 4}) {
    for (const Documents& documents : families()) {
      Ids ids;
      std::string offsets;
      for (const Ids& document : documents) {
        put(offsets, std::ssize(ids) * width);
        ids.push_back(width == 2 ? 65535 : 4294967295);
        ids.insert(ids.end(), document.begin(), document.end());
      }
      folder.write("offset.0", offsets);
      const std::string path = folder.write("tokenized.0", id_bytes(ids, width));
      CorpusOptions options = token_options({path}, 100);
      expect_documents(options, width, documents, "width " + std::to_string(width));
      options.keep_separator = true;
      const Corpus corpus = open_corpus(world(), options);
      EXPECT_EQ(corpus.separator, documents.empty() ? 65535 : width == 2 ? 65535 : 4294967295);
      EXPECT_EQ(read_units(corpus, 0, {}).documents, documents) << "its separator is no token even where separators are kept";
    }
  }
}

TEST(TokenUnits, ArraysOfRows) {
  const TemporaryFolder folder;
  for (const std::string type : {"|u1", "<u2", "<i2", "<i4", "<u4", "<i8", "<u8", "|i1"}) {
    const Ids ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const int width = type.back() - '0';
    const auto path = folder.write("a.npy", npy_file(ids, type, "(3, 4)"));
    expect_documents(token_options({path}, 100), width, {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, type);
    expect_documents(token_options({folder.write("b.npy", npy_file(ids, type, "(12,)"))}, 100), width, {ids}, type);
    expect_documents(token_options({folder.write("c.npy", npy_file({}, type, "(2, 0)"))}, 100), width, {{}, {}}, type);
    expect_documents(token_options({folder.write("d.npy", npy_file({}, type, "(0, 3)"))}, 100), width, {}, type);
    expect_documents(token_options({folder.write("e.npy", npy_file({}, type, "(0,)"))}, 100), width, {}, type);
  }
  expect_documents(token_options({folder.write("f.npy", id_bytes({1, 2, 3}, 2))}, 100), 2, {{1, 2, 3}}, "without header");
}

TEST(TokenUnits, Hdf5) {
  const TemporaryFolder folder;
  for (const hsize_t chunk : {0, 1, 3, 1000}) {
    if (testing_support::sanitized && chunk % 3 != 0) continue;
    for (const int width : {1, 2, 4, 8}) {
      for (const bool is_signed : {false, true}) {
        const std::string path = folder / "a.h5";
        std::filesystem::remove(path);
        Index number = 0;
        for (const Documents& documents : families()) {
          const std::string group = "/g" + std::to_string(number++);
          const Ids ids = joined(documents);
          const bool is_long = ids.size() > 100;
          if (is_long && (chunk == 1 || width != 2)) continue;  // thousands of chunks, and of reads, show nothing more
          Ids begins{0};
          for (const Ids& document : documents) begins.push_back(begins.back() + std::ssize(document));
          write_dataset(path, group + "/ids", ids, width, is_signed, {ids.size()}, chunk, is_signed);
          write_dataset(path, group + "/offsets", begins, 8, is_signed, {begins.size()}, chunk);
          begins.pop_back();
          write_dataset(path, group + "/begins", begins, 4, !is_signed, {begins.size()}, chunk);
          expect_documents(token_options({path + ":" + group + "/ids:" + group + "/offsets"}, 100), width, documents, "CSR offsets",
                           is_long ? std::vector<Index>{999} : std::vector<Index>{1, 3, 1000});
          if (!documents.empty() && !documents.back().empty()) {
            expect_documents(token_options({path + ":" + group + "/ids:" + group + "/begins"}, 100), width, documents, "begins alone",
                             {is_long ? 1000 : 2});
          }
          expect_documents(token_options({path + ":" + group + "/ids"}, 100), width, ids.empty() ? Documents{} : Documents{ids},
                           "one document", {is_long ? 1001 : 2});
        }
        write_dataset(path, "/rows", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, width, is_signed, {2, 5}, chunk);
        expect_documents(token_options({path + ":/rows"}, 100), width, {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, "rows");
      }
    }
  }
}

TEST(TokenUnits, SeparatorsFirstLastDoubledAndAbsent) {
  const TemporaryFolder folder;
  const Index end = 50256;
  for (const Ids& ids :
       {Ids{}, Ids{end}, Ids{end, end}, Ids{1, 2, end}, Ids{1, 2, end, 3}, Ids{end, 1, end, end, 2, 3, 4, end, end}, Ids{1, 2, 3}}) {
    for (const bool keep : {false, true}) {
      const auto expected = [&](bool begins, Index separator) { return split({ids}, false, {separator, begins, keep, {}, 0}); };
      CorpusOptions options = token_options({folder.write("a.bin", id_bytes(ids, 2))}, 50257, Format::raw16);
      options.keep_separator = keep;
      expect_documents(options, 2, expected(false, end), "raw16");
      options.paths = {folder.write("b.bin", id_bytes(ids, 4))};
      options.format = Format::raw32;
      expect_documents(options, 4, expected(false, end), "raw32");
      options.paths = {folder.write("c.bin", llmc_file(ids, 2))};
      options.format = Format::automatic;
      expect_documents(options, 2, expected(true, end), "llmc");
      options.vocab_size = 0;
      expect_documents(options, 2, expected(true, end), "llmc knows V");
    }
  }
  // The rule by hand, once: an ending separator last opens nothing, a beginning one does.
  EXPECT_EQ(split({{end, 1, end}}, false, {end, false, false, {}, 0}), (Documents{{}, {1}}));
  EXPECT_EQ(split({{5, end, 1, end}}, false, {end, true, true, {}, 0}), (Documents{{5}, {end, 1}, {end}}));
}

/// Any stream of few ids, any index, any rule: as the one-id-after-the-other reference says.
TEST(TokenUnits, AnyStreamAndRule) {
  const TemporaryFolder folder;
  std::mt19937 random(5);
  const auto below = [&](Index limit) { return static_cast<Index>(random() % static_cast<std::uint64_t>(limit)); };
  for (int round = 0; round < 150 && !testing::Test::HasFailure(); ++round) {
    Documents indexed(static_cast<std::size_t>(below(6)));
    for (Ids& document : indexed) {
      document.resize(static_cast<std::size_t>(below(2) * below(25)));
      for (Index& id : document) id = below(5);
    }
    Splitting rule;
    rule.separator = below(3) == 0 ? -1 : 0;
    rule.keep = rule.separator >= 0 && below(2) == 0;
    if (below(3) == 0) rule.ignored = {3, 1};
    if (below(3) == 0) rule.max_tokens = 1 + below(6);
    CorpusOptions options = token_options({}, 5);
    options.separator = rule.separator < 0 ? Separator{Separator::Choice::none, -1} : given_separator(0);
    options.keep_separator = rule.keep;
    options.ignored_ids = rule.ignored;
    options.max_tokens = rule.max_tokens;
    const std::vector<Index> unit_ids{1 + below(3), 1 + below(9), 1 + below(40)};
    const std::string what = "round " + std::to_string(round);

    folder.write("a.idx", megatron_index(indexed, 8, 2));
    options.paths = {folder.write("a.bin", id_bytes(joined(indexed), 2))};
    expect_documents(options, 2, split(indexed, true, rule), what + ", megatron", unit_ids);
    const Ids ids = joined(indexed);
    options.paths = {folder.write("b.bin", id_bytes(ids, 4))};
    options.format = Format::raw32;
    expect_documents(options, 4, split({ids}, false, rule), what + ", raw32", unit_ids);
    rule.begins = true;
    options.format = Format::llmc;
    options.paths = {folder.write("c.bin", llmc_file(ids, 2))};
    expect_documents(options, 2, split({ids}, false, rule), what + ", llmc", unit_ids);
  }
}

TEST(TokenUnits, ASeparatorWithinInfinigramsDocuments) {
  const TemporaryFolder folder;
  const Index ones = 65535;
  std::string offsets;
  for (const Index offset : {0, 5, 6, 8}) put(offsets, 2 * offset);
  folder.write("offset.3", offsets);
  CorpusOptions options = token_options({folder.write("tokenized.3", id_bytes({ones, 1, 9, 2, 9, ones, ones, 9, ones, 3}, 2))}, 10);
  options.separator = given_separator(9);
  expect_documents(options, 2, {{1}, {2}, {}, {}, {3}}, "removed");
  options.keep_separator = true;
  expect_documents(options, 2, {{1, 9}, {2, 9}, {}, {9}, {3}}, "kept");
}

TEST(TokenUnits, WideVocabularies) {
  const TemporaryFolder folder;
  const Ids ids{65535, 65536, 69999, 0};
  expect_documents(token_options({folder.write("a.bin", id_bytes(ids, 4))}, 70000, Format::raw32), 4, {ids}, "raw32");
  expect_documents(token_options({folder.write("b.bin", id_bytes({65535, 0, 1}, 2))}, 70000, Format::raw16), 2, {{65535, 0, 1}}, "raw16");
  expect_documents(token_options({folder.write("c.bin", llmc_file({128000, 128255, 5, 128000}, 4))}, 0), 4, {{128255, 5}, {}}, "Llama 3");
  CorpusOptions options = token_options({folder.write("d.bin", id_bytes({1, 4294967295, 2}, 4))}, 70000, Format::raw32);
  options.separator = given_separator(4294967295);
  expect_documents(options, 4, {{1}, {2}}, "a separator beyond every vocabulary");
}

/// Batches are the caller's to fill: what is in one already stays.
TEST(TokenUnits, AppendsToABatch) {
  const TemporaryFolder folder;
  CorpusOptions options = token_options({folder.write("a.bin", id_bytes({1, 2, 3, 0, 4, 5, 6, 7, 0, 8}, 2))}, 10, Format::raw16);
  options.separator = given_separator(0);
  options.unit_bytes = 12;
  const Corpus corpus = open_corpus(world(), options);
  const auto source = open_token_units(corpus, 0, {});
  TokenBatch batch;
  for (Index unit = 0; unit < 2; ++unit) {
    ASSERT_TRUE(source->open(unit));
    while (source->next(batch)) continue;
  }
  EXPECT_EQ(ids_of(batch), (Ids{1, 2, 3, 4, 5, 6, 7, 8}));
  for (std::size_t k = 1; k < batch.pieces.size(); ++k) EXPECT_EQ(batch.pieces[k].begin, batch.pieces[k - 1].end);
}

/// More ids than 32 bits can count: the first and the last units of a file of holes.
TEST(TokenUnits, BeyondFourGiB) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.bin", id_bytes({5, 6, 0, 7}, 2));
  const Index bytes = (Index{1} << 33) + 6;
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(bytes));
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(bytes - 6);
    const std::string tail = id_bytes({0, 8, 9}, 2);
    file.write(tail.data(), static_cast<std::streamsize>(tail.size()));
  }
  CorpusOptions options = token_options({path}, 10, Format::raw16);
  options.separator = {Separator::Choice::none, -1};
  options.unit_bytes = 1 << 20;
  const Corpus corpus = open_corpus(world(), options);
  EXPECT_EQ(corpus.files[0].token_count, bytes / 2);
  ReadOptions stream;
  stream.stream = stream.document_index = true;
  const auto source = open_token_units(corpus, 0, stream);
  const Index last = source->unit_count() - 1;
  EXPECT_EQ(last, Index{1} << 13);
  ASSERT_TRUE(source->open(last));
  TokenBatch batch;
  ASSERT_TRUE(source->next(batch));
  EXPECT_EQ(ids_of(batch), (Ids{0, 8, 9}));
  ASSERT_EQ(batch.pieces.size(), 1U);
  EXPECT_EQ(batch.pieces[0].document, -1);
  EXPECT_EQ(batch.pieces[0].position, Index{1} << 32);
  EXPECT_TRUE(batch.pieces[0].ends);
  EXPECT_EQ(source->known_size(last)->documents, 0);
  EXPECT_EQ(source->known_size(0)->documents, 1);

  options.separator = given_separator(9);
  const Corpus split = open_corpus(world(), options);
  const auto documents = open_token_units(split, 0, {});
  ASSERT_TRUE(documents->open(last));
  batch.clear();
  EXPECT_FALSE(documents->next(batch)) << "the last document began long before";
}

}  // namespace
}  // namespace posgeom
