#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posgeom/io/store.hpp"
#include "posgeom/mpi/communicator.hpp"

namespace posgeom {

/// What a stage's numbers depend on, as "key=value" lines; its fingerprint is their hash.
using FingerprintLines = std::vector<std::string>;

/// 16 hexadecimal digits: XXH3 of the lines.
std::string fingerprint(const FingerprintLines& lines);

/// The lines as one text, and back.
std::string join_lines(const FingerprintLines& lines);
FingerprintLines split_lines(const std::string& text);

/// The value of `key`; empty where there is no such line.
std::string line_value(const FingerprintLines& lines, const std::string& key);

/// One sentence part about the first key whose value differs ("unreached = uniform there, drop now"); empty where none does. Keys that
/// start with "encoding." or "noise." may be missing on one side: an encoding more, or halves more, is no difference.
std::string first_difference(const FingerprintLines& there, const FingerprintLines& now);

/// Throws Error where first_difference finds one between what PATH was made from and `now`; `advice` says what to do. Not collective.
void require_same(const std::string& path, const FingerprintLines& there, const FingerprintLines& now, const std::string& advice);

/// What to do about a result of another run that is in the way.
inline constexpr const char* keep_or_replace = "give another --out to keep it, or --force to replace it";

/// Adds the lines of `there` whose keys start with `prefix` ("encoding.", "noise.") and that `lines` does not have: what a run does not ask
/// for is kept in its file, with what it was made from.
void keep_additions(FingerprintLines& lines, const FingerprintLines& there, std::string_view prefix);

/// **Collective.** The provenance of a file that a stage may go on from; nullopt where there is none. Throws the same Error on every rank,
/// with the advice to replace it, where it is damaged.
std::optional<Provenance> provenance_to_reuse(const Communicator& comm, const std::string& path);

/// **Collective.** The lines of the finished result in PATH, to be reused, where it has the same as `now`. Nothing where no file is there
/// or `force` is set. Throws the same Error on every rank where another result is there, naming the difference, or where `resume` is off.
std::optional<FingerprintLines> reusable_lines(const Communicator& comm, const std::string& path, const FingerprintLines& now, bool force,
                                               bool resume);

}  // namespace posgeom
