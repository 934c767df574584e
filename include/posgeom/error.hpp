#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "posgeom/types.hpp"

namespace posgeom {

/// What an error means to the caller of the program; the values are its exit codes.
enum class ErrorKind { run = 1, usage = 2, stopped = 75 };

/// Something in the outside world is not as it must be: input, files, options, memory, a library's refusal.
/// The text is one line that says what was being done, on what, what was found, what was expected, and what to do.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text, ErrorKind kind = ErrorKind::run) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Thrown with the same text on every rank of a communicator; rank() is the lowest rank that failed.
class CollectiveError : public Error {
 public:
  CollectiveError(const std::string& text, ErrorKind kind, int rank) : Error(text, kind), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

/// Throws std::logic_error with the place of the call where `condition` is false: a mistake in the program, not in its input.
void expects(bool condition, std::string_view text, std::source_location where = std::source_location::current());

/// `value` as the 32-bit int of an LP64 interface. Throws Error that names `expression` where it does not fit.
int narrow_to_int(Index value, std::string_view expression);

}  // namespace posgeom
