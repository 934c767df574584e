#include "corpus/token_fuzz.hpp"

namespace posgeom {
namespace {

using namespace testing_support;

std::optional<Documents> parse_megatron(const Files& files) {
  const std::string &index = files.at("m.idx"), &data = files.at("m.bin");
  const auto size = std::ssize(index);
  if (size < 34 || index.substr(0, 9) != std::string("MMIDIDX\0\0", 9) || at<std::uint64_t>(index, 9) != 1) return {};
  const std::map<int, std::pair<int, bool>> types{{1, {1, false}}, {2, {1, true}}, {3, {2, true}},
                                                  {4, {4, true}},  {5, {8, true}}, {8, {2, false}}};
  const auto type = types.find(static_cast<unsigned char>(index[17]));
  const auto sequences = at<std::uint64_t>(index, 18), boundaries = at<std::uint64_t>(index, 26);
  if (type == types.end() || sequences > 1000 || boundaries > 1000 || boundaries == 0) return {};
  const auto s = static_cast<Index>(sequences), d = static_cast<Index>(boundaries);
  if (size != 34 + 12 * s + 8 * d && size != 34 + 13 * s + 8 * d) return {};
  const auto [width, is_signed] = type->second;
  Ids ends;  // of sequences, in ids
  Index end = 0;
  for (Index k = 0; k < s; ++k) {
    const auto length = at<std::int32_t>(index, 34 + 4 * k);
    if (length < 0 || at<Index>(index, 34 + 4 * s + 8 * k) != end * width) return {};
    ends.push_back(end += length);
  }
  if (end * width != std::ssize(data)) return {};
  const Ids ids = stored_ids(data, 0, width, is_signed);
  Documents documents;
  Index begin = 0;
  for (Index k = 0; k < d; ++k) {
    const auto boundary = at<Index>(index, 34 + 12 * s + 8 * k);
    if ((k == 0 && boundary != 0) || boundary < 0 || boundary > s || (k + 1 == d && boundary != s)) return {};
    const Index place = boundary == 0 ? 0 : ends[static_cast<std::size_t>(boundary - 1)];
    if (place < begin || (k > 0 && boundary < at<Index>(index, 34 + 12 * s + 8 * (k - 1)))) return {};
    if (k > 0) documents.push_back(part(ids, begin, place));
    begin = place;
  }
  return if_valid(std::move(documents));
}

TEST(TokenFuzz, MegatronIndex) {
  const Documents sequences{{1, 2}, {3}, {}, {40000, 5}, {6}, {7, 8, 9, 10, 11, 12, 13}};
  const Files good{{"m.idx", megatron_index(sequences, {0, 2, 3, 4, 5, 6}, 8, 2)}, {"m.bin", id_bytes(joined(sequences), 2)}};
  EXPECT_EQ(parse_megatron(good), sample());
  expect_refused_or_right("m.bin", good, Format::megatron, {"m.idx", "m.idx", "m.idx", "m.bin"}, testing_support::scaled(2000, 300),
                          parse_megatron);
}

TEST(TokenFuzz, LlmcHeader) {
  const Index end = 50256;
  const Ids ids{1, end, 2, 3, end, end, 4};
  const Reference parse = [end](const Files& files) -> std::optional<Documents> {
    const std::string& bytes = files.at("l.bin");
    if (std::ssize(bytes) < 1024) return {};
    const auto magic = at<std::int32_t>(bytes, 0), version = at<std::int32_t>(bytes, 4), count = at<std::int32_t>(bytes, 8);
    const bool narrow = magic == 20240520 && version == 1, wide = magic == 20240801 && version == 7;
    if ((!narrow && !wide) || count < 0 || std::ssize(bytes) != 1024 + Index{count} * (narrow ? 2 : 4)) return {};
    return if_valid(split({stored_ids(bytes, 1024, narrow ? 2 : 4, false)}, false, {narrow ? end : 128000, true, false, {}, 0}));
  };
  expect_refused_or_right("l.bin", {{"l.bin", llmc_file(ids, 2)}}, Format::llmc, {"l.bin"}, testing_support::scaled(1500, 300), parse);
  expect_refused_or_right("l.bin", {{"l.bin", llmc_file({5, 128000, 6, 59999}, 4)}}, Format::llmc, {"l.bin"},
                          testing_support::scaled(1500, 300), parse);
}

TEST(TokenFuzz, DatatroveIndex) {
  const Files good{{"a.ds", id_bytes(joined(sample()), 2)}, {"a.ds.index", ends_of(sample())}};
  const Reference parse = [](const Files& files) -> std::optional<Documents> {
    const std::string &data = files.at("a.ds"), &index = files.at("a.ds.index");
    if (index.size() % 8 != 0) return {};
    const Index last = index.empty() ? 0 : at<Index>(index, std::ssize(index) - 8);
    const Index size = std::ssize(data);
    const int width = last > 0 && last <= 1000 && size == 4 * last ? 4 : 2;
    if (last < 0 || last > 1000 || size != last * width) return {};
    const Ids ids = stored_ids(data, 0, width, false);
    Documents documents;
    Index begin = 0;
    for (Index k = 0; k < std::ssize(index); k += 8) {
      const auto end = at<Index>(index, k);
      if (end < begin || end > last) return {};
      documents.push_back(part(ids, begin, end));
      begin = end;
    }
    return if_valid(std::move(documents));
  };
  expect_refused_or_right("a.ds", good, Format::datatrove, {"a.ds.index", "a.ds.index", "a.ds"}, testing_support::scaled(1500, 300), parse);
}

TEST(TokenFuzz, InfinigramOffsets) {
  for (const int width : {2, 4}) {
    const Index ones = width == 2 ? 65535 : 4294967295;
    Ids ids;
    std::string offsets;
    for (const Ids& document : sample()) {
      put(offsets, std::ssize(ids) * width);
      ids.push_back(ones);
      ids.insert(ids.end(), document.begin(), document.end());
    }
    const Reference parse = [](const Files& files) -> std::optional<Documents> {
      const std::string &data = files.at("tokenized.0"), &index = files.at("offset.0");
      if (index.size() % 8 != 0) return {};
      // The right width is the one by which separators and offsets agree, the wider one where both do.
      for (const int candidate : {4, 2}) {
        const Index all_ones = candidate == 2 ? 65535 : 4294967295;
        if (std::ssize(data) % candidate != 0) continue;
        const Ids all = stored_ids(data, 0, candidate, false);
        Documents documents;
        std::string found;
        bool good = all.empty() || all.front() == all_ones;
        for (Index k = 0; good && k < std::ssize(all); ++k) {
          const Index id = all[static_cast<std::size_t>(k)];
          if (id == all_ones) {
            put(found, k * candidate);
            documents.emplace_back();
          } else {
            documents.back().push_back(id);
          }
        }
        if (good && found == index) return if_valid(std::move(documents));
      }
      return {};
    };
    expect_refused_or_right("tokenized.0", {{"tokenized.0", id_bytes(ids, width)}, {"offset.0", offsets}}, Format::infinigram,
                            {"offset.0", "offset.0", "tokenized.0"}, testing_support::scaled(1500, 300), parse);
  }
}

}  // namespace
}  // namespace posgeom
