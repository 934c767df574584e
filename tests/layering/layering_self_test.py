"""layering.py on made-up trees: it reports each kind of violation at its line, and nothing where there is none."""

import os
import tempfile
import unittest

from layering import LINKS, LONGEST_FILE, check_tree

HEADER = "#pragma once\n"


def violations(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return check_tree(root)[1]


class Layering(unittest.TestCase):
    def refuses(self, path, text, place, what, **others):
        found = violations({path: text, **others.get("beside", {})})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:{place}: "), found[0])
        self.assertIn(what, found[0])

    def accepts(self, files):
        self.assertEqual(violations(files), [])

    def test_direction_of_includes_for_every_pair_of_rooms(self):
        order = {"base": 0, "mpi": 1, "linalg": 2, "hdf5": 2, "corpus": 3, "counts": 4, "geometry": 5, "io": 6, "pipeline": 7, "cli": 8}
        self.assertEqual(set(order), set(LINKS))
        apart = {("counts", "linalg"), ("corpus", "linalg")}
        for room in order:
            for other in order:
                path = "src/x.cpp" if room == "base" else f"src/{room}/x.cpp"
                header = "posgeom/x.hpp" if other == "base" else f"posgeom/{other}/x.hpp"
                allowed = room == other or (order[other] < order[room] and (room, other) not in apart)
                with self.subTest(room=room, other=other):
                    text = f'#include <vector>\n#include "{header}"\n'
                    if allowed:
                        self.accepts({path: text})
                    else:
                        self.refuses(path, text, 2, f"does not see {other}")

    def test_private_headers_belong_to_their_room(self):
        beside = {"src/io/x.hpp": HEADER}
        self.refuses("src/linalg/x.cpp", '#include "io/x.hpp"\n', 1, "does not see io", beside=beside)
        self.refuses("src/linalg/x.cpp", '#include "../io/x.hpp"\n', 1, "does not see io", beside=beside)
        self.refuses("src/pipeline/x.cpp", '#include "io/x.hpp"\n', 1, "private header", beside=beside)
        self.accepts({"src/io/x.cpp": '#include "x.hpp"\n', "src/io/y.cpp": '#include "io/x.hpp"\n', **beside})

    def test_a_shared_room_is_open_to_the_rooms_that_it_names(self):
        beside = {"src/hdf5/hdf5.hpp": HEADER}
        for path in ("src/corpus/x.cpp", "src/io/x.cpp"):
            self.accepts({path: '#include "hdf5/hdf5.hpp"\n', **beside})
        self.refuses("src/counts/x.cpp", '#include "hdf5/hdf5.hpp"\n', 1, "private header", beside=beside)
        self.refuses("src/linalg/x.cpp", '#include "hdf5/hdf5.hpp"\n', 1, "does not see hdf5", beside=beside)

    def test_a_room_that_is_not_there(self):
        self.refuses("src/cli/x.cpp", '#include "posgeom/attic/x.hpp"\n', 1, "in no room")
        self.refuses("src/attic/x.cpp", "", 1, "in no room")

    def test_mpi_header(self):
        text = "\n#include <mpi.h>\n"
        for path in ("src/corpus/x.cpp", "src/geometry/x.cpp", "src/pipeline/x.cpp", "src/cli/x.cpp"):
            self.refuses(path, text, 2, "mpi.h")
        for path in ("include/posgeom/linalg/x.hpp", "include/posgeom/io/x.hpp"):
            self.refuses(path, HEADER + text, 3, "mpi.h")
        self.accepts({"include/posgeom/mpi/x.hpp": HEADER + text, "src/mpi/x.cpp": text, "src/linalg/x.hpp": HEADER + text,
                      "src/io/x.cpp": text})

    def test_hdf5_header(self):
        self.refuses("src/io/x.cpp", "#include <hdf5.h>\n", 1, "hdf5.h")
        self.refuses("src/pipeline/x.cpp", "#include <hdf5_hl.h>\n", 1, "hdf5.h")
        self.accepts({"src/hdf5/hdf5.hpp": HEADER + "#include <hdf5.h>\n"})

    def test_extern_c(self):
        self.refuses("src/linalg/x.cpp", '\n\nextern "C" void pdsyevd_();\n', 3, 'extern "C"')
        self.accepts({"src/linalg/scalapack.hpp": HEADER + 'extern "C" {}\n'})

    def test_program_options(self):
        text = "#include <boost/program_options.hpp>\n"
        self.refuses("src/cli/main.cpp", text, 1, "program_options")
        self.refuses("src/pipeline/options.cpp", text, 1, "program_options")
        self.accepts({"src/cli/options.cpp": text, "src/cli/options_groups.cpp": text})

    def test_output(self):
        for line in ("std::cout << 1;", "std::cerr << 1;", "printf(text);", "std::fprintf(stderr, text);", "std::fputs(text, stdout);", "puts(text);",
                     "fmt::print(text);", "#include <iostream>"):
            with self.subTest(line=line):
                self.refuses("src/io/x.cpp", line + "\n", 1, "output")
                self.refuses("src/pipeline/run.cpp", line + "\n", 1, "output")
                self.accepts({"src/cli/x.cpp": line, "src/pipeline/stage_report.cpp": line})
        self.accepts({"src/io/x.cpp": "std::snprintf(text); out << 1; fmt::format(text);\n"})

    def test_environment(self):
        self.refuses("src/pipeline/x.cpp", "auto x = std::getenv(name);\n", 1, "environment")
        self.accepts({"src/cli/x.cpp": "auto x = std::getenv(name);\n"})

    def test_mpi_life(self):
        for call in ("MPI_Init(0, 0);", "MPI_Init_thread(0, 0);", "MPI_Finalize();"):
            self.refuses("src/mpi/x.cpp", call, 1, "session.cpp")
            self.accepts({"src/mpi/session.cpp": call})
        self.refuses("src/mpi/session.cpp", "MPI_Abort(comm, 1);", 1, "main.cpp")
        self.accepts({"src/cli/main.cpp": "MPI_Abort(comm, 1);", "src/mpi/x.cpp": "MPI_Initialized(&flag);"})

    def test_length_and_pragma(self):
        self.refuses("src/io/x.cpp", "\n" * (LONGEST_FILE + 1), LONGEST_FILE + 2, "too long")
        self.accepts({"src/io/x.cpp": "\n" * LONGEST_FILE})
        self.refuses("include/posgeom/io/x.hpp", "// #pragma once\n", 1, "#pragma once")

    def test_comments_and_literals_are_not_code(self):
        self.accepts({"src/io/x.cpp": """
            // std::cout, and "a string that never ends
            /* MPI_Abort(comm, 1);
               #include <hdf5.h> */
            auto a = "use std::cerr or getenv // or"; auto b = '"'; auto c = 1'000'000;
            auto d = R"(std::cout " MPI_Finalize)";
            """})
        self.refuses("src/io/x.cpp", "auto b = '\"';\nauto c = 1'000; /* \n */ std::cout << R\"x(\n)x\"; // '\n", 3, "output")


if __name__ == "__main__":
    unittest.main()
