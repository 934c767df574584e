"""A signal ends a run with code 75 and everything finished kept; kill -9 at any moment costs at most the stage in flight."""
import os
import random
import shutil
import signal
import subprocess
import time

import h5py
import numpy as np

from harness import Case, command
from numbers_test import MEASURES, made_up_text

RUN = ("run", "--corpus", "corpus.txt", "--lengths", "8,16,24", "--dims", "1,2,4,8", "--solver", "pdsyevd")


class Survival(Case):
    def setUp(self):
        super().setUp()
        self.write("corpus.txt", "\n".join(made_up_text(documents=20000, types=3000)) + "\n")

    def start(self, out, ranks=1):
        return subprocess.Popen(command((*RUN, "--out", out), ranks), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def assert_same(self, one, other):
        for n in (8, 16, 24):
            with h5py.File(self.folder / one / f"stress-{n}.h5") as a, h5py.File(self.folder / other / f"stress-{n}.h5") as b:
                for measure in MEASURES:
                    np.testing.assert_allclose(a[measure][()], b[measure][()], rtol=1e-12, atol=1e-12)

    def test_kill_9_at_random_moments_then_resume(self):
        began = time.time()
        self.succeed(*RUN, "--out", "undisturbed", ranks=2)
        whole = time.time() - began
        draw = random.Random(4)
        for attempt in range(6):
            out = f"killed-{attempt}"
            process = self.start(out, ranks=2)
            time.sleep(draw.uniform(0.3, 1.0) * whole)
            os.killpg(process.pid, signal.SIGKILL)
            subprocess.run(["pkill", "-9", "-f", f"--out {out}"], check=False)
            process.communicate()
            for path in (self.folder / out).glob("*.h5"):
                with h5py.File(path) as f:  # whatever stands under its own name is complete
                    self.assertIn("fingerprint", f.attrs)
            self.succeed(*RUN, "--out", out, ranks=2)
            self.assert_same("undisturbed", out)

    def test_a_signal_gives_75_and_the_next_run_goes_on(self):
        for which in (signal.SIGTERM, signal.SIGUSR1):
            out = f"stopped-{which.name}"
            process = self.start(out)
            while not (self.folder / out / "counts.h5").exists() and process.poll() is None:
                time.sleep(0.002)
            process.send_signal(which)
            _, errors = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 75), errors)  # 0: it was done before the signal came
            if process.returncode == 75:
                self.assertEqual(len(errors.strip().splitlines()), 1)
                self.assertTrue(errors.startswith("posgeom: error: stopped"))
            self.assertIn("reused", self.succeed(*RUN, "--out", out))

    def test_a_signal_inside_a_long_stress_stage_keeps_the_encodings_that_are_scored(self):
        # Above 2048 positions an encoding is scored after the other.
        lines = made_up_text(documents=600, types=30, longest=6000)
        self.write("long.txt", "\n".join(lines) + "\n")
        options = ("--corpus", "long.txt", "--lengths", "2100", "--dims", "1,2,4", "--encodings", "linear,mds,random")
        self.succeed("count", *options[:4], "--out", "whole", ranks=2)
        self.succeed("embed", *options[2:6], "--out", "whole", ranks=2)
        shutil.copytree(self.folder / "whole", self.folder / "stopped")
        self.succeed("stress", *options[2:], "--out", "whole", ranks=2)
        unfinished = self.folder / "stopped/stress-2100-unfinished.h5"
        for tenths in range(5, 60):  # the first moment at which an encoding is scored
            process = subprocess.Popen(command(("stress", *options[2:], "--out", "stopped")), cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(tenths / 10)
            process.send_signal(signal.SIGUSR1)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 75, errors)
            if unfinished.exists():
                break
        with h5py.File(unfinished) as f:
            scored = [not np.isnan(row).any() for row in f["raw"][()]]
        self.assertTrue(scored[0])
        self.assertFalse(scored[2])
        text = self.succeed("stress", *options[2:], "--out", "stopped", ranks=2)
        self.assertIn("going on with stopped/stress-2100-unfinished.h5", text)
        self.assertFalse(unfinished.exists())
        with h5py.File(self.folder / "whole/stress-2100.h5") as a, h5py.File(self.folder / "stopped/stress-2100.h5") as b:
            for measure in MEASURES:
                np.testing.assert_allclose(b[measure][()], a[measure][()], rtol=1e-12, atol=1e-12)

    def test_a_signal_before_anything_is_finished(self):
        # Also while MPI starts; before main there is nobody to hear it (-SIGTERM).
        statuses = []
        for delay in (0.1, 0.2, 0.3, 0.5, 0.8):
            process = self.start("early")
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
            self.assertIn(process.returncode, (75, 0, -signal.SIGTERM), errors)
            statuses.append(process.returncode)
        self.assertIn(75, statuses)
        self.succeed(*RUN, "--out", "early")
