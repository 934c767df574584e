"""What the numbers mean: the shuffled corpus and the de-noised distances beside them, rarefied and factored geometry; against NumPy."""
import h5py
import numpy as np

import reference
from harness import Case
from numbers_test import made_up_text

N = 16
RUN = ("--corpus", "corpus.txt", "--lengths", str(N), "--out", "out")


def table(file, name):
    """Rows of an [E, D] table by encoding."""
    return dict(zip((text.decode() for text in file["encoding_name"][()]), file[name][()]))


def counts_of(file, group, n=N):
    """A table of counts.h5 as a matrix."""
    indptr, token, count = (file[f"{group}/{part}"][()] for part in ("indptr", "token", "count"))
    dense = np.zeros((n, file.attrs["vocab_size"]), dtype=np.int64)
    for i in range(n):
        dense[i, token[indptr[i]:indptr[i + 1]]] = count[indptr[i]:indptr[i + 1]]
    return dense


class Meaning(Case):
    def setUp(self):
        super().setUp()
        self.write("corpus.txt", "\n".join(made_up_text()) + "\n")

    def counts(self, group, out="out"):
        with h5py.File(self.folder / out / "counts.h5") as f:
            return counts_of(f, group)

    def stress(self, out="out", n=N):
        return h5py.File(self.folder / f"{out}/stress-{n}.h5")

    def check_group(self, f, name, expected, tolerance=1e-11):
        for encoding, rows in expected.items():
            found = table(f, name)[encoding]
            np.testing.assert_allclose(found, rows, rtol=tolerance, atol=tolerance, err_msg=f"{name} {encoding}", equal_nan=True)


class Shuffled(Meaning):
    NAMES = "mds,sinusoidal,alibi,random,mine=file:mine.npy"

    def setUp(self):
        super().setUp()
        np.save(self.folder / "mine.npy", np.random.default_rng(3).normal(size=(N, 4)))

    def test_against_numpy_and_over_rank_counts(self):
        dims = (1, 2, 4, 15)
        for ranks in (1, 3):
            text = self.succeed("run", *RUN[:-1], f"r{ranks}", "--dims", "1,2,4,15", "--encodings", self.NAMES, "--noise", "all", "--replicates", "19",
                                ranks=ranks)
        self.assertIn("against shuffled text", text)
        _, s, _ = reference.hellinger(self.counts("counts", "r1"))
        positions, s_null, h_null = reference.hellinger(self.counts(f"length_{N}/counts_shuffled", "r1"))
        mine = np.load(self.folder / "mine.npy")
        encodings = {"mds": lambda d: reference.mds(s_null, d), "sinusoidal": lambda d: reference.sinusoidal(positions, d) if d % 2 == 0 else None,
                     "alibi": lambda d: reference.alibi(positions, N), "mine": lambda d: mine[positions, :d] if d <= 4 else None}
        for ranks in (1, 3):
            with self.stress(f"r{ranks}") as f:
                for name, encoding in encodings.items():
                    for k, d in enumerate(dims):
                        p = encoding(d)
                        expected = None if p is None else reference.measures(positions, reference.distances(p), h_null)
                        for measure in ("raw", "scaled", "violation_rate"):
                            value = np.nan if expected is None else expected[measure]
                            np.testing.assert_allclose(table(f, f"shuffled/{measure}")[name][k], value, rtol=1e-9, atol=1e-9, err_msg=f"{name} {d} {measure}")
                # A fixed encoding's own distances do not depend on the corpus.
                np.testing.assert_array_equal(table(f, "shuffled/violation_rate")["random"], table(f, "violation_rate")["random"])
                self.assertNotEqual(table(f, "shuffled/raw")["random"][1], table(f, "raw")["random"][1])
                upper = np.triu_indices(len(positions), 1)
                baseline = 1 - h_null[upper].mean() ** 2 / (h_null[upper] ** 2).mean()
                self.assertAlmostEqual(f["shuffled"].attrs["constant_baseline"], baseline, delta=1e-12)
                self.assertAlmostEqual(f["shuffled"].attrs["corpus_violation_rate"], reference.violation_rate(positions, h_null), delta=1e-12)
        with self.stress("r1") as f, h5py.File(self.folder / "r1/sweep.h5") as sweep:
            for measure in ("raw", "scaled", "violation_rate"):
                np.testing.assert_array_equal(sweep[f"shuffled_{measure}"][0], f[f"shuffled/{measure}"][()])
            np.testing.assert_array_equal(sweep["denoised_raw"][0], f["denoised/raw"][()])
        lines = (self.folder / "r1/sweep.csv").read_text().splitlines()
        column = lines[0].split(",").index("shuffled_raw")
        with self.stress("r1") as f:
            self.assertEqual(float(lines[1].split(",")[column]), f["shuffled/raw"][0, 0])
        text = self.succeed("inspect", "r1/stress-16.h5")
        self.assertIn("scaled stress, shuffled", text)

    def test_smacof_of_the_shuffled_corpus(self):
        text = self.succeed("run", *RUN, "--dims", "1,2", "--encodings", "mds,smacof", "--noise", "shuffle")
        self.assertIn("smacof of the shuffled corpus d=2", text)
        with self.stress() as f:
            raw, null = table(f, "raw"), table(f, "shuffled/raw")
            self.assertLess(null["smacof"][1], null["mds"][1])
            self.assertNotAlmostEqual(null["smacof"][1], raw["smacof"][1], delta=1e-4)

    def test_it_is_added_where_the_counts_have_it(self):
        run = ("run", *RUN, "--dims", "1,2", "--encodings", "mds,linear")
        self.succeed(*run, "--noise", "all", "--replicates", "19")
        with self.stress() as f:
            whole = {name: f[f"shuffled/{name}"][()] for name in ("raw", "scaled", "violation_rate")}
        (self.folder / "out/stress-16.h5").unlink()
        self.succeed(*run, "--noise", "none")
        with self.stress() as f:
            self.assertNotIn("shuffled", f)
            raw = f["raw"][()]
        self.succeed("stress", *RUN[2:], "--dims", "1,2", "--encodings", "mds,linear", "--noise", "all")
        with self.stress() as f:
            np.testing.assert_array_equal(f["raw"][()], raw)
            for name, values in whole.items():
                np.testing.assert_array_equal(f[f"shuffled/{name}"][()], values)
        self.assertIn("reused out/stress-16.h5", self.succeed("stress", *RUN[2:], "--dims", "1,2", "--encodings", "mds,linear", "--noise", "all"))
        # What the file has is completed for a new encoding and dimension, and kept for the others, though this run asks for no null.
        self.succeed("stress", *RUN[2:], "--dims", "4", "--encodings", "alibi,linear", "--noise", "none")
        with self.stress() as f:
            null = table(f, "shuffled/raw")
            np.testing.assert_array_equal(null["mds"][:2], whole["raw"][0])
            self.assertTrue(np.isnan(null["mds"][2]))
            self.assertFalse(np.isnan(null["alibi"]).any())
            self.assertFalse(np.isnan(null["linear"]).any())

    def test_another_null_is_refused(self):
        run = ("run", *RUN, "--dims", "1,2", "--encodings", "linear", "--noise", "shuffle")
        self.succeed(*run)
        self.succeed("count", *RUN, "--noise", "shuffle", "--seed", "7", "--force")
        line = self.error_line("stress", *RUN[2:], "--dims", "1,2", "--encodings", "linear", "--noise", "shuffle")
        for word in ("noise.shuffled = 1 there, 7 now", "stress-16.h5", "--force"):
            self.assertIn(word, line)

    def test_a_null_that_is_no_longer_counted_is_kept(self):
        self.succeed("run", *RUN, "--dims", "1,2", "--encodings", "linear", "--noise", "shuffle")
        with self.stress() as f:
            before = table(f, "shuffled/raw")["linear"]
        self.succeed("count", *RUN, "--noise", "none", "--force")
        self.succeed("stress", *RUN[2:], "--dims", "1,2", "--encodings", "alibi", "--noise", "none")
        with self.stress() as f:
            np.testing.assert_array_equal(table(f, "shuffled/raw")["linear"], before)
            self.assertTrue(np.isnan(table(f, "shuffled/raw")["alibi"]).all())
            self.assertFalse(np.isnan(table(f, "raw")["alibi"]).any())

    def test_counts_without_a_null_score_none(self):
        self.succeed("run", *RUN, "--dims", "1", "--encodings", "linear", "--noise", "none")
        self.succeed("stress", *RUN[2:], "--dims", "1", "--encodings", "linear", "--noise", "all")
        with self.stress() as f:
            self.assertNotIn("shuffled", f)


class Signal(Meaning):
    CORPUS = ("--format", "megatron", "--vocab-size", "300")

    def synth(self, *options):
        self.succeed("synth", "--synth-positions", "24", "--synth-vocab", "300", "--synth-documents", "4000", "--synth-lengths", "lognormal:14:0.6", "--out", "syn",
                     "--force", *options)
        return ("--corpus", "syn/tokens.bin", *self.CORPUS, "--lengths", "24", "--encodings", "mds,signal,linear", "--dims", "1,2,3,8")

    def test_against_numpy(self):
        run = ("run", *self.synth(), "--noise", "split", "--replicates", "19", "--rarefy", "600")
        for ranks in (1, 2, 3):
            text = self.succeed(*run, "--out", f"r{ranks}", ranks=ranks)
        self.assertIn("against the de-noised distances", text)
        with h5py.File(self.folder / "r1/geometry-24.h5") as g:
            noise, encoding, kept = g["noise/position"][()], g["noise/signal_encoding"][()], g["position"][()]
            rank = g["noise"].attrs["signal_rank"]
        self.assertLess(len(noise), len(kept))
        self.assertEqual(encoding.shape[1], rank)
        with h5py.File(self.folder / "r1/counts.h5") as c:
            positions, _, h = reference.hellinger(counts_of(c, "counts", 24))
        rows = np.searchsorted(positions, noise)
        h_noise = h[np.ix_(rows, rows)]
        for ranks in (1, 2, 3):
            with self.stress(f"r{ranks}", 24) as f:
                for k, d in enumerate((1, 2, 3, 8)):
                    p = np.zeros((len(noise), d))
                    p[:, :min(d, rank)] = encoding[:, :d]
                    expected = reference.measures(noise, reference.distances(p), h_noise)
                    for measure, value in expected.items():
                        np.testing.assert_allclose(table(f, measure)["signal"][k], value, rtol=1e-8, atol=1e-8, err_msg=f"{measure} {d}")
        with self.stress("r1", 24) as f:
            denoised = table(f, "denoised/scaled")
            self.assertLess(denoised["signal"][2], denoised["mds"][3])
            # Three components were planted: what they span is nearly all that there is.
            self.assertLess(denoised["signal"][2], 0.2)
            one = {name: f[name][()] for name in ("denoised/raw", "denoised/scaled")}
        for ranks in (2, 3):
            with self.stress(f"r{ranks}", 24) as f:
                for name, values in one.items():
                    np.testing.assert_allclose(f[name][()], values, rtol=1e-12, atol=1e-12)

    def test_denoised_distances_from_the_halves(self):
        """Halves of as many documents, all of one length: rarefaction takes every token, and NumPy has the same halves."""
        n, words = 8, np.array(list("abcdefgh"))
        rng = np.random.default_rng(5)
        self.write("even.txt", "\n".join(" ".join(words[np.minimum(rng.poisson(1 + np.arange(n) / 2), 7)]) for _ in range(12)) + "\n")
        run = ("--corpus", "even.txt", "--lengths", str(n), "--out", "even")
        for seed in range(1, 60):
            self.succeed("count", *run, "--noise", "split", "--seed", str(seed), "--force")
            with h5py.File(self.folder / "even/counts.h5") as f:
                whole, half = counts_of(f, "counts", n), counts_of(f, "counts_half_a", n)
            if half[0].sum() == 6:
                break
        self.succeed("run", *run, "--dims", "1,2,4", "--encodings", "signal,mds,linear,sinusoidal,smacof", "--noise", "split", "--replicates", "19",
                     "--seed", str(seed), ranks=3)
        s_a, s_b = np.sqrt(half / 6), np.sqrt((whole - half) / 6)
        squared = ((s_a[:, None] - s_a[None]) * (s_b[:, None] - s_b[None])).sum(-1)
        h = np.sqrt(np.where(squared > 1e-14, squared, 0))
        upper = np.triu_indices(n, 1)
        self.assertGreater((squared[upper] < 0).sum(), 0)
        with self.stress("even", n) as f, h5py.File(self.folder / "even/geometry-8.h5") as g:
            self.assertEqual(len(g["noise/position"]), n)
            encodings = {"mds": lambda d: g["encoding"][:, :d], "linear": lambda d: np.arange(n)[:, None] / n, "smacof": lambda d: f[f"encodings/smacof/{d}"][()],
                         "sinusoidal": lambda d: reference.sinusoidal(np.arange(n), d), "signal": lambda d: g["noise/signal_encoding"][:, :d]}
            for name, encoding in encodings.items():
                for k, d in enumerate((1, 2, 4)):
                    if name == "sinusoidal" and d == 1:
                        self.assertTrue(np.isnan(table(f, "denoised/raw")[name][k]))
                        continue
                    x, y = reference.distances(encoding(d))[upper], h[upper]
                    expected = ((x - y) ** 2).sum() / (y**2).sum(), 1 - (x @ y) ** 2 / ((x @ x) * (y @ y)) if (x @ x) > 0 else np.nan
                    found = table(f, "denoised/raw")[name][k], table(f, "denoised/scaled")[name][k]
                    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=f"{name} {d}")
            self.assertAlmostEqual(f["denoised"].attrs["constant_baseline"], 1 - h[upper].mean() ** 2 / (h[upper] ** 2).mean(), delta=1e-12)

    def test_without_halves_it_is_refused(self):
        run = ("run", *self.synth(), "--out", "plain")
        line = self.error_line(*run, "--noise", "shuffle", code=2)
        for word in ("signal", "plain/geometry-24.h5", "--noise split or all"):
            self.assertIn(word, line)
        self.assertFalse((self.folder / "plain/counts.h5").exists())
        self.succeed("run", *self.synth()[:-4], "--dims", "1", "--encodings", "mds", "--noise", "none", "--out", "plain")
        line = self.error_line("stress", "--lengths", "24", "--dims", "1", "--encodings", "signal", "--out", "plain", "--noise", "none")
        for word in ("signal", "plain/geometry-24.h5", "--noise split or all"):
            self.assertIn(word, line)
        # Once it is there, later runs need not ask for it.
        self.succeed(*run, "--noise", "split", "--replicates", "19")
        self.assertIn("reused plain/stress-24.h5", self.succeed(*run, "--noise", "none"))

    def test_it_is_resumed_and_stored(self):
        corpus = self.synth()
        self.succeed("run", *corpus, "--noise", "split", "--replicates", "19", "--out", "out", "--write-encodings")
        with self.stress("out", 24) as f, h5py.File(self.folder / "out/geometry-24.h5") as g:
            self.assertEqual(f["encodings/signal/8"].shape, (len(g["noise/position"]), 8))
            before = {name: f[name][()] for name in ("raw", "denoised/raw")}
        text = self.succeed("run", *corpus[:-4], "--encodings", "signal,alibi", "--dims", "1,2,3,8", "--noise", "split", "--replicates", "19", "--out", "out")
        self.assertNotIn("reused out/stress", text)
        with self.stress("out", 24) as f:
            order = [list(table(f, "raw")).index(name) for name in ("mds", "signal", "linear")]
            for name, values in before.items():
                np.testing.assert_array_equal(f[name][()][order], values)
            self.assertFalse(np.isnan(table(f, "denoised/raw")["alibi"]).any())
