"""The rules of the house that no compiler checks: who may include whom, and what may stand where.

usage: layering.py ROOT      prints one line a violation (path:line: what, and where it belongs); exit 1 where there are any
"""

import os
import re
import sys
from fnmatch import fnmatchcase

# Room: the rooms it links to (the top-level CMakeLists.txt says the same); it sees these and all that they see.
LINKS = {
    "base": [],
    "mpi": ["base"],
    "hdf5": ["mpi"],
    "linalg": ["mpi"],
    "corpus": ["hdf5"],
    "counts": ["corpus"],
    "geometry": ["counts", "linalg"],
    "io": ["geometry"],
    "pipeline": ["io"],
    "cli": ["pipeline"],
}
# Rooms without public headers, that others of ours work with, and users of the library do not: who may include their headers in src.
SHARED = {"hdf5": ["corpus", "io"]}
LONGEST_FILE = 320

# (name, pattern, the only places, where it belongs). Patterns meet code with comments and the text of literals taken out,
# but for includes and extern "C". Places are globs on the path from the root; * crosses folders.
RULES = [
    ("mpi.h", r'^\s*#\s*include\s*[<"]mpi\.h[>"]', ["include/posgeom/mpi/*", "src/mpi/*", "src/linalg/*", "src/hdf5/*", "src/io/*", "src/cli/main.cpp"],
     "the mpi room, src/linalg, src/hdf5, src/io and (for MPI_Abort) src/cli/main.cpp"),
    ("hdf5.h", r'^\s*#\s*include\s*[<"]hdf5(_hl)?\.h[>"]', ["src/hdf5/hdf5.hpp"], "src/hdf5/hdf5.hpp"),
    ('extern "C"', r'\bextern\s+"C"', ["src/linalg/scalapack.hpp"], "src/linalg/scalapack.hpp"),
    ("boost/program_options", r'^\s*#\s*include\s*[<"]boost/program_options', ["src/cli/options*.cpp"], "src/cli/options*.cpp"),
    ("output", r'^\s*#\s*include\s*<iostream>|\bstd::w?(cout|cerr|clog)\b|\bstd(out|err)\b|\bv?printf\s*\(|\b(puts|putchar|perror)\s*\('
     r"|\b(fmt|std)::print(ln)?\s*\(", ["src/cli/*", "src/pipeline/stage_report.cpp"], "src/cli and src/pipeline/stage_report.cpp"),
    ("environment variable", r"\b(secure_)?getenv\b|\b(un)?setenv\b|\bputenv\b|\benviron\b", ["src/cli/*"], "src/cli"),
    ("MPI_Init, MPI_Finalize", r"\bMPI_(Init|Init_thread|Finalize)\b", ["src/mpi/session.cpp"], "src/mpi/session.cpp"),
    ("MPI_Abort", r"\bMPI_Abort\b", ["src/cli/main.cpp"], "src/cli/main.cpp"),
]
RULES = [(name, re.compile(pattern, re.MULTILINE), places, belongs) for name, pattern, places, belongs in RULES]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/                                  # comments
      | \bu?8?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"          # raw strings
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'                # characters, not 1'000'000
    """, re.DOTALL | re.VERBOSE)


def visible_from(room):
    seen = {room}
    for below in LINKS[room]:
        seen |= visible_from(below)
    return seen


def code_of(text):
    """`text` without comments and without what stands in literals; lines stay where they are."""

    def blank(match):
        found = match.group(0)
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        if re.match(r"\s*#\s*include\s*$", line) or found == '"C"':
            return found
        return re.sub(r"[^\n]+", " ", found) if found.startswith("/") else '""' + "\n" * found.count("\n")

    return TOKEN.sub(blank, text)


def room_of(path):
    """The room that a path under include/posgeom or src belongs to; None where it is none of ours."""
    parts = path.split("/")
    inner = parts[2:] if parts[:2] == ["include", "posgeom"] else parts[1:] if parts[0] == "src" else None
    if inner is None:
        return None
    room = inner[0] if len(inner) > 1 else "base"
    return room if room in LINKS else None


def target_of(root, path, quote, name):
    """The path from the root of what `path` includes as `name`; None for the libraries' own headers."""
    if name.startswith("posgeom/"):
        return "include/" + name
    if quote == "<":
        return None
    for folder in (os.path.dirname(path), "src"):
        if os.path.exists(os.path.join(root, folder, name)):
            return os.path.normpath(os.path.join(folder, name))
    return None


def check_file(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    code = code_of(text)
    found = []

    def report(position, what):
        found.append(f"{path}:{code.count(chr(10), 0, position) + 1}: {what}")

    room = room_of(path)
    if room is None:
        report(0, f"in no room; the rooms are {', '.join(LINKS)}")
        return found
    for include in INCLUDE.finditer(code):
        target = target_of(root, path, *include.groups())
        seen = target and room_of(target)
        if target and seen is None:
            report(include.start(2), f"{include.group(2)} is in no room")
        elif target and seen not in visible_from(room):
            report(include.start(2), f"{room} includes {include.group(2)}, but does not see {seen}: includes point down only")
        elif target and target.startswith("src/") and seen != room and room not in SHARED.get(seen, []):
            report(include.start(2), f"{room} includes {include.group(2)}, a private header of {seen}: take one of include/posgeom/{seen}")
    for name, pattern, places, belongs in RULES:
        if any(fnmatchcase(path, place) for place in places):
            continue
        for match in pattern.finditer(code):
            report(match.end() - 1, f"{name}: {match.group(0).strip()!r} belongs in {belongs} alone")
    lines = text.count("\n")
    if lines > LONGEST_FILE:
        report(len(code), f"too long: {lines} lines, {LONGEST_FILE} at most; split it by idea")
    if path.endswith(".hpp") and not re.search(r"^#pragma once$", code, re.MULTILINE):
        report(0, "a header without #pragma once")
    return found


def check_tree(root):
    """(files looked at, violations)"""
    paths = []
    for top in ("include", "src"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            paths += [os.path.relpath(os.path.join(folder, name), root) for name in names if re.search(r"\.(c|h)(c|pp|xx)?$", name)]
    return len(paths), [violation for path in sorted(paths) for violation in check_file(root, path)]


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    files, violations = check_tree(sys.argv[1])
    print(*violations, sep="\n")
    print(f"{files} files, {len(violations)} violations")
    return 1 if violations or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
