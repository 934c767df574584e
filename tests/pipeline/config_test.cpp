#include "posgeom/pipeline/config.hpp"

#include <gtest/gtest.h>

#include "posgeom/error.hpp"

namespace posgeom {
namespace {

OptionValues defaults() {
  OptionValues values;
  for (const Option& option : option_table()) values[std::string(option.name)] = {std::string(option.default_value)};
  values["corpus"] = {"a.txt"};
  values["lengths"] = {"128"};
  return values;
}

Config with(const std::string& name, const std::string& value) {
  OptionValues values = defaults();
  values[name] = {value};
  return config_from(values);
}

std::string refusal(const std::string& name, const std::string& value) {
  try {
    with(name, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << name << " = " << value;
    return error.what();
  }
  return {};
}

TEST(Config, DefaultsAreInterfacesOwn) {
  const Config config = config_from(defaults());
  EXPECT_EQ(config.positions.unreached, Unreached::drop);
  EXPECT_EQ(config.positions.min_count, 1);
  EXPECT_FALSE(config.positions.unit_range);
  EXPECT_EQ(config.seed, 1U);
  EXPECT_EQ(config.geometry.solver, Solver::automatic);
  EXPECT_EQ(config.geometry.block_size, 64);
  EXPECT_EQ(config.stress.encodings.size(), 6U);
  EXPECT_EQ(config.stress.encoding.rope_head_dim, 64);
  EXPECT_EQ(config.output.directory, "posgeom-out");
  EXPECT_TRUE(config.output.resume);
}

TEST(Config, ListsAreSortedAndDistinct) {
  EXPECT_EQ(with("lengths", "64, 16,64,32").lengths, (std::vector<Index>{16, 32, 64}));
  EXPECT_EQ(with("dims", "8,1,2").stress.dims, (std::vector<std::int32_t>{1, 2, 8}));
}

TEST(Config, ComponentsFollowTheLargestDimension) {
  EXPECT_EQ(with("dims", "8,1,2").geometry.components, 8);
  EXPECT_EQ(with("components", "all").geometry.components, 0);
  EXPECT_EQ(with("components", "12").geometry.components, 12);
}

TEST(Config, BytesTakeSuffixes) {
  EXPECT_EQ(with("memory", "3G").geometry.memory_bytes, Index{3} << 30);
  EXPECT_EQ(with("memory", "auto").geometry.memory_bytes, 0);
}

TEST(Config, GridIsRowsByColumns) {
  const Config config = with("grid", "2x3");
  EXPECT_EQ(config.geometry.grid_rows, 2);
  EXPECT_EQ(config.geometry.grid_columns, 3);
}

TEST(Config, EncodingsFromFiles) {
  const Config config = with("encodings", "mds,file:tables/wpe.npy,mine=file:out/geometry-8.h5:/encoding");
  ASSERT_EQ(config.stress.encodings.size(), 3U);
  EXPECT_EQ(config.stress.encodings[1].name, "wpe");
  EXPECT_EQ(config.stress.encodings[1].path, "tables/wpe.npy");
  EXPECT_EQ(config.stress.encodings[1].dataset, "");
  EXPECT_EQ(config.stress.encodings[2].name, "mine");
  EXPECT_EQ(config.stress.encodings[2].path, "out/geometry-8.h5");
  EXPECT_EQ(config.stress.encodings[2].dataset, "/encoding");
}

TEST(Config, RowsOfEncodingFiles) {
  const Config config =
      with("encodings", "a=file:m.npy[2:],b=file:m.safetensors:decoder.pos[2:130],c=file:m.h5:/w[:64],d=file:odd[1],e=file:p[:]");
  const std::vector<EncodingSpec>& specs = config.stress.encodings;
  ASSERT_EQ(specs.size(), 5U);
  EXPECT_EQ(specs[0].path, "m.npy");
  EXPECT_EQ(specs[0].rows.begin, 2);
  EXPECT_EQ(specs[0].rows.end, -1);
  EXPECT_EQ(specs[1].path, "m.safetensors");
  EXPECT_EQ(specs[1].dataset, "decoder.pos");
  EXPECT_EQ(specs[1].rows.begin, 2);
  EXPECT_EQ(specs[1].rows.end, 130);
  EXPECT_EQ(specs[2].dataset, "/w");
  EXPECT_EQ(specs[2].rows.begin, 0);
  EXPECT_EQ(specs[2].rows.end, 64);
  EXPECT_EQ(specs[3].path, "odd[1]") << "no range";
  EXPECT_EQ(specs[3].rows.end, -1);
  EXPECT_EQ(specs[4].path, "p");
  EXPECT_EQ(specs[4].rows.begin, 0);
  EXPECT_EQ(with("encodings", "file:model.safetensors:wpe.weight[2:]").stress.encodings[0].name, "model");
}

TEST(Config, OwnEncodings) {
  const Config config = with("encodings", "mds,smacof,sinusoidal,rope,alibi,linear,random,t5,kerple-log,kerple-power,fire");
  EXPECT_EQ(config.stress.encodings.size(), 11U);
  for (const EncodingSpec& spec : config.stress.encodings) {
    EXPECT_TRUE(spec.path.empty());
    EXPECT_NE(refusal("encodings", spec.name + "=file:a.npy").find("own encodings"), std::string::npos) << spec.name;
  }
  EXPECT_EQ(config.stress.smacof_iterations, 1000);
  EXPECT_EQ(config.stress.smacof_tolerance, 1e-7);
  EXPECT_EQ(config.stress.smacof_weights, SmacofWeights::none);
  EXPECT_EQ(with("smacof-weights", "tokens").stress.smacof_weights, SmacofWeights::tokens);
}

TEST(Config, RopeScaling) {
  using Kind = RopeScaling::Kind;
  EXPECT_EQ(config_from(defaults()).stress.encoding.rope_scaling.kind, Kind::none);
  const RopeScaling linear = with("rope-scaling", "linear:2.5").stress.encoding.rope_scaling;
  EXPECT_EQ(linear.kind, Kind::linear);
  EXPECT_EQ(linear.factor, 2.5);
  EXPECT_EQ(with("rope-scaling", "ntk:8").stress.encoding.rope_scaling.kind, Kind::ntk);
  OptionValues values = defaults();
  values["rope-scaling"] = {"yarn:32"};
  values["rope-original-length"] = {"4096"};
  const RopeScaling yarn = config_from(values).stress.encoding.rope_scaling;
  EXPECT_EQ(yarn.kind, Kind::yarn);
  EXPECT_EQ(yarn.factor, 32);
  EXPECT_EQ(yarn.original_length, 4096);
  EXPECT_EQ(name_of(yarn), "yarn:32");
  EXPECT_NE(refusal("rope-scaling", "yarn:4").find("--rope-original-length"), std::string::npos);
  EXPECT_NE(refusal("rope-original-length", "4096").find("not yarn"), std::string::npos);
}

TEST(Config, EveryBadValueNamesItsOption) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"lengths", "0"},
      {"lengths", "12,"},
      {"lengths", "twelve"},
      {"lengths", "-4"},
      {"lengths", "99999999999999999999"},
      {"dims", "0"},
      {"dims", "1,,2"},
      {"dims", "everything"},
      {"min-count", "0"},
      {"unreached", "dropped"},
      {"hellinger-range", "2"},
      {"noise", "some"},
      {"sequences", "stacked"},
      {"last-block", "maybe"},
      {"split-by", "paragraph"},
      {"split-by", "block:0"},
      {"split-by", "block:x"},
      {"split-by", "column:"},
      {"separator", "-2"},
      {"separator", "4294967296"},
      {"separator", "eot"},
      {"ignore-ids", "1,,2"},
      {"ignore-ids", "-1"},
      {"vocab-size", "-1"},
      {"vocab-size", "2147483648"},
      {"keep-separator", "perhaps"},
      {"keep-every", "-1"},
      {"token-file", "parquet"},
      {"end-of-text", "-1"},
      {"end-of-text", "50256"},
      {"name", ""},
      {"name", "a/b"},
      {"tokenizer", "sentence"},
      {"format", "pdf"},
      {"solver", "fast"},
      {"rope-scaling", "dynamic:2"},
      {"rope-scaling", "linear"},
      {"rope-scaling", "linear:"},
      {"rope-scaling", "ntk:0.5"},
      {"rope-scaling", "ntk:inf"},
      {"rope-scaling", "linear:nan"},
      {"rope-scaling", "linear:2x"},
      {"rope-scaling", "yarn:2"},
      {"rope-original-length", "-1"},
      {"rope-original-length", "2048"},
      {"smacof-iterations", "0"},
      {"smacof-tolerance", "0"},
      {"smacof-tolerance", "small"},
      {"smacof-weights", "counts"},
      {"encodings", "a=file:m.npy[3:3]"},
      {"encodings", "a=file:m.npy[4:2]"},
      {"encodings", "a=file:m.npy[-1:2]"},
      {"encodings", "a=file:m.npy[a:b]"},
      {"encodings", "a=file:[1:2]"},
      {"block-size", "0"},
      {"grid", "2"},
      {"grid", "0x2"},
      {"grid", "2x"},
      {"memory", "lots"},
      {"memory", "0"},
      {"memory", "9999999999T"},
      {"rope-base", "-1"},
      {"rope-base", "nan"},
      {"rope-base", "inf"},
      {"rope-head-dim", "7"},
      {"alibi-heads", "0"},
      {"random-kind", "cauchy"},
      {"header", "maybe"},
      {"encodings", "mds,mds"},
      {"encodings", "sinus"},
      {"encodings", "file:"},
      {"encodings", "a b=file:x"},
      {"encodings", "mds=file:x.npy"},
      {"out", ""},
      {"progress", "loud"},
      {"seed", "-1"},
      {"max-tokens", "many"},
      {"components", "0"},
  };
  for (const auto& [name, value] : cases) {
    const std::string text = refusal(name, value);
    EXPECT_NE(text.find(name), std::string::npos) << name << " = " << value << " gave: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(Config, WordpieceNeedsAVocabulary) { EXPECT_NE(refusal("tokenizer", "wordpiece").find("--vocab"), std::string::npos); }

TEST(Config, SentencepieceNeedsAModel) { EXPECT_NE(refusal("tokenizer", "sentencepiece").find("--vocab"), std::string::npos); }

TEST(Config, TokenizerIsGivenOrNot) {
  EXPECT_FALSE(config_from(defaults()).corpus.tokenizer_given);
  EXPECT_EQ(config_from(defaults()).corpus.tokenizer, TokenizerKind::whitespace);
  EXPECT_TRUE(with("tokenizer", "bytes").corpus.tokenizer_given);
}

TEST(Config, SeparatorIsARuleNoneOrAnId) {
  EXPECT_EQ(with("separator", "auto").corpus.separator.choice, Separator::Choice::by_format);
  EXPECT_EQ(with("separator", "none").corpus.separator.choice, Separator::Choice::none);
  const Separator given = with("separator", "4294967295").corpus.separator;
  EXPECT_EQ(given.choice, Separator::Choice::given);
  EXPECT_EQ(given.id, Index{4294967295});
}

TEST(Config, SequencesAndNoise) {
  EXPECT_EQ(config_from(defaults()).sequences, Sequences::document);
  EXPECT_EQ(with("sequences", "packed").sequences, Sequences::packed);
  OptionValues packed = defaults();
  packed["sequences"] = {"packed"};
  packed["last-block"] = {"drop"};
  EXPECT_TRUE(config_from(packed).drop_last_block);
  EXPECT_NE(refusal("last-block", "drop").find("packed"), std::string::npos);
  EXPECT_EQ(with("ignore-ids", "7,3").corpus.ignored_ids, (std::vector<Index>{3, 7}));
  const Config config = with("noise", "all");
  EXPECT_TRUE(config.noise.split && config.noise.shuffle);
  EXPECT_TRUE(with("noise", "split").noise.split);
  EXPECT_FALSE(with("noise", "split").noise.shuffle);
  EXPECT_EQ(with("seed", "9").noise.seed, 9U);
}

TEST(Config, ASplitColumnIsReadOnlyWhereHalvesAre) {
  OptionValues values = defaults();
  values["split-by"] = {"column:source"};
  values["noise"] = {"none"};
  EXPECT_THROW(config_from(values), Error);
  values["noise"] = {"split"};
  EXPECT_EQ(config_from(values).corpus.split_column, "source");
  EXPECT_EQ(config_from(values).noise.split_by, SplitBy::column);
  values["split-by"] = {"block:12"};
  EXPECT_EQ(config_from(values).noise.block, 12);
}

TEST(Preset, PaperIsWhatTheInterfaceSays) {
  const OptionValues paper = preset_values("paper");
  EXPECT_EQ(paper.at("unreached").front(), "uniform");
  EXPECT_EQ(paper.at("rope-head-dim").front(), "64");
  EXPECT_EQ(paper.at("alibi-heads").front(), "12");
  EXPECT_THROW(preset_values("papers"), Error);
}

TEST(Dimensions, PowersOfTwoUpToTheRank) {
  StressOptions options;
  EXPECT_EQ(resolve_dimensions(options, 9, 20), (std::vector<std::int32_t>{1, 2, 4, 8}));
  EXPECT_EQ(resolve_dimensions(options, 0, 1), (std::vector<std::int32_t>{1}));
  options.choice = StressOptions::Dimensions::all;
  EXPECT_EQ(resolve_dimensions(options, 2, 3), (std::vector<std::int32_t>{1, 2, 3}));
}

TEST(Ini, HoldsEveryOptionInTheTablesOrder) {
  const std::string text = to_ini(defaults());
  EXPECT_EQ(text.rfind("corpus = a.txt\n", 0), 0U);
  EXPECT_NE(text.find("lengths = 128\n"), std::string::npos);
}

}  // namespace
}  // namespace posgeom
