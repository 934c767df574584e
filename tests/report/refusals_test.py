"""What the report refuses, each with one line that names the file, what was found and what to do."""
import report_case

report_case.need("matplotlib")

import h5py
import numpy as np
from page_case import PageCase
from report_case import verses


class Refusals(PageCase):
    @classmethod
    def make(cls, case):
        case.write("kjv.txt", verses(300))
        case.succeed("run", "--corpus", "kjv.txt", "--lengths", "8,16", "--dims", "1,2,4,8", "--noise", "all", "--replicates", "19", "--encodings",
                     "mds,sinusoidal,linear", "--out", "out")

    def test_no_directory_of_posgeoms(self):
        empty = self.folder / "empty"
        empty.mkdir()
        (empty / "geometry-x.h5").write_text("not ours")
        self.check(self.error(empty), empty, "no counts.h5", "posgeom run")
        self.check(self.error(self.folder / "none"), "none", "no such folder", "posgeom run")
        self.check(self.error(self.shared / "out/sweep.h5"), "sweep.h5", "is a file", "folder")
        self.check(self.error(self.copy(), "--lengths", "7"), "no length 7", "8, 16")

    def test_damaged_files(self):
        def text(path):
            path.write_text("some text")

        def truncated(path):
            path.write_bytes(path.read_bytes()[:-1000])

        def empty(path):
            path.write_bytes(b"")

        for name, writer in (("counts.h5", "count"), ("geometry-16.h5", "embed"), ("stress-8.h5", "stress"), ("sweep.h5", "collect")):
            for damage in (text, truncated, empty):
                out = self.copy()
                damage(out / name)
                self.check(self.error(out), out / name, "damaged", f"`posgeom {writer}`")

    def test_what_is_not_as_it_should_be(self):
        def change(name, edit):
            out = self.copy()
            with h5py.File(out / name, "r+") as f:
                edit(f)
            text = self.error(out)
            return text

        def shorter(f):
            del f["raw"]
            f["raw"] = np.zeros((3, 2))

        for name in ("counts.h5", "geometry-8.h5", "stress-8.h5", "sweep.h5"):
            self.check(change(name, lambda f: f.attrs.modify("format_version", 7)), name, "format_version is 7", "reads 1", "posgeom_version")
            self.check(change(name, lambda f: f.attrs.modify("format", "something")), name, "`something`", "expected `posgeom-")
            self.check(change(name, lambda f: f.attrs.__delitem__("format")), name, "not one that posgeom wrote")
            self.check(change(name, lambda f: f.attrs.__delitem__("seed")), name, "attribute seed is missing")
        self.check(change("stress-8.h5", lambda f: f.__delitem__("scaled")), "stress-8.h5", "scaled is missing", "damaged")
        self.check(change("stress-8.h5", shorter), "stress-8.h5", "raw has the shape [3, 2]", "expected [3, 4]")
        self.check(change("sweep.h5", lambda f: f.__delitem__("rank")), "sweep.h5", "rank is missing")
        self.check(change("geometry-8.h5", lambda f: f.__delitem__("encoding")), "geometry-8.h5", "encoding is missing")
        self.check(change("geometry-8.h5", lambda f: f.attrs.__delitem__("rank")), "geometry-8.h5", "attribute rank")
        self.check(change("geometry-8.h5", lambda f: f["noise"].attrs.__delitem__("threshold")), "geometry-8.h5", "attribute threshold")
        self.check(change("counts.h5", lambda f: f.__delitem__("counts")), "counts.h5", "counts/indptr is missing")

    def test_where_nothing_can_be_written(self):
        out = self.copy()
        (out / "report").write_text("in the way")
        self.check(self.error(out), "writing", "report", "exists")
        self.check(self.error(self.shared / "out", "-o", self.folder / "no/such/page.html"), "no/such/page.html", "No such file")
        with self.assertRaises(SystemExit) as stopped:
            self.call(out, "--lengths", "many")
        self.assertEqual(stopped.exception.code, 2)


if __name__ == "__main__":
    report_case.main()
