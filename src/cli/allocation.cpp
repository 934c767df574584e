#include "cli/allocation.hpp"

#include <cstdlib>
#include <limits>
#include <string_view>

namespace posgeom::cli {
namespace {

/// A whole number with what follows it; -1 where there is none or it is absurdly large.
Index number(std::string_view text, std::string_view& rest) {
  constexpr Index most = std::numeric_limits<Index>::max() / (Index{1} << 44);
  Index value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    value = 10 * value + (text[digits] - '0');
    if (value > most * 1024) return -1;
  }
  rest = text.substr(digits);
  return digits == 0 ? -1 : value;
}

/// MiB where no unit stands behind; 0 where it is not understood.
Index bytes(const char* text) {
  if (text == nullptr) return 0;
  std::string_view unit;
  const Index value = number(text, unit);
  if (value <= 0 || unit.size() > 1) return 0;
  switch (unit.empty() ? 'M' : unit[0]) {
    case 'K':
      return value << 10;
    case 'M':
      return value << 20;
    case 'G':
      return value << 30;
    case 'T':
      return value < (Index{1} << 20) ? value << 40 : 0;
    default:
      return 0;
  }
}

}  // namespace

Index allocated_memory(const char* per_node, const char* per_cpu, const char* cpus_on_node) {
  if (const Index node = bytes(per_node); node > 0) return node;
  if (per_cpu == nullptr || cpus_on_node == nullptr) return 0;
  std::string_view rest;
  const Index cpus = number(cpus_on_node, rest);
  const Index each = bytes(per_cpu);
  if (cpus <= 0 || cpus > 1'000'000 || !rest.empty() || each > std::numeric_limits<Index>::max() / cpus) return 0;
  return each * cpus;
}

Index allocated_memory() {
  return allocated_memory(std::getenv("SLURM_MEM_PER_NODE"), std::getenv("SLURM_MEM_PER_CPU"), std::getenv("SLURM_CPUS_ON_NODE"));
}

}  // namespace posgeom::cli
