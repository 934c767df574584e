"""The array of training runs on a Slurm of the tests' own: after the sweep, preempted and requeued, with the bits of a run that nobody disturbed."""
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np

SOURCE = Path(os.environ["POSGEOM_SOURCE"])
sys.path[:0] = [str(SOURCE / "tests" / "slurm")]

import slurm_case  # noqa: E402
from cluster import wait_until  # noqa: E402

DOWNSTREAM = SOURCE / "jobs" / "downstream"


class Array(slurm_case.SlurmCase):
    def setUp(self):
        super().setUp()
        (self.folder / "corpus.txt").write_text("a b c d e f g h\nb a d c f e h g\n" * 100)
        subprocess.run([os.environ["POSGEOM"], "tokenize", "--corpus", "corpus.txt", "--out", "tokens"], cwd=self.folder, check=True, capture_output=True)
        (self.folder / "grid.ini").write_text("[grid]\ntokens = tokens/tokens.bin\nlength = 8\nencodings = none, scratch\nd = 8\nwidth = 16\nheads = 2\nfeed = 16\n"
                                              "batch = 4\nheld = 20\ndocuments = 60\nsteps = 1500\nprogress = none\n")

    def submit_array(self, *arguments):
        done = self.cluster.run("bash", str(DOWNSTREAM / "submit.sh"), "grid.ini", *arguments, environment={"PYTHON": sys.executable}, cwd=self.folder)
        return int(re.search(r"^train (\d+)  2 runs$", done.stdout, re.M)[1])

    def test_after_the_sweep_and_through_a_signal(self):
        sweep = self.cluster.run("sbatch", "--parsable", "--hold", "-o", "/dev/null", "--wrap", "true", cwd=self.folder).stdout.strip()
        array = self.submit_array("--after", sweep)
        self.assertEqual(self.state(f"{array}_0"), "PENDING")
        time.sleep(1)
        self.assertEqual(self.state(f"{array}_0"), "PENDING")
        self.cluster.run("scontrol", "release", sweep)
        folder = self.folder / "trained/order-scratch-learned-d8-seed1"
        self.assertTrue(wait_until(folder.exists, 120), self.logs())  # the trainer is at work
        self.cluster.run("scancel", "--signal=USR1", "--batch", f"{array}_1")
        self.drain(240)
        self.assert_completed({"none": f"{array}_0", "scratch": f"{array}_1"})
        said = self.log(f"train-{array}_1")
        self.assertIn("train: stopped at step", said)
        self.assertIn("job: stopped; requeued", said)
        self.assertEqual(said.count("job: train: run 1 of "), 2)
        found = json.loads((folder / "result.json").read_text())
        self.assertEqual(json.loads(self.python("grid.py", "grid.ini", "run", "1")), found)  # finished: not repeated
        undisturbed = json.loads(self.python("train.py", *self.run_of(1), "--out", "undisturbed"))
        self.assertEqual({**undisturbed, "seconds": 0}, {**found, "seconds": 0})

    def test_what_the_sweep_makes_is_trained_on(self):
        """The encoding does not exist when the array is submitted behind the sweep's stress jobs."""
        ids = self.submit(self.config("options = --hold", lengths="8", corpus=self.folder / "corpus.txt"))
        text = (self.folder / "grid.ini").read_text()
        (self.folder / "grid.ini").write_text(text.replace("encodings = none, scratch", "encodings = mds, sinusoidal\nposgeom = posgeom-out").replace("1500", "20"))
        array = self.submit_array("--after", str(ids["stress"]))
        self.assertFalse((self.folder / "posgeom-out/geometry-8.h5").exists())
        for job in ids.values():
            self.cluster.run("scontrol", "release", str(job))
        self.drain()
        self.assert_completed({"mds": f"{array}_0", "sinusoidal": f"{array}_1"})
        with h5py.File(self.folder / "posgeom-out/geometry-8.h5") as f, h5py.File(self.folder / "trained/order-mds-frozen-d8-seed1/position_table.h5") as g:
            np.testing.assert_allclose(g["position_table"][0], f["encoding"][()], atol=1e-6)

    def run_of(self, number):
        return self.python("grid.py", "grid.ini", "list").splitlines()[number].split()[1:]

    def python(self, program, *arguments):
        return subprocess.run([sys.executable, str(DOWNSTREAM / program), *arguments], cwd=self.folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True,
                              text=True, check=True).stdout

    def test_a_failed_sweep_and_a_failed_run(self):
        failed = self.cluster.run("sbatch", "--parsable", "--hold", "-o", "/dev/null", "--wrap", "exit 1", cwd=self.folder).stdout.strip()
        array = self.submit_array("--after", failed)
        self.cluster.run("scontrol", "release", failed)
        self.drain()
        self.assertEqual(self.state(f"{array}_0"), "CANCELLED")
        (self.folder / "tokens/tokens.idx").unlink()
        array = self.submit_array()
        self.drain()
        self.assertEqual((self.state(f"{array}_0"), self.cluster.job(f"{array}_0")["ExitCode"]), ("FAILED", "1:0"))
        self.assertIn("train: error: reading tokens from tokens/tokens.bin: found no tokens/tokens.idx", self.log(f"train-{array}_0"))


if __name__ == "__main__":
    if importlib.util.find_spec("torch") is None:
        print(f"skipped: {sys.executable} has no torch (Debian: bash jobs/setup.sh --downstream)")
        sys.exit(slurm_case.SKIPPED)
    slurm_case.main()
