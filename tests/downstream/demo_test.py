"""The whole way in small, as jobs/downstream/demo.sh goes it; grids, and how they are submitted."""
import csv
import os
import signal
import subprocess
import sys

import h5py
import numpy as np
from case import DOWNSTREAM, SOURCE
from harness import POSGEOM, Case

import grid

ENVIRONMENT = {**os.environ, "PYTHON": sys.executable, "POSGEOM": POSGEOM}


class Demo(Case):
    def demo(self, *arguments):
        return subprocess.run(["bash", str(DOWNSTREAM / "demo.sh"), "out", "--small", *arguments], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)

    def test_from_text_to_the_table(self):
        done = self.demo()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        compared = self.folder / "out/compared"
        with open(compared / "accuracy.csv", encoding="utf-8") as file:
            cells = {row["label"]: row for row in csv.DictReader(file)}
        self.assertEqual(set(cells), {"none", "mds", "sinusoidal", "rope", "scratch:learned"})
        with open(compared / "runs.csv", encoding="utf-8") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 10)
        self.assertEqual(len((self.folder / "out/results.jsonl").read_text().splitlines()), 10)
        for row in cells.values():
            self.assertEqual(row["seeds"], "2")
            self.assertTrue(0.4 < float(row["accuracy"]) < 1)
        # The stress of a frozen table is the sweep's own, that against shuffled text too.
        with h5py.File(self.folder / "out/sweep/stress-16.h5") as f:
            names, column = [name.decode() for name in f["encoding_name"][()]], list(f["dimension"][()]).index(16)
            for name in ("mds", "sinusoidal"):
                self.assertAlmostEqual(float(cells[name]["raw"]), f["raw"][names.index(name), column], delta=1e-5)
            for measure in ("raw", "scaled"):
                self.assertAlmostEqual(float(cells["sinusoidal"][f"null_{measure}"]) / f[f"shuffled/{measure}"][names.index("sinusoidal"), column], 1, delta=1e-5)
        self.assertGreater(float(cells["mds"]["null_raw"]), float(cells["mds"]["raw"]) + 0.01)
        self.assertEqual((cells["none"]["raw"], cells["rope"]["scaled"]), ("nan", "nan"))
        for figure in ("sweep", "length_scaled", "length_raw", "stress_scaled-32", "spectrum-8"):
            self.assertTrue((self.folder / f"out/sweep/report/{figure}.png").exists(), figure)
        for suffix in ("png", "svg"):
            self.assertGreater((compared / f"accuracy.{suffix}").stat().st_size, 5000)
        for wanted in ("chance 0.500", "an encoding with all distances equal has scaled stress", "raw stress: too few encodings with a table (3) for a rank correlation"):
            self.assertIn(wanted, done.stdout)
        self.every_checkpoint_is_scored(done.stdout)
        self.what_cannot_be_compared()
        again = self.demo()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("reused", again.stdout)
        self.assertNotIn("step", again.stderr)

    def every_checkpoint_is_scored(self, said):
        with open(self.folder / "out/compared/checkpoints.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        with open(self.folder / "out/compared/runs.csv", encoding="utf-8") as file:
            runs = {row["run"]: row for row in csv.DictReader(file)}
        with_table = [run for run, row in runs.items() if row["encoding"] not in ("none", "rope")]
        self.assertEqual([(row["run"], int(row["step"])) for row in rows], [(run, step) for run in sorted(with_table) for step in (0, 20, 40)])
        moved = []
        for run in with_table:
            first, _, last = [row for row in rows if row["run"] == run]
            for measure in ("raw", "scaled", "violation_rate", "min_separation", "null_raw", "null_scaled"):
                self.assertEqual(last[measure], runs[run][measure])
            (moved if first["scaled"] != last["scaled"] else []).append((float(first["scaled"]), float(last["scaled"])))
        self.assertEqual(len(moved), 2)  # the learned ones
        first, last = np.mean(moved, 0)
        self.assertIn(f"training moved scratch:learned d=16 from scaled stress {first:.4g} to {last:.4g} (2 seeds)", said)

    def what_cannot_be_compared(self):
        def compare(*arguments):
            done = subprocess.run([sys.executable, str(DOWNSTREAM / "compare.py"), "out/trained", "--out", "elsewhere", *arguments], cwd=self.folder, capture_output=True,
                                  text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            return done.stderr
        self.assertIn("found no out/counts.h5", compare("--sweep", "out", "--posgeom", POSGEOM))
        self.assertIn("scoring tables with nowhere: No such file or directory", compare("--sweep", "out/sweep", "--posgeom", "nowhere"))
        self.assertIn("/bin/false ended with 1", compare("--sweep", "out/sweep", "--posgeom", "/bin/false"))
        (result,) = self.folder.glob("out/trained/*none-seed1/result.json")
        original = result.read_text()
        result.write_text(original.replace('"causal": false', '"causal": true'))
        self.assertIn("found causal = False and True, expected one", compare("--sweep", "out/sweep", "--posgeom", POSGEOM))
        result.write_text(original)

    def test_what_is_refused(self):
        for words, arguments, environment in ((("expected --small",), ["--wrong"], {}), (("found no program nowhere", "cmake"), [], {"POSGEOM": "nowhere"}),
                                              (("torch", "setup.sh --downstream"), [], {"PYTHON": "/bin/false"})):
            done = subprocess.run(["bash", str(DOWNSTREAM / "demo.sh"), *arguments], cwd=self.folder, env={**ENVIRONMENT, **environment}, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
        done = subprocess.run([sys.executable, str(DOWNSTREAM / "compare.py"), ".", "--sweep", "."], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertIn("found no result.json", done.stderr)


class Grid(Case):
    def setUp(self):
        super().setUp()
        self.config = self.write("grid.ini", "[grid]\n# a comment\ntokens = tokens/tokens.bin\nlength = 8\nencodings = none, mds, sinusoidal, mds:factored\nd = 3,4\nrank = 1,2\n"
                                             "seeds = 1,2,3\nadjacent = on\nsteps = 5\n")

    def grid(self, *arguments):
        return subprocess.run([sys.executable, str(DOWNSTREAM / "grid.py"), str(self.config), *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)

    def test_what_a_grid_expands_to(self):
        runs = grid.runs_of(grid.read_grid(self.config))
        # none; mds at two d; sinusoids at the even one; factored at two d and two ranks: times three seeds
        self.assertEqual(len(runs), 3 * (1 + 2 + 1 + 4))
        self.assertEqual(self.grid("count").stdout, f"{len(runs)}\n")
        self.assertEqual(runs[0][-4:], ["--encoding", "none", "--seed", "1"])
        self.assertEqual(len({tuple(run) for run in runs}), len(runs))
        self.assertTrue(all("--adjacent" in run and run[run.index("--steps") + 1] == "5" for run in runs))
        self.assertIn(["--encoding", "mds", "--mode", "factored", "--d", "4", "--rank", "2", "--seed", "3"], [run[-10:] for run in runs])
        self.assertEqual(self.grid("count", "--set", "seeds=1", "--set", "d=2", "--set", "encodings=rope,mds").stdout, "2\n")
        self.assertTrue(self.grid("list").stdout.startswith("0 --tokens tokens/tokens.bin"))

    def test_the_shipped_configuration(self):
        runs = grid.runs_of(grid.read_grid(SOURCE / "configs/downstream-kjv.ini"))
        self.assertGreaterEqual(len(runs), 15)

    def test_what_is_refused(self):
        for words, arguments in ((("found the key 'step'",), ("count", "--set", "step=3")), (("found no 'encodings'",), ("count", "--set", "encodings=")),
                                 (("found the number 24, expected 0 to 23",), ("run", 24)), (("found the number None",), ("run",))):
            done = self.grid(*arguments)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
        done = self.grid("run", 0)
        self.assertEqual(done.returncode, 1)
        self.assertIn("train: error: reading tokens from tokens/tokens.bin", done.stderr)
        self.config.write_text("[other]\n")
        self.assertIn("found the sections other, expected [grid]", self.grid("count").stderr)

    def test_a_signal_stops_all_runs(self):
        self.write("corpus.txt", "a b c d e f g h\nb a d c f e h g\n" * 100)
        self.succeed("tokenize", "--corpus", "corpus.txt", "--out", "tokens")
        child = subprocess.Popen([sys.executable, str(DOWNSTREAM / "grid.py"), str(self.config), "all", "--jobs", "2", "--set", "encodings=none",
                                  "--set", "steps=100000", "--set", "held=50", "--set", "width=32"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        for _ in range(2):
            self.assertIn("step", child.stderr.readline())
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=120)
        self.assertEqual(child.returncode, 75, said)
        self.assertEqual(said.count("train: stopped at step"), 2, said)
        self.assertEqual(len(list((self.folder / "trained").glob("*/state.pt"))), 2)

    def test_submission(self):
        def submit(*arguments):
            return subprocess.run(["bash", str(DOWNSTREAM / "submit.sh"), *arguments], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True)
        done = submit("grid.ini", "--dry-run", "--after", "12:13", "--partition=cpu", "--limit", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        for wanted in ("sbatch --parsable --array=0-23", "%4", "--dependency=afterok:12:13", "--partition=cpu", "train.sbatch", "grid.ini"):
            self.assertIn(wanted, done.stdout)
        self.assertNotEqual(submit("--dry-run").returncode, 0)
        self.assertIn("found two configurations", submit("grid.ini", "b.ini").stderr)
