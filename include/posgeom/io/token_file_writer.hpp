#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "posgeom/mpi/communicator.hpp"
#include "posgeom/types.hpp"

namespace posgeom {

/// megatron: PREFIX.bin and PREFIX.idx. raw: PREFIX.bin alone, a separator after each document.
enum class TokenFileKind { megatron, raw };

/// Writes a token file with all ranks; the bytes do not depend on the rank count. Files are PREFIX.*.partial until finish().
class TokenFileWriter {
 public:
  /// **Collective.** Width: 2 bytes where every id (raw: the separator too) fits 16 bits by the format's rule, else 4. `separator`: raw
  /// only, -1: none. `force`: replace files that are there; else they are refused. Throws the same Error on every rank.
  TokenFileWriter(const Communicator& comm, const std::string& prefix, TokenFileKind kind, Index vocab_size, Index separator, bool force);
  ~TokenFileWriter();  ///< removes what finish() has not completed
  TokenFileWriter(const TokenFileWriter&) = delete;
  TokenFileWriter& operator=(const TokenFileWriter&) = delete;

  /// **Collective.** The ranks' documents follow each other in rank order, after those of the last call. `lengths`: tokens of each
  /// document, 0 allowed.
  void append(std::span<const Token> tokens, std::span<const std::int32_t> lengths);
  /// **Collective.** Completes, fsyncs and renames.
  void finish();

  int width() const;
  Index token_count() const;
  Index document_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace posgeom
