#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "linalg/scalapack.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

/// The function `name` of a library, or null: which BLAS will be there is known at run time only.
template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// The second word of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string_view version_in(std::string_view config) {
  const std::size_t begin = std::min(config.find(' '), config.size() - 1) + 1;
  return config.substr(begin, config.find(' ', begin) - begin);
}

/// Asks the library that holds the dgemm_ which this process calls (or one that it was linked to) who it is.
std::string name_of_blas() {
  void* dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
  Dl_info where{};
  if (dgemm == nullptr || dladdr(dgemm, &where) == 0 || where.dli_fname == nullptr) return "unknown";
  const std::string_view path = where.dli_fname;
  const std::string file(path.substr(path.rfind('/') + 1));
  void* library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return "unknown";  // linked into the program itself

  std::string name = file;
  auto* blis_version = find<const char*()>(library, "bli_info_get_version_str");
  auto* blis_query = find<int()>(library, "bli_arch_query_id");
  auto* blis_kernel = find<const char*(int)>(library, "bli_arch_string");
  auto* openblas_config = find<const char*()>(library, "openblas_get_config");
  auto* openblas_kernel = find<const char*()>(library, "openblas_get_corename");
  if (blis_version != nullptr) {
    name = fmt::format("BLIS {}", blis_version());
    if (blis_query != nullptr && blis_kernel != nullptr) name += fmt::format(" {}", blis_kernel(blis_query()));
  } else if (openblas_config != nullptr && openblas_kernel != nullptr) {
    name = fmt::format("OpenBLAS {} {}", version_in(openblas_config()), openblas_kernel());
  }
  dlclose(library);
  return name;
}

double best_dgemm_flops() {
  constexpr int k = 512;
  constexpr std::size_t elements = std::size_t{k} * k;
  constexpr int repetitions = 4;  // the first one sets up the library's buffers
  const std::vector<double> a(elements, 0.5);
  const std::vector<double> b(elements, 0.25);
  std::vector<double> c(elements, 0.0);
  const double one = 1.0;
  const double zero = 0.0;
  double shortest = std::numeric_limits<double>::infinity();
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    scalapack::dgemm_("N", "N", &k, &k, &k, &one, a.data(), &k, b.data(), &k, &zero, c.data(), &k);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    shortest = std::min(shortest, elapsed.count());
  }
  return 2.0 * k * k * k / shortest;
}

}  // namespace

BlasReport measure_blas() { return {name_of_blas(), best_dgemm_flops()}; }

}  // namespace posgeom
