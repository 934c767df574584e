#pragma once
// Every refusal of a token file names the file, what was found, what was expected and what to do.
#include <gtest/gtest.h>

#include <cstring>

#include "corpus/token_reading.hpp"

namespace posgeom::testing_support {

class TokenErrors : public testing::Test {
 protected:
  std::string error_of_opening(const CorpusOptions& options, ErrorKind kind = ErrorKind::run) {
    try {
      open_corpus(world(), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }
  std::string error_of(std::string_view name, std::string_view content, Format format = Format::automatic, Index vocab_size = 100) {
    return error_of_opening(token_options({folder_.write(name, content)}, vocab_size, format));
  }
  /// Of a pair whose .bin has `ids` of 16 bits.
  std::string error_of_index(std::string_view index, const Ids& ids) {
    folder_.write("m.idx", index);
    return error_of("m.bin", id_bytes(ids, 2));
  }
  /// Of reading all units.
  std::string error_of_reading(CorpusOptions options, bool stream = false) {
    const Corpus corpus = open_corpus(world(), options);
    ReadOptions reading;
    reading.stream = stream;
    return testing_support::error_of([&] {
      const auto source = open_token_units(corpus, 0, reading);
      TokenBatch batch;
      for (Index unit = 0; unit < source->unit_count(); ++unit) {
        source->open(unit);
        while (source->next(batch)) batch.clear();
      }
    });
  }

  TemporaryFolder folder_;
};

/// `bytes` with a value written over them.
template <class T>
std::string with(std::string bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
  return bytes;
}

}  // namespace posgeom::testing_support
