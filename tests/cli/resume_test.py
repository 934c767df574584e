"""Finished stages are reused, others refused with the difference named, and what is added is all that is computed."""
import csv

import h5py
import numpy as np

from harness import Case
from numbers_test import made_up_text

RUN = ("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "1,2,4", "--out", "out")


class Resume(Case):
    def setUp(self):
        super().setUp()
        self.write("corpus.txt", "\n".join(made_up_text()) + "\n")
        self.succeed(*RUN)

    def times(self):
        return {path.name: path.stat().st_mtime_ns for path in (self.folder / "out").glob("*.h5") if path.name != "sweep.h5"}

    def test_the_same_again_writes_nothing(self):
        before = self.times()
        self.assertEqual(self.succeed(*RUN).count("reused"), 3)
        self.assertEqual(self.succeed(*RUN, ranks=2).count("reused"), 3)
        self.assertEqual(self.times(), before)

    def test_another_option_is_refused_and_named(self):
        before = self.times()
        for option, value in (("unreached", "zero"), ("min-count", "3"), ("hellinger-range", "1"), ("rope-base", "500000"), ("seed", "9"),
                              ("max-tokens", "5"), ("tokenizer", "chars")):
            with self.subTest(option=option):
                line = self.error_line(*RUN, f"--{option}", value)
                self.assertIn(option.replace("-", "_") if option == "max-tokens" else option, line)
                self.assertIn("--force", line)
        self.assertEqual(self.times(), before)

    def test_damaged_files_are_replaced_with_force_and_the_error_says_so(self):
        for name in ("counts.h5", "geometry-8.h5", "stress-8.h5"):
            path = self.folder / "out" / name
            for damage in (path.read_bytes()[:2000], b"\0" * 3000):
                with self.subTest(name=name, bytes=len(damage)):
                    path.write_bytes(damage)
                    line = self.error_line(*RUN)
                    self.assertIn(name, line)
                    self.assertIn("--force makes it anew", line)
                    self.succeed(*RUN, "--force")

    def test_a_header_line_that_would_be_counted_is_told(self):
        self.write("train.tsv", "sentence\tlabel\n" + "\n".join(f"{line}\t1" for line in made_up_text()) + "\n")
        options = ("count", "--corpus", "train.tsv", "--lengths", "8")
        self.assertIn("is --header missing?", self.succeed(*options, "--out", "a"))
        self.assertNotIn("is --header missing?", self.succeed(*options, "--header", "--out", "b"))
        self.write("plain.tsv", "\n".join(f"{line}\t1" for line in made_up_text()) + "\n")
        self.assertNotIn("is --header missing?", self.succeed("count", "--corpus", "plain.tsv", "--lengths", "8", "--out", "c"))

    def test_another_corpus_is_refused(self):
        self.write("corpus.txt", "\n".join(made_up_text(seed=8)) + "\n")
        self.assertIn("counts.h5", self.error_line(*RUN))

    def test_force_replaces(self):
        self.succeed(*RUN, "--unreached", "zero", "--force")
        with h5py.File(self.folder / "out/geometry-8.h5") as f:
            unreached = f.attrs["unreached"]
            self.assertEqual(unreached.decode() if isinstance(unreached, bytes) else unreached, "zero")

    def test_resume_off_refuses_what_is_there(self):
        self.assertIn("--force", self.error_line(*RUN, "--resume=off"))

    def test_a_length_more_computes_that_length(self):
        before = self.times()
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "4,8", "--dims", "1,2,4", "--out", "out")
        after = self.times()
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertIn("geometry-4.h5", after)
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8,16", "--dims", "1,2,4", "--out", "out")
        with h5py.File(self.folder / "out/sweep.h5") as f:
            np.testing.assert_array_equal(f["length"][()], [4, 8, 16])

    def test_dimensions_and_encodings_join_the_table(self):
        with h5py.File(self.folder / "out/stress-8.h5") as f:
            old = f["raw"][()]
        np.save(self.folder / "mine.npy", np.arange(32.0).reshape(8, 4))
        more = ("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "2,3", "--out", "out", "--encodings", "mds,mine=file:mine.npy")
        self.succeed(*more)
        with h5py.File(self.folder / "out/stress-8.h5") as f:
            names = [name.decode() for name in f["encoding_name"][()]]
            self.assertEqual(set(names), {"mds", "sinusoidal", "rope", "alibi", "linear", "random", "mine"})
            np.testing.assert_array_equal(f["dimension"][()], [1, 2, 3, 4])
            order = [names.index(name) for name in ("mds", "sinusoidal", "rope", "alibi", "linear", "random")]
            np.testing.assert_array_equal(f["raw"][()][order][:, [0, 1, 3]], old)
            self.assertFalse(np.isnan(f["raw"][names.index("mine"), 1]))
            self.assertFalse(np.isnan(f["raw"][names.index("mds"), 2]))
        self.assertEqual(self.succeed(*more).count("reused"), 3)
        np.save(self.folder / "mine.npy", np.ones((8, 4)))
        self.assertIn("encoding.mine", self.error_line(*more))

    def test_more_components_than_stored(self):
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "6", "--out", "out")
        with h5py.File(self.folder / "out/geometry-8.h5") as f:
            self.assertEqual(f["encoding"].shape, (8, 6))

    def test_files_of_different_options_are_not_collected(self):
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "4,8", "--dims", "1,2,4", "--out", "out")
        line = self.error_line("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "1,2,4", "--out", "out", "--hellinger-range", "1", "--force")
        self.assertIn("hellinger-range", line)
        self.assertIn("stress-4.h5", line)
        self.assertIn("stress-8.h5", line)

    def test_stress_with_other_options_than_embed_is_refused(self):
        self.assertIn("unreached", self.error_line("stress", "--lengths", "8", "--dims", "1,2,4", "--out", "out", "--unreached", "uniform"))


class Bench(Case):
    def test_stage_times_as_csv(self):
        self.write("corpus.txt", "\n".join(made_up_text()) + "\n")
        options = ("--corpus", "corpus.txt", "--lengths", "4,8", "--dims", "1,2,4")
        self.succeed("run", *options, "--out", "once", "--noise", "all")
        for ranks in (2, 1):
            text = self.succeed("bench", *options, "--out", "out", ranks=ranks)
            rows = list(csv.DictReader(text.splitlines()))
            self.assertEqual([(row["ranks"], row["length"]) for row in rows], [(str(ranks), "4"), (str(ranks), "8")])
            for row in rows:
                seconds = {name: float(value) for name, value in row.items() if name.endswith("_s")}
                self.assertTrue(all(value > 0 for name, value in seconds.items()), row)
                self.assertLessEqual(seconds["gram_s"] + seconds["solver_s"], seconds["embed_s"])
                self.assertLess(seconds["count_s"] + seconds["collect_s"], seconds["total_s"])
                self.assertEqual((row["noise"], row["dimensions"], row["version"]), ("all", "3", rows[0]["version"]))
            # Made anew, and the same numbers as run's.
            for length in (4, 8):
                with h5py.File(self.folder / f"once/stress-{length}.h5") as one, h5py.File(self.folder / f"out/stress-{length}.h5") as other:
                    np.testing.assert_allclose(one["raw"][()], other["raw"][()], rtol=1e-12, atol=1e-12)
        with open(self.folder / "out/bench.csv", encoding="utf-8") as kept:
            self.assertEqual([row["ranks"] for row in csv.DictReader(kept)], ["2", "2", "1", "1"])
        self.assertIn("--corpus", self.error_line("bench", "--lengths", "4", code=2))
