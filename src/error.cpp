#include "posgeom/error.hpp"

#include <fmt/format.h>

#include <limits>

namespace posgeom {

void expects(bool condition, std::string_view text, std::source_location where) {
  if (!condition)
    throw std::logic_error(fmt::format("{}:{}: {}: expected {}", where.file_name(), where.line(), where.function_name(), text));
}

int narrow_to_int(Index value, std::string_view expression) {
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    throw Error(
        fmt::format("{} = {} does not fit the 32-bit integers of the MPI, BLAS and ScaLAPACK that posgeom was built with; use more ranks",
                    expression, value));
  }
  return static_cast<int>(value);
}

}  // namespace posgeom
