"""Submits sweeps with jobs/submit.sh to a Slurm of the tests' own, as a user would. The test environment (POSGEOM, POSGEOM_SOURCE) comes from ctest."""
import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import h5py
import numpy as np

from cluster import Cluster, Unavailable, wait_until

SOURCE = Path(os.environ["POSGEOM_SOURCE"])
SUBMIT = SOURCE / "jobs" / "submit.sh"
CORPUS = SOURCE / "tests" / "data" / "kjv.txt.xz"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
# What differs between two runs of the same numbers.
PROVENANCE = {"created", "command_line", "config", "posgeom_version", "git_revision", "libraries", "process_grid", "ranks"}

cluster = None


def guard(watched):
    """A process outside of ours, and of ctest's tree, that takes the cluster down when we end, however that is."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(write)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            null = os.open(os.devnull, os.O_RDWR)
            for standard in (0, 1, 2):  # else ctest waits for us
                os.dup2(null, standard)
            os.read(read, 1)
            if watched.folder.exists():
                watched.down()
        os._exit(0)
    os.wait()
    os.close(read)
    return write  # open as long as we live; never inherited


def main():
    """Runs the caller's tests on a cluster; exit 77 and a line where there can be none."""
    global cluster
    cluster = Cluster(nodes=2)

    def stop(number, _):  # unittest would take an exception for one test's failure
        cluster.down()
        os._exit(128 + number)
    signal.signal(signal.SIGTERM, stop)
    guard(cluster)
    atexit.register(cluster.down)
    try:
        cluster.up()
    except Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    sys.modules["slurm_case"].cluster = cluster  # we are also __main__'s import
    unittest.main(module="__main__", verbosity=2)


class SlurmCase(unittest.TestCase):
    """A test with a folder of its own and helpers to submit in it."""

    def setUp(self):
        self.cluster = cluster
        self.folder = Path(tempfile.mkdtemp(prefix="posgeom-slurm-"))
        self.addCleanup(self.clean)

    def clean(self):
        self.cluster.run("scancel", "--me", check=False)
        wait_until(lambda: not self.queue(), 20)
        if "POSGEOM_KEEP" not in os.environ:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- submitting

    def config(self, slurm="", lengths="16,32", corpus=CORPUS, more=""):
        path = self.folder / "sweep.ini"
        path.write_text(f"corpus = {corpus}\nformat = text\ntokenizer = whitespace\nlengths = {lengths}\ndims = 1,2,4,8\n"
                        f"encodings = mds,sinusoidal,alibi,random\n{more}\n\n[slurm]\nranks = 4\nfewer-ranks = off\n{slurm}\n")
        return path

    def start_submit(self, *arguments, environment=None):
        return subprocess.Popen(["bash", str(SUBMIT), *map(str, arguments)], env={**self.cluster.environment, **(environment or {})}, cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def submit_said(self, *arguments, code=0, environment=None):
        process = self.start_submit(*arguments, environment=environment)
        out, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, f"{arguments}\n{out}\n{errors}")
        return out if code == 0 else errors

    @staticmethod
    def ids(said):
        """Stage -> job id, of what submit.sh printed."""
        return {name: int(number) for name, number in re.findall(r"^(\w+) +(\d+)(?:  .*)?$", said, re.M)}

    def submit(self, *arguments, **options):
        return self.ids(self.submit_said(*arguments, **options))

    # --- watching

    def queue(self):
        return self.cluster.run("squeue", "-h", "-o", "%F %T", check=False).stdout.split("\n")[:-1]

    def drain(self, seconds=120):
        self.assertTrue(wait_until(lambda: not self.queue(), seconds, every=0.1), f"still queued: {self.queue()}\n{self.logs()}")

    def state(self, job):
        return self.cluster.job(job).get("JobState")

    def ranks(self, command=""):
        """The pids of the ranks of a stage (of any), not of the launcher's trial."""
        found = []
        for pid in self.cluster.ranks():
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if "--config" in words and command in (words[1], ""):
                found.append(pid)
        return found

    def wait_for_ranks(self, command="", seconds=60):
        """Until a stage runs on the nodes; None once nothing is queued any more."""
        found = []

        def ready():
            found[:] = self.ranks(command)
            return found or not self.queue()
        self.assertTrue(wait_until(ready, seconds, every=0.02), f"no rank appears; queued: {self.queue()}\n{self.logs()}")
        return found or None

    def logs(self, pattern="*"):
        texts = [f"--- {path.name}\n{path.read_text(errors='replace')[-600:]}" for path in sorted(self.folder.rglob(f"{pattern}.log"))]
        return "\n".join(texts)

    def log(self, name):
        """The whole of one job's log."""
        return next(self.folder.rglob(f"{name}.log")).read_text(errors="replace")

    def assert_completed(self, ids):
        for name, number in ids.items():
            self.assertEqual(self.state(number), "COMPLETED", f"{name}\n{self.logs()}")

    # --- results

    def assert_same_results(self, one, other):
        """Every data set and every attribute that is a number or a result, bit by bit, of every file."""
        one, other = Path(one), Path(other)
        names = sorted(path.name for path in one.glob("*.h5"))
        self.assertEqual(names, sorted(path.name for path in other.glob("*.h5")))
        self.assertIn("sweep.h5", names)
        for name in names:
            with h5py.File(one / name) as a, h5py.File(other / name) as b:
                self.assertEqual(contents(a), contents(b), name)
        self.assertEqual((one / "sweep.csv").read_bytes(), (other / "sweep.csv").read_bytes())
        self.assertEqual([path for path in other.rglob("*.partial")], [])
        self.assertFalse((other / "counts-unfinished.h5").exists())


def contents(file):
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            value = item[()]
            found[name] = (item.shape, str(item.dtype), value.tolist() if item.dtype.kind == "O" else np.asarray(value).tobytes())
    file.visititems(visit)
    assert found
    for name, value in file.attrs.items():
        if name not in PROVENANCE:
            found["@" + name] = np.asarray(value).tobytes() if not isinstance(value, (str, bytes)) else value
    return found
