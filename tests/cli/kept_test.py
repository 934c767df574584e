"""Options of the geometry (rarefied positions, factors, H), and what outlives a run that does not ask for it."""
import h5py
import numpy as np

import reference
from meaning_test import RUN, Meaning, N, counts_of
from numbers_test import made_up_text


class Geometry(Meaning):
    def test_rarefied_positions_hold_as_many_tokens(self):
        run = ("run", *RUN, "--dims", "1,2", "--encodings", "mds,linear")
        self.succeed(*run)
        totals = self.counts("counts").sum(axis=1)
        total = int(np.sort(totals)[N // 2])
        for ranks in (1, 3):
            text = self.succeed("run", *RUN[:-1], f"rare{ranks}", "--dims", "1,2", "--encodings", "mds,linear", "--rarefy-geometry", str(total), "--write-hellinger",
                                "--noise", "shuffle", ranks=ranks)
        few = int((totals < total).sum())
        self.assertIn(f"rarefied to {total} tokens; {few} of {N} reached positions have fewer", text)
        with h5py.File(self.folder / "rare1/geometry-16.h5") as one, h5py.File(self.folder / "rare3/geometry-16.h5") as three:
            np.testing.assert_array_equal(one["position"][()], np.flatnonzero(totals >= total))
            np.testing.assert_array_equal(three["hellinger"][()], one["hellinger"][()])
            self.assertEqual(one.attrs["rarefied_total"], total)
            h = one["hellinger"][()]
        # S holds square roots of counts over M: squared distances 2 - 2 sum sqrt(c c') / M, and the norms are one.
        _, _, whole = reference.hellinger(self.counts("counts"))
        kept = np.flatnonzero(totals >= total)
        self.assertGreater(np.abs(h - whole[np.ix_(kept, kept)]).max(), 1e-3)
        # A position with exactly M tokens is whole: its distances to another such one are the corpus's own.
        exact = np.flatnonzero(totals[kept] == total)
        self.assertGreaterEqual(len(exact), 1)
        same = whole[np.ix_(kept, kept)][np.ix_(exact, exact)]
        np.testing.assert_allclose(h[np.ix_(exact, exact)], same, atol=1e-12)
        with self.stress("rare1") as f:
            self.assertFalse(np.isnan(f["shuffled/raw"][()]).any())
        self.assertIn(f"every position to {total} tokens", self.succeed("inspect", "rare1/geometry-16.h5"))

    def test_rarefying_is_part_of_what_a_geometry_is_made_from(self):
        run = ("run", *RUN, "--dims", "1", "--encodings", "linear")
        self.succeed(*run, "--rarefy-geometry", "auto")
        self.assertEqual(self.succeed(*run, "--rarefy-geometry", "auto").count("reused"), 3)
        for options in ((), ("--rarefy-geometry", "50")):
            line = self.error_line(*run, *options)
            self.assertIn("rarefy-geometry", line)
            self.assertIn("auto with seed 1 there", line)
        for value in ("0", "some"):
            self.assertIn("rarefy-geometry", self.error_line(*run, "--rarefy-geometry", value, code=2))
        line = self.error_line("run", *RUN[:-1], "much", "--dims", "1", "--encodings", "linear", "--rarefy-geometry", "100000000")
        for word in ("--rarefy-geometry", "100000000", "the fullest holds"):
            self.assertIn(word, line)

    def test_factors(self):
        run = ("run", *RUN, "--dims", "15", "--encodings", "mds")
        text = self.succeed(*run, "--factored", "0.05", ranks=2)
        self.assertIn("factored: A [", text)
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            p, a, b = f["encoding"][()], f["factored/a"][()], f["factored/b"][()]
            attributes = dict(f["factored"].attrs)
            values = f["eigenvalues"][()]
        error = np.linalg.norm(p - a @ b.T) / np.linalg.norm(p)
        self.assertLessEqual(error, 0.05)
        self.assertAlmostEqual(attributes["error"], error, delta=1e-10)
        tail = np.sqrt(np.cumsum(values[::-1])[::-1] / values.sum())
        self.assertEqual(attributes["rank"], next(r for r in range(N) if tail[r] <= 0.05))
        self.assertEqual(attributes["parameters_factored"], attributes["rank"] * (16 + 15))
        self.assertEqual(attributes["parameters_full"], 16 * 15)
        self.assertIn("does not save", text)
        # Kept where nobody asks; made anew to another tolerance; exact at 0; and the encoding stays.
        self.assertEqual(self.succeed(*run).count("reused"), 3)
        self.succeed(*run, "--factored", "0")
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            np.testing.assert_array_equal(f["encoding"][()], p)
            np.testing.assert_allclose(f["factored/a"][()] @ f["factored/b"][()].T, p, atol=1e-12)
        self.succeed("run", *RUN, "--dims", "15,20", "--encodings", "mds")
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            self.assertEqual(f["factored/b"].shape[0], 20)
        self.assertIn("factored", self.succeed("inspect", "out/geometry-16.h5"))
        for value in ("1", "-0.5", "much"):
            self.assertIn("factored", self.error_line(*run, "--factored", value, code=2))

    def test_hellinger_is_kept_and_not_made_twice(self):
        run = ("run", *RUN, "--dims", "1,2", "--encodings", "mds")
        self.succeed(*run, "--write-hellinger")
        self.assertEqual(self.succeed(*run, "--write-hellinger").count("reused"), 3)
        self.succeed("run", *RUN, "--dims", "4", "--encodings", "mds")
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            self.assertIn("hellinger", f)


class Kept(Meaning):
    def test_the_rule_of_the_halves_outlives_a_run_without_noise(self):
        self.succeed("count", *RUN, "--noise", "split", "--split-by", "block:3", "--seed", "5")
        halves = self.counts("counts_half_a")
        # A longer table counts everything anew: the halves too, by the rule that they had.
        self.succeed("count", *RUN[:2], "--lengths", "20", "--out", "out", "--noise", "none")
        with h5py.File(self.folder / "out/counts.h5") as f:
            lines = f.attrs["fingerprint_lines"]
            lines = lines.decode() if isinstance(lines, bytes) else lines
            np.testing.assert_array_equal(counts_of(f, "counts_half_a", N), halves)
        self.assertIn("noise.seed=5", lines)
        self.assertIn("noise.split-by=block:3", lines)
        line = self.error_line("count", *RUN, "--noise", "split", "--seed", "5")
        self.assertIn("noise.split-by = block:3 there, document now", line)

    def test_halves_by_column_outlive_it_too(self):
        rows = ["name\ttext"] + [f"g{k % 7}\t{line}" for k, line in enumerate(made_up_text())]
        self.write("table.tsv", "\n".join(rows) + "\n")
        corpus = ("--corpus", "table.tsv", "--format", "tsv", "--header", "--column", "text", "--out", "tsv")
        self.succeed("count", *corpus, "--lengths", "16", "--noise", "split", "--split-by", "column:name")
        halves = self.counts("counts_half_a", "tsv")
        self.succeed("count", *corpus, "--lengths", "20", "--noise", "none")
        np.testing.assert_array_equal(self.counts("counts_half_a", "tsv"), halves)

    def test_stored_encodings_outlive_a_run_without_them(self):
        np.save(self.folder / "mine.npy", np.random.default_rng(3).normal(size=(N, 2)))
        run = ("run", *RUN, "--dims", "2")
        self.succeed(*run, "--encodings", "mds,mine=file:mine.npy", "--write-encodings")
        (self.folder / "mine.npy").unlink()
        self.succeed(*run, "--encodings", "alibi")
        with self.stress() as f:
            self.assertEqual(set(f["encodings"]), {"mds", "mine", "alibi"})
            self.assertEqual(f["encodings/mine/2"].shape, (16, 2))
            mine = f["encodings/mine/2"][()]
        self.succeed("run", *RUN, "--dims", "2,4", "--encodings", "mds")
        with self.stress() as f:
            self.assertEqual(set(f["encodings/mds"]), {"2", "4"})
            np.testing.assert_array_equal(f["encodings/mine/2"][()], mine)
