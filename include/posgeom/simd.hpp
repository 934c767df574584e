#pragma once

/// A function compiled once for each x86-64 level; the loader picks the best one that the CPU has, so that one build runs well everywhere.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define POSGEOM_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
/// Functions may be written for one level each (x86-64-v4: AVX-512, x86-64-v3: AVX2) and chosen by __builtin_cpu_supports.
#define POSGEOM_SIMD_LEVELS
#else
#define POSGEOM_SIMD
#endif
