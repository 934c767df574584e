#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "linalg/blas_library.hpp"
#include "linalg/scalapack.hpp"
#include "posgeom/linalg/blas_threads.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

/// The second word of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string_view version_in(std::string_view config) {
  const std::size_t begin = std::min(config.find(' '), config.size() - 1) + 1;
  return config.substr(begin, config.find(' ', begin) - begin);
}

}  // namespace

std::string name_of_blas() {
  const BlasLibrary library;
  if (library.file().empty()) return "unknown";
  auto* blis_version = library.find<const char*()>("bli_info_get_version_str");
  auto* blis_query = library.find<int()>("bli_arch_query_id");
  auto* blis_kernel = library.find<const char*(int)>("bli_arch_string");
  auto* openblas_config = library.find<const char*()>("openblas_get_config");
  auto* openblas_kernel = library.find<const char*()>("openblas_get_corename");
  if (blis_version != nullptr) {
    // Before its first use it aborts when it is asked for kernels that BLIS_ARCH_TYPE names.
    if (auto* blis_init = library.find<int()>("bli_init"); blis_init != nullptr) blis_init();
    std::string name = fmt::format("BLIS {}", blis_version());
    if (blis_query != nullptr && blis_kernel != nullptr) name += fmt::format(" {}", blis_kernel(blis_query()));
    return name;
  }
  if (openblas_config != nullptr && openblas_kernel != nullptr)
    return fmt::format("OpenBLAS {} {}", version_in(openblas_config()), openblas_kernel());
  return library.file();
}

double best_dgemm_flops(int k, double (*seconds)()) {
  const auto elements = static_cast<std::size_t>(k) * static_cast<std::size_t>(k);
  constexpr int repetitions = 4;  // the first one sets up the library's buffers, and touches memory for the first time
  const std::vector<double> a(elements, 0.5);
  const std::vector<double> b(elements, 0.25);
  std::vector<double> c(elements, 0.0);
  const double one = 1.0;
  const double zero = 0.0;
  double shortest = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const double start = seconds();
    scalapack::dgemm_("N", "N", &k, &k, &k, &one, a.data(), &k, b.data(), &k, &zero, c.data(), &k);
    shortest = std::min(shortest, seconds() - start);
  }
  return 2.0 * k * k * k / shortest;
}

BlasReport measure_blas() {
  const auto wall = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  return {name_of_blas(), best_dgemm_flops(512, wall), blas_threads()};
}

}  // namespace posgeom
