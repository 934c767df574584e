"""The page: what it says of real text, of text without order, of half a run, of next to nothing; and that it needs nothing else."""
import os
import re
import subprocess
import sys

import report_case

report_case.need("matplotlib")

import h5py
import numpy as np
from harness import SOURCE
from page_case import Page, PageCase
from report_case import verses

from report_pages import words
from report_pages.files import read_run


def capital(text):
    return (text if text.startswith("mds ") else text[0].upper() + text[1:]) + "."


class RealText(PageCase):
    @classmethod
    def make(cls, case):
        case.write("kjv.txt", verses(2000))
        cls.said = case.succeed("run", "--corpus", "kjv.txt", "--lengths", "8,16", "--dims", "1,2,4,8", "--noise", "all", "--replicates", "19",
                                "--encodings", "mds,sinusoidal,linear,signal", "--out", "out", ranks=2)
        cls.inspected = {n: case.succeed("inspect", f"out/geometry-{n}.h5") for n in (8, 16)}

    def test_figures_sentences_and_provenance(self):
        out = self.copy()
        page = self.page(out)
        names = {path.stem for path in (out / "report").glob("*.png")}
        each = ("spectrum", "components", "hellinger", "stress_raw", "stress_scaled", "lag")
        self.assertEqual(names, {f"{name}-{n}" for name in each for n in (8, 16)} | {"length_scaled", "length_raw", "sweep"})
        run = read_run(out)
        for n in (8, 16):
            for text in words.findings(run, n):
                self.assertIn(capital(text), page.text)
            self.assertIn(f"length {n}: {words.verdict(run, n)}".capitalize()[:40], page.text)
            noise = run.geometry[n].noise
            self.assertGreater(noise.signal_rank_order, 0)  # verses begin in their own way
            self.assertIn(f"{noise.signal_rank_order} above shuffled text; shuffled text keeps {100 * noise.shuffled_share:.4g} %", page.text)
        self.assertNotIn("indistinguishable", page.text)
        with h5py.File(out / "counts.h5") as f:
            for name in ("command_line", "corpus_fingerprint", "libraries", "git_revision"):
                self.assertIn(re.sub(r"\s+", " ", f.attrs[name]), page.text)
            self.assertIn(f"{f.attrs['token_count']} tokens", page.text)

    def test_the_words_are_those_of_the_program(self):
        run = read_run(self.shared / "out")
        for n in (8, 16):
            flat = re.sub(r"\s+", " ", self.inspected[n])
            sentences = words.noise_sentences(run.geometry[n].noise, n)
            self.assertEqual(len(sentences), 5)
            for text in sentences:
                self.assertIn(text, flat)
                self.assertIn(f"noise: {text}", self.said)
            geometry, stress = words.geometry_sentences(run.geometry[n]), words.stress_sentences(run.stress[n], run.geometry[n])
            said = re.sub(r"\s+", " ", self.said)
            for text in geometry[:-1]:  # the last is of parameters
                self.assertIn(text, said)
            for start in ("against the de-noised distances", "judge signal by", "an encoding with all distances equal",
                          "against shuffled text, which has no order"):
                (text,) = [text for text in stress if text.startswith(start)]
                self.assertIn(text, said)
            self.assertTrue(any(text.partition(";")[0].partition(" (violation")[0] in said for text in stress if "triples" in text))

    def test_who_beats_the_constant_baseline(self):
        stress = read_run(self.shared / "out").stress[16]
        scaled = stress.tables["scaled"]
        better, not_better = words.judged(stress.names, scaled, stress.constant_baseline)
        for e, name in enumerate(stress.names):
            least = np.nanmin(scaled[e])
            self.assertEqual(name in better, least < stress.constant_baseline)
            self.assertEqual(name in not_better, least >= stress.constant_baseline)
        self.assertIn("linear", words.judged(stress.names, scaled, float(np.nanmin(scaled[2])))[1])  # a tie does not beat

    def test_who_beats_it_on_shuffled_text_too(self):
        """Each text is judged by its own baseline: the scaled stresses of the two are not compared with each other."""
        stress = read_run(self.shared / "out").stress[16]
        scaled = np.full_like(stress.tables["scaled"], 0.3)
        scaled[1] = 0.1  # mds 0.3, sinusoidal 0.1, linear 0.3
        stress.tables["scaled"], stress.constant_baseline = scaled, 0.2
        stress.shuffled, stress.shuffled_baseline = {"scaled": scaled / 2, "raw": scaled}, 0.1
        (compared,) = words.shuffled_sentences(stress)
        self.assertIn("better in scaled stress than all distances equal (0.1): sinusoidal; against the text itself (0.2): sinusoidal;", compared)
        stress.shuffled_baseline = 0.05  # half the stress, and yet no better than equal distances there
        (alone,) = words.shuffled_sentences(stress)
        self.assertIn("better in scaled stress than all distances equal (0.05): none; against the text itself (0.2): sinusoidal;", alone)

    def test_what_is_below_the_lower_edge_is_said(self):
        def captions(least):
            out = self.copy()
            with h5py.File(out / "stress-16.h5", "r+") as f:
                table = f["raw"][()]
                table[1], table[0, 3] = 100, least
                f["raw"][()] = table
            return self.page(out).text.count("What is below the lower edge is drawn on it")
        exact = 4  # at n = 8, mds at d = 8, raw and scaled, against dimension and length
        self.assertEqual(captions(0.0015), exact)
        self.assertEqual(captions(1e-5), exact + 1)

    def test_as_a_command(self):
        out = self.copy()
        page = self.folder / "elsewhere.html"
        done = subprocess.run([SOURCE / "jobs/report.py", out, "-o", page, "--lengths", "8", "--dimension", "2"], capture_output=True, text=True,
                              env={**os.environ, "PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"]})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(str(page), done.stdout)
        text = Page(page.read_text(encoding="utf-8")).text
        self.assertIn("Length 8", text)
        self.assertNotIn("Length 16", text)
        self.assertFalse((out / "report/lag-16.png").exists())

    def test_incomplete(self):
        whole = {"counts.h5", "geometry-8.h5", "geometry-16.h5", "stress-8.h5", "stress-16.h5", "sweep.h5"}
        for kept in ({"counts.h5"}, {"geometry-8.h5"}, {"stress-16.h5"}, {"sweep.h5"}, whole - {"counts.h5"}, whole - {"geometry-8.h5", "stress-8.h5"},
                     whole - {"stress-8.h5", "sweep.h5"}):
            with self.subTest(kept=sorted(kept)):
                out = self.copy()
                for name in whole - kept:
                    (out / name).unlink()
                page = self.page(out)
                for kind in ("geometry", "stress"):
                    gone = [n for n in (8, 16) if f"{kind}-{n}.h5" not in kept]
                    name = f"{kind}-{{8,16}}.h5" if len(gone) == 2 else f"{kind}-{gone[0] if gone else 0}.h5"
                    self.assertEqual(f"{name} missing" in page.text, bool(gone))
                self.assertEqual("sweep.h5 is missing" in page.text, "sweep.h5" not in kept)
                self.assertEqual("counts.h5 is missing" in page.text, "counts.h5" not in kept)
                figures = {path.stem for path in (out / "report").glob("*.svg")}
                for n in (8, 16):
                    has_stress = f"stress-{n}.h5" in kept or "sweep.h5" in kept
                    self.assertEqual(f"stress_scaled-{n}" in figures, has_stress)
                    self.assertEqual(f"spectrum-{n}" in figures, f"geometry-{n}.h5" in kept)
                    self.assertEqual(f"hellinger-{n}" in figures, {"counts.h5", f"geometry-{n}.h5"} <= kept)

    def test_without_noise(self):
        out = self.copy()
        with h5py.File(out / "geometry-16.h5", "r+") as f:
            del f["noise"]
        page = self.page(out)
        self.assertIn("geometry-16.h5 without noise analysis", page.text)
        self.assertIn("was not analysed", page.text)

    def test_files_of_two_corpora(self):
        out = self.copy()
        with h5py.File(out / "stress-8.h5", "r+") as f:
            f.attrs.modify("corpus_fingerprint", "0123456789abcdef")
        self.assertIn("These files are of different corpora", self.page(out).text)


class WithoutOrder(PageCase):
    """Text whose words were shuffled, and draws of one distribution."""

    @classmethod
    def make(cls, case):
        case.write("shuffled.txt", verses(2000, seed=5))
        case.succeed("run", "--corpus", "shuffled.txt", "--lengths", "16", "--dims", "2,8", "--encodings", "mds,rope", "--noise", "all", "--replicates",
                     "19", "--out", "shuffled")
        case.succeed("synth", "--synth-kind", "stationary", "--synth-positions", "16", "--synth-vocab", "300", "--synth-documents", "4000",
                     "--synth-lengths", "fixed:16", "--out", "flat")
        case.succeed("run", "--corpus", "flat/tokens.bin", "--format", "megatron", "--vocab-size", "300", "--lengths", "16", "--dims", "2,8",
                     "--encodings", "mds,rope", "--noise", "all", "--replicates", "19", "--out", "flat")
        cls.inspected = {name: re.sub(r"\s+", " ", case.succeed("inspect", f"{name}/geometry-16.h5")) for name in ("shuffled", "flat")}

    def test_is_said_to_have_none(self):
        for name in ("shuffled", "flat"):
            out = self.copy(name)
            noise, text = read_run(out).geometry[16].noise, self.page(out).text
            self.assertIn("indistinguishable from shuffled text" if noise.signal_rank else "indistinguishable from draws of one common distribution, "
                          "and so from shuffled text", text)
            self.assertIn(f"shuffled text keeps {100 * noise.shuffled_share:.4g} %", text)
            self.assertGreater(noise.shuffled_share, 0.95)
            self.assertIn("is no evidence of order", text)
            for sentence in words.noise_sentences(noise, 16):
                self.assertIn(sentence, self.inspected[name])
                self.assertIn(sentence, text)
            if name == "shuffled":
                self.assertEqual(noise.signal_rank_order, 0)
                self.assertIn(": the order of the tokens is indistinguishable from shuffled text.", text)

    def test_the_verdict_in_every_case(self):
        run = read_run(self.shared / "flat")
        noise = run.geometry[16].noise
        for signal, order, expected, not_expected in ((3, 2, "3 components stand above sampling noise, 2 above shuffled text", "indistinguishable"),
                                                      (3, 0, "the order of the tokens is indistinguishable from shuffled text", "above shuffled"),
                                                      (1, -1, "1 component stands above sampling noise", "shuffled text,"),
                                                      (0, 1, "indistinguishable from draws of one common distribution", "1 above")):
            noise.signal_rank, noise.signal_rank_order = signal, order
            self.assertIn(expected, words.verdict(run, 16))
            self.assertNotIn(not_expected, words.verdict(run, 16))


class Degenerate(PageCase):
    """Runs where most numbers are undefined."""

    @classmethod
    def make(cls, case):
        case.write("same.txt", "a a a a\n" * 50)
        case.write("one.txt", "a\nb\n" * 50)
        case.write("few.txt", "a b\nb a\na b c\n")
        for name in ("same", "one", "few"):
            case.succeed("run", "--corpus", f"{name}.txt", "--lengths", "4", "--dims", "1,2", "--encodings", "mds,sinusoidal,smacof", "--noise", "all",
                         "--replicates", "19", "--out", name)

    def test_a_page_all_the_same(self):
        text = self.page(self.copy("same")).text
        self.assertIn("constant baseline is undefined", text)
        self.assertIn("shuffled within its sequences has no distances either", text)
        self.assertIn("1 position kept", self.page(self.copy("one")).text)
        self.page(self.copy("few"))


if __name__ == "__main__":
    report_case.main()
