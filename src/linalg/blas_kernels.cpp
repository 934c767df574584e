#include "posgeom/linalg/blas_kernels.hpp"

#include <array>

#include "linalg/blas_library.hpp"
#include "linalg/scalapack.hpp"
#include "posgeom/linalg/operations.hpp"

namespace posgeom {
namespace {

bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

/// The parts of AVX-512 that BLIS's skx and OpenBLAS's SkylakeX kernels use.
bool cpu_has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

/// BLIS takes the number of a kernel family, which differs between releases; the names end with "generic".
std::optional<int> number_of_blis_kernels(const BlasLibrary& library, std::string_view wanted) {
  auto* name_of = library.find<const char*(int)>("bli_arch_string");
  constexpr int most = 64;
  for (int id = 0; name_of != nullptr && id < most; ++id) {
    const char* const name = name_of(id);
    if (name == nullptr || std::string_view(name) == "generic") break;
    if (name == wanted) return id;
  }
  return std::nullopt;
}

}  // namespace

bool has_outdated_kernels(std::string_view blas) {
  if (!cpu_has_avx2()) return false;
  for (const std::string_view kernels : {"Prescott", "Core2", "Penryn", "Nehalem", "Generic", "generic"}) {
    if (blas.ends_with(kernels)) return true;
  }
  return false;
}

std::optional<BlasKernelSetting> better_blas_kernels() {
  const BlasLibrary library;
  if (!has_outdated_kernels(name_of_blas())) return std::nullopt;
  BlasKernelSetting setting;
  if (library.find<int()>("bli_arch_query_id") != nullptr) {
    std::optional<int> number;
    if (cpu_has_avx512()) number = number_of_blis_kernels(library, "skx");
    if (!number) number = number_of_blis_kernels(library, "haswell");
    if (!number) return std::nullopt;
    setting = {"BLIS_ARCH_TYPE", std::to_string(*number)};
  } else {
    setting = {"OPENBLAS_CORETYPE", cpu_has_avx512() ? "SkylakeX" : "Haswell"};
  }
  return setting;
}

bool blas_multiplies() {
  constexpr int n = 64;
  const std::array<double, std::size_t{n}* n> ones = [] {
    std::array<double, std::size_t{n} * n> filled{};
    filled.fill(1.0);
    return filled;
  }();
  std::array<double, std::size_t{n} * n> product{};
  const double one = 1.0;
  const double zero = 0.0;
  scalapack::dgemm_("N", "N", &n, &n, &n, &one, ones.data(), &n, ones.data(), &n, &zero, product.data(), &n);
  return product.front() == n && product.back() == n;
}

}  // namespace posgeom
