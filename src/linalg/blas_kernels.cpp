#include "posgeom/linalg/blas_kernels.hpp"

#include <vector>

#include "linalg/blas_library.hpp"
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
  constexpr Index n = 64;
  const std::vector<double> ones(n * n, 1.0);
  std::vector<double> product(n * n, 0.0);
  multiply_local({.m = n, .n = n, .k = n}, ones.data(), ones.data(), 0.0, product.data());
  return product.front() == n && product.back() == n;
}

}  // namespace posgeom
