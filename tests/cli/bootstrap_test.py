"""--bootstrap: the replicates by NumPy's own Philox, their intervals and rankings, what is kept, and coverage where the truth is known."""
import signal
import subprocess
import time

import h5py
import numpy as np

import reference
from harness import Case, command
from meaning_test import counts_of, table
from numbers_test import made_up_text

N = 10
RESAMPLE = 7  # the purpose of the random words
MASK = (1 << 64) - 1


def weight(seed, replicate, unit):
    """A Poisson number of mean 1 from Philox4x64-10 with key (seed, 0) and counter (unit, replicate, 0, purpose)."""
    counter = (unit | replicate << 64 | RESAMPLE << 192) - 1  # NumPy counts up before it draws
    bits = int(np.random.Philox(key=seed, counter=counter & ((1 << 256) - 1)).random_raw(1)[0])
    high, low = (bits & 0xFFFFFFFF) >> 6, bits >> 32 >> 6
    u = ((high << 26 | low) + 0.5) * 2.0**-52
    k, p = 0, np.exp(-1)
    total = p
    while u > total:
        k += 1
        p /= k
        total += p
    return k


class Bootstrap(Case):
    def setUp(self):
        super().setUp()
        self.lines = made_up_text(documents=120, longest=14)
        self.write("corpus.txt", "\n".join(self.lines) + "\n")
        self.run_line = ("run", "--corpus", "corpus.txt", "--lengths", str(N), "--dims", "1,2,4")

    def bootstrap(self, replicates, encodings, out, *options, ranks=1):
        return self.succeed(*self.run_line, "--bootstrap", str(replicates), "--encodings", encodings, "--out", out, *options, ranks=ranks)

    def replicate(self, r, seed, sequences):
        documents, order = reference.words_to_ids(self.lines)
        counts = np.zeros((N, len(order)), dtype=np.int64)
        place = 0
        for d, document in enumerate(documents):
            for i, token in enumerate(document):
                unit, at = (place // N, place % N) if sequences == "packed" else (d, i % N)
                place += 1
                if sequences != "document" or i < N:
                    counts[at, token] += weight(seed, r, unit)
        return counts

    def check(self, out, seed, sequences):
        with h5py.File(self.folder / f"{out}/stress-{N}.h5") as f, h5py.File(self.folder / f"{out}/geometry-{N}.h5") as g:
            names = list(table(f, "raw"))
            group = {name: f[f"bootstrap/replicates/{name}"][()] for name in ("raw", "scaled", "violation_rate")}
            self.assertEqual(group["raw"].shape, (39, len(names), 3))
            for r in (0, 7, 38):
                positions, s, h = reference.hellinger(self.replicate(r, seed, sequences))
                values, _ = reference.spectrum(s)
                self.assertAlmostEqual(g["bootstrap/trace"][r], values.sum(), delta=1e-11)
                self.assertEqual(g["bootstrap/rank"][r], (values > 1e-10 * values[0]).sum())
                self.assertAlmostEqual(g["bootstrap/violation_rate"][r], reference.violation_rate(positions, h), delta=1e-12)
                for name, encoding in (("mds", lambda d: reference.mds(s, d)), ("alibi", lambda d: reference.alibi(positions, N))):
                    for k, d in enumerate((1, 2, 4)):
                        expected = reference.measures(positions, reference.distances(encoding(d)), h)
                        for measure, found in group.items():
                            self.assertAlmostEqual(found[r, names.index(name), k], expected[measure], delta=1e-9, msg=f"{r} {name} {d} {measure}")
            # Intervals are order statistics: of 39 the first and last hold 95 %.
            for measure, values in group.items():
                np.testing.assert_array_equal(f[f"bootstrap/{measure}_low"][()], values.min(axis=0))
                np.testing.assert_array_equal(f[f"bootstrap/{measure}_high"][()], values.max(axis=0))
                np.testing.assert_allclose(f[f"bootstrap/{measure}_basic_low"][()], 2 * f[measure][()] - values.max(axis=0), atol=1e-15)
                np.testing.assert_allclose(f[f"bootstrap/{measure}_basic_high"][()], 2 * f[measure][()] - values.min(axis=0), atol=1e-15)
            self.assertEqual(g["bootstrap"].attrs["trace_low"], g["bootstrap/trace"][()].min())
            self.assertEqual(g["bootstrap"].attrs["trace_basic_low"], 2 * g.attrs["trace"] - g["bootstrap/trace"][()].max())
            # Rankings by scaled stress.
            for k in range(3):
                rankings = []
                for values in group["scaled"][:, :, k]:
                    rankings.append(tuple(e for e in np.argsort(values, kind="stable") if not np.isnan(values[e])))
                for e in range(len(names)):
                    self.assertAlmostEqual(f["bootstrap/best"][e, k], np.mean([ranking[0] == e for ranking in rankings]), delta=1e-12)
                most = max(rankings.count(ranking) for ranking in rankings)
                self.assertAlmostEqual(f["bootstrap/modal_share"][k], most / 39, delta=1e-12)
                place = f["bootstrap/modal_rank"][:, k]
                modal = tuple(np.argsort(np.where(place == 0, 1000, place), kind="stable")[:(place > 0).sum()])
                self.assertEqual(rankings.count(modal), most)

    def test_replicates_are_numpys_at_any_rank_count(self):
        for ranks in (1, 3):
            text = self.bootstrap(39, "mds,alibi,linear,sinusoidal", f"r{ranks}", "--seed", "6", ranks=ranks)
            self.check(f"r{ranks}", 6, "document")
        self.assertIn("bootstrap, 39 replicates, 95 % intervals: trace", text)
        self.assertIn("by scaled stress mds <", text)
        self.assertIn("share of being best", self.succeed("inspect", f"r1/stress-{N}.h5"))
        self.assertIn("39 replicates", self.succeed("inspect", f"r1/geometry-{N}.h5"))

    def test_chunks_and_blocks(self):
        for sequences in ("chunk", "packed"):
            self.bootstrap(39, "mds,alibi", sequences, "--sequences", sequences, "--noise", "all", "--replicates", "19", ranks=2)
            self.check(sequences, 1, sequences)

    def test_replicates_are_kept_and_added_to(self):
        stored = ("--write-encodings", "--write-hellinger")
        self.bootstrap(79, "mds,alibi", "whole", *stored)
        self.bootstrap(39, "mds,alibi", "out", *stored)
        self.assertIn("reused 39 replicates", self.bootstrap(39, "mds,alibi", "out"))
        self.assertIn("39 of them were there", self.bootstrap(79, "mds,alibi", "out"))
        self.assertIn("reused 79 replicates", self.bootstrap(39, "mds,alibi", "out"))  # more than were asked for
        with h5py.File(self.folder / f"whole/stress-{N}.h5") as a, h5py.File(self.folder / f"out/stress-{N}.h5") as b:
            np.testing.assert_array_equal(a["bootstrap/replicates/scaled"][()], b["bootstrap/replicates/scaled"][()])
            self.assertIn("encodings/alibi", b)
        with h5py.File(self.folder / f"out/geometry-{N}.h5") as g:
            self.assertIn("hellinger", g)
            self.assertEqual(g["bootstrap/trace"].shape, (79,))
        # An encoding more: all replicates anew. One less: kept.
        self.assertNotIn("were there", self.bootstrap(39, "mds,linear", "out"))
        with h5py.File(self.folder / f"out/stress-{N}.h5") as f:
            replicates = dict(zip(table(f, "raw"), np.moveaxis(f["bootstrap/replicates/raw"][()], 1, 0)))
        self.assertTrue(np.isnan(replicates["alibi"]).all())  # this run could not make it
        self.assertFalse(np.isnan(replicates["linear"]).any())
        # Another level of the intervals needs no new replicates.
        text = self.bootstrap(39, "mds", "out", "--bootstrap-alpha", "0.1")
        self.assertIn("90 % intervals", text)
        with h5py.File(self.folder / f"out/geometry-{N}.h5") as g:
            trace = np.sort(g["bootstrap/trace"][()])
            self.assertEqual(g["bootstrap"].attrs["trace_low"], trace[int(np.floor((len(trace) + 1) * 0.05 + 1e-9)) - 1])
        # Without --bootstrap they stay.
        self.succeed(*self.run_line, "--encodings", "mds,random", "--out", "out")
        with h5py.File(self.folder / f"out/stress-{N}.h5") as f:
            self.assertIn("bootstrap", f)

    def test_a_signal_keeps_what_there_is(self):
        line = (*self.run_line, "--encodings", "mds,alibi", "--out", "out", "--bootstrap", "20000")
        process = subprocess.Popen(command(line), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not (self.folder / f"out/stress-{N}.h5").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)
        with h5py.File(self.folder / f"out/stress-{N}.h5") as f:
            if "bootstrap" not in f:
                return  # the first batch was still being counted
            done = f["bootstrap/replicates/raw"].shape[0]
        self.assertTrue(0 < done < 20000)
        self.assertIn(f"{done} of them were there", self.bootstrap(max(39, done + 1), "mds,alibi", "out"))

    def test_options(self):
        for options, word in ((("--bootstrap", "10"), "at least 39"), (("--bootstrap", "-1"), "bootstrap"), (("--bootstrap-alpha", "1"), "bootstrap-alpha"),
                              (("--bootstrap", "39", "--rarefy-geometry", "5"), "rarefy-geometry")):
            self.assertIn(word, self.error_line(*self.run_line, *options, "--encodings", "mds", "--out", "out", code=2))

    def test_intervals_where_the_truth_is_known(self):
        """Corpora of one known distribution: 14 of them, 90 % intervals."""
        corpora, covered, percentile = 14, 0, 0
        estimates, spreads = [], []
        for seed in range(corpora):
            self.succeed("synth", "--synth-kind", "drift", "--synth-positions", "12", "--synth-vocab", "60", "--synth-documents", "1500", "--synth-lengths",
                         "fixed:12", "--seed", str(seed), "--out", "syn", "--force")
            self.succeed("run", "--corpus", "syn/tokens.bin", "--format", "megatron", "--vocab-size", "60", "--lengths", "12", "--dims", "2", "--encodings", "linear",
                         "--bootstrap", "59", "--bootstrap-alpha", "0.1", "--out", f"s{seed}", "--seed", str(seed))
            with h5py.File(self.folder / "syn/truth.h5") as f:
                s = np.sqrt(f["weights"][()] @ f["distributions"][()])
            exact = reference.spectrum(s)[0].sum()
            with h5py.File(self.folder / f"s{seed}/geometry-12.h5") as g, h5py.File(self.folder / f"s{seed}/stress-12.h5") as f:
                a = g["bootstrap"].attrs
                covered += a["trace_basic_low"] <= exact <= a["trace_basic_high"]
                percentile += a["trace_low"] <= exact
                estimates.append(f["scaled"][0, 0])
                spreads.append(f["bootstrap/replicates/scaled"][:, 0, 0].std(ddof=1))
        # Of 14, 90 % intervals hold fewer than 10 once in 100 sets of corpora. Percentiles of what noise inflates hold the truth never.
        self.assertGreaterEqual(covered, 10)
        self.assertEqual(percentile, 0)
        # Replicates scatter as corpora do; of 14 the standard deviation is known to a fifth.
        self.assertTrue(0.5 < np.mean(spreads) / np.std(estimates, ddof=1) < 2, (np.mean(spreads), np.std(estimates, ddof=1)))
