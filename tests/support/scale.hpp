#pragma once

namespace posgeom::testing_support {

/// Work that only repeats is done less often under the sanitizers, where it is tens of times slower.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
constexpr int scaled(int full, int under_sanitizers) { return sanitized ? under_sanitizers : full; }

}  // namespace posgeom::testing_support
