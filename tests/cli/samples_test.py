"""The bundled corpora: the aligned 16S genes' reference values, and the King James Bible against NumPy."""
import csv
import gzip
import lzma
import os
import random
import re
import subprocess
import sys

import h5py
import numpy as np

import reference
from harness import DATA, POSGEOM, SOURCE, Case

GENES_EIGENVALUES = [2073.29937, 820.488595, 298.246994, 255.073498, 172.555814, 47.5817171]
GENES_STRESS = {1: 0.14190194, 2: 0.04610426, 3: 0.01728542, 4: 0.00570930, 8: 1.891e-8}


class Aligned16S(Case):
    def test_reference_values(self):
        self.succeed("run", "--corpus", DATA / "16s_aligned.txt.xz", "--tokenizer", "chars", "--lengths", "7682", "--dims", "1,2,3,4,8", "--encodings", "mds",
                     "--out", "out", ranks=2, timeout=250)
        with h5py.File(self.folder / "out/geometry-7682.h5") as f:
            self.assertAlmostEqual(f.attrs["trace"], 3668.08697609, places=7)
            self.assertAlmostEqual(f.attrs["sum_hellinger_squared"] / 28178244.1503, 1, places=11)
            self.assertAlmostEqual(f.attrs["mean_hellinger"], 0.73928932, places=8)
            np.testing.assert_allclose(f["eigenvalues"][:6], GENES_EIGENVALUES, rtol=5e-9)
            self.assertEqual(f["encoding"].shape, (7682, 8))
        with h5py.File(self.folder / "out/counts.h5") as f:
            self.assertEqual(f.attrs["vocab_size"], 17)
            self.assertEqual(f.attrs["document_count"], 5181)
            self.assertTrue((f["position_total"][()] == 5181).all())
        with h5py.File(self.folder / "out/stress-7682.h5") as f:
            for k, d in enumerate(f["dimension"][()]):
                self.assertAlmostEqual(f["raw"][0, k], GENES_STRESS[d], delta=6e-9 if d < 8 else 6e-12)


class Paper(Case):
    def test_the_synthetic_experiments_need_no_data(self):
        def script(*words):
            return subprocess.run(["bash", SOURCE / "jobs/paper.sh", "--posgeom", POSGEOM, *words], cwd=self.folder, capture_output=True, text=True,
                                  env={**os.environ, "PYTHON": sys.executable}, timeout=200)
        done = script("--out", "paper")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / "paper/paper.csv", encoding="utf-8") as file:
            rows = {row["claim"]: row for row in csv.DictReader(file)}
        self.assertEqual(rows["synthetic, 3 components: rank"]["measured"], "3")
        noisy = rows["the same, 1000 tokens a component: rank"]
        self.assertEqual(noisy["measured"], "31")
        self.assertIn("NOT reproduced", noisy["verdict"])
        self.assertIn("signal rank 3", noisy["verdict"])
        self.assertEqual(rows["parameters of A B', of n d"]["measured"], "480 of 4096 (-88 %)")
        self.assertEqual(rows["SST-2"]["published"], "not run")
        self.assertEqual(rows["IMDB"]["published"], "not run")
        for words, what in ((("--imdb", "none.tsv"), "none.tsv"), (("--imdb", SOURCE / "README.md"), "--vocab"), (("--odd",), "--odd")):
            refused = script(*words)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(what, refused.stderr)


class Plan(Case):
    def test_compressed_text_is_estimated_by_its_bytes_and_says_so(self):
        text = self.succeed("plan", "--corpus", DATA / "16s_aligned.txt.xz", "--tokenizer", "chars", "--lengths", "7682")
        self.assertRegex(text, r"vocabulary at least \d+ \(from a sample\), tokens \d+ \(from a sample\)")
        self.assertRegex(text, r"compressed text: the token count is estimated .* the first \d+ tokens")
        self.assertEqual(text.count("compressed text"), 1)
        draw = random.Random(1)
        documents = [" ".join(str(draw.randrange(1000000)) for _ in range(draw.randrange(100))) for _ in range(40000)]
        tokens = sum(len(document.split()) for document in documents)
        self.write("text.txt.gz", gzip.compress("\n".join(documents).encode(), 1))
        text = self.succeed("plan", "--corpus", "text.txt.gz", "--lengths", "32")
        self.assertIn("compressed text: ", text)
        (estimate,) = re.findall(r"tokens (\d+) \(from a sample\)", text)
        self.assertLess(abs(int(estimate) - tokens), 0.2 * tokens)

    def test_a_sample_that_is_the_corpus_is_no_estimate(self):
        text = self.succeed("plan", "--corpus", DATA / "kjv.txt.xz", "--lengths", "32,128")
        self.assertIn("vocabulary 28856, tokens 789634", text)
        self.assertNotIn("compressed text", text)
        self.assertNotIn("upper bound", text)
        self.assertRegex(text, r"n=128 +90 positions reached: ")

    def test_upper_bounds_are_called_so(self):
        self.assertIn("upper bounds: how many tokens there are is not known", self.succeed("plan", "--lengths", "64", "--vocab-size", "5000"))
        self.write("short.txt", "one two three four\n" * 400000)
        text = self.succeed("plan", "--corpus", "short.txt", "--lengths", "3,16")
        self.assertIn("upper bounds for n=16: the longest document of the sample has 4 tokens, and positions that no document reaches are dropped", text)
        text = self.succeed("plan", "--corpus", "short.txt", "--lengths", "16", "--unreached", "uniform")
        self.assertIn("share one row", text)

    def test_what_is_asked_for_is_planned(self):
        def sizes(*more):
            text = self.succeed("plan", "--corpus", DATA / "kjv.txt.xz", "--lengths", "32", *more)
            (line,) = re.findall(r"^n=32 .*", text, re.M)
            return {stage: int(mib) for stage, mib in re.findall(r"(\w+) (\d+) MiB", line)}, text
        plain, _ = sizes("--noise", "none")
        noise, _ = sizes("--noise", "all")
        self.assertGreater(noise["embed"], plain["embed"])
        boot, text = sizes("--noise", "none", "--bootstrap", "39")
        self.assertGreater(boot["bootstrap"], plain["embed"])
        self.assertNotIn("slurm bootstrap", text)
        (run,) = re.findall(r"^slurm run .*--mem-per-cpu=(\d+)M", text, re.M)
        self.assertGreaterEqual(int(run), boot["bootstrap"])


class KingJames(Case):
    def test_against_numpy(self):
        self.succeed("run", "--corpus", DATA / "kjv.txt.xz", "--lengths", "32", "--dims", "1,2,8,32", "--out", "out", ranks=2)
        lines = lzma.open(DATA / "kjv.txt.xz", "rt", encoding="utf-8").read().splitlines()
        self.assertEqual(len(lines), 31102)
        documents, order = reference.words_to_ids(lines)
        table = reference.position_counts(documents, 32, len(order))
        positions, s, h = reference.hellinger(table)
        values, _ = reference.spectrum(s)
        with h5py.File(self.folder / "out/counts.h5") as f:
            np.testing.assert_array_equal(f["position_total"][()], table.sum(axis=1))
            self.assertEqual(f.attrs["vocab_size"], len(order))
            self.assertEqual(f["counts/token"].shape[0], np.count_nonzero(table))
        with h5py.File(self.folder / "out/geometry-32.h5") as f:
            np.testing.assert_allclose(f["eigenvalues"][()], values, atol=1e-13)
        with h5py.File(self.folder / "out/stress-32.h5") as f:
            names = [name.decode() for name in f["encoding_name"][()]]
            for k, d in enumerate(f["dimension"][()]):
                wanted = reference.measures(positions, reference.distances(reference.mds(s, d)), h)
                for measure, value in wanted.items():
                    self.assertAlmostEqual(f[measure][names.index("mds"), k], value, places=9, msg=f"{measure} d={d}")
