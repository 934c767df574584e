#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace posgeom {

/// Whether a BLAS of that name (BlasReport::name) runs kernels from before AVX2 on a CPU that has it. False off x86-64.
bool has_outdated_kernels(std::string_view blas);

/// An environment variable by which a BLAS chooses its kernels when it is first used, or loaded.
struct BlasKernelSetting {
  std::string variable;
  std::string value;
};

/// What would let the BLAS of this process use the CPU's vector width where, left to itself, it has outdated kernels: a library knows no
/// CPU that came after it. (BLIS 0.9 runs its generic kernels on AMD's Zen 4 and 5, at a tenth of what its AVX-512 ones do there; OpenBLAS
/// 0.3.21 those of 2004 on newer Intel CPUs.) Nothing where its choice is good or its name unknown;
/// whether the user has set the variable is the caller's question. Not collective.
std::optional<BlasKernelSetting> better_blas_kernels();

/// Whether the BLAS gets a small matrix product right: kernels for another CPU end the process, or do not.
bool blas_multiplies();

}  // namespace posgeom
