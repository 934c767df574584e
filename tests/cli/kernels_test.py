"""A BLAS that does not know the CPU: the program starts itself anew with kernels that fit, unless the user has chosen."""
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import POSGEOM, Case

CPU = Path("/proc/cpuinfo").read_text()


class Kernels(Case):
    def header(self, environment=None):
        self.write("corpus.txt", "a b c\nb c d\n")
        return self.succeed("count", "--corpus", "corpus.txt", "--lengths", "2", "--out", "out", "--force", environment=environment)

    def setUp(self):
        super().setUp()
        if " avx2 " not in CPU:
            self.skipTest("a CPU without AVX2")

    def test_a_blis_runs_no_kernels_from_before_avx2(self):
        said = self.header()
        if "BLAS BLIS" not in said:
            self.skipTest("another BLAS")
        self.assertNotIn("does not know this CPU", said)

    def test_the_users_choice_stands(self):
        said = self.header()
        if "BLAS BLIS 0.9" not in said:
            self.skipTest("another BLAS, or another numbering of the kernels")
        self.assertIn("excavator", self.header({"BLIS_ARCH_TYPE": "9"}))

    def test_the_trial_tells_kernels_that_are_missing(self):
        trial = [POSGEOM, "--try-blas-kernels"]
        self.assertEqual(subprocess.run(trial, capture_output=True, check=False).returncode, 0)
        if "BLAS BLIS 0.9" in self.header():  # 2 is knc, which no library for today's CPUs holds
            done = subprocess.run(trial, capture_output=True, check=False, env={**os.environ, "BLIS_ARCH_TYPE": "2"})
            self.assertNotEqual(done.returncode, 0)

    def test_a_stop_signal_while_it_starts_is_not_lost(self):
        """Whether it comes before, while or after the program starts itself anew, the count is not finished as if nothing had come."""
        self.write("long.txt", "a b c d e f g h\n" * 2_000_000)
        caught = 0
        for moment in range(12):
            process = subprocess.Popen([POSGEOM, "count", "--corpus", "long.txt", "--lengths", "8", "--out", f"out{moment}"], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.02 * moment)
            process.send_signal(signal.SIGUSR1)
            code = process.wait(timeout=120)
            self.assertIn(code, (75, -signal.SIGUSR1))  # the latter: before main()
            caught += code == 75
        self.assertGreater(caught, 2)


if __name__ == "__main__":
    unittest.main()
