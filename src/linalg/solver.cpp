#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "posgeom/error.hpp"
#include "posgeom/linalg/eigensolver.hpp"

namespace posgeom {
namespace {

constexpr std::array<std::pair<Solver, std::string_view>, 7> solver_names{{{Solver::automatic, "auto"},
                                                                           {Solver::lapack, "lapack"},
                                                                           {Solver::pdsyevd, "pdsyevd"},
                                                                           {Solver::pdsyevr, "pdsyevr"},
                                                                           {Solver::elpa, "elpa"},
                                                                           {Solver::dual, "dual"},
                                                                           {Solver::krylov, "krylov"}}};

}  // namespace

std::string_view name_of(Solver solver) {
  for (const auto& [value, name] : solver_names) {
    if (value == solver) return name;
  }
  expects(false, "a solver");
  return {};
}

Solver solver_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [value, known] : solver_names) {
    if (known == name) return value;
    names.push_back(known);
  }
  throw Error(fmt::format("--solver {}: not a solver; choose one of {}", name, fmt::join(names, ", ")), ErrorKind::usage);
}

}  // namespace posgeom
