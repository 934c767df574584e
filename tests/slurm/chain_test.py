"""A sweep from submit.sh to sweep.h5: the chain over two nodes, what is left to do afterwards, and two sweeps on one folder."""
import csv
import os
import re
import subprocess
import time

import h5py
import numpy as np

import slurm_case
from slurm_case import SlurmCase

LENGTHS = "8,16,32,64"


class Chain(SlurmCase):
    def test_chain_array_and_what_is_missing_afterwards(self):
        config = self.config(lengths=LENGTHS)
        out = self.folder / "posgeom-out"
        planned = self.submit_said(config, "--dry-run")
        self.assertEqual(len(planned.splitlines()), 4)
        self.assertFalse(out.exists())

        began = time.monotonic()
        ids = self.submit(config)
        self.assertEqual(set(ids), {"count", "embed", "stress", "collect"})
        self.assertEqual(self.cluster.job(ids["collect"])["JobState"], "PENDING")
        self.drain()
        print(f"from submit.sh to sweep.h5: {time.monotonic() - began:.1f} s", flush=True)
        self.assert_completed({"count": ids["count"], "collect": ids["collect"]})
        self.assertEqual(self.cluster.job(ids["count"])["NodeList"], "n[1-2]")
        for stage in ("embed", "stress"):
            self.assert_completed({f"{stage}_{task}": f"{ids[stage]}_{task}" for task in range(4)})
        self.check_numbers(out)
        self.check_memory(out)
        self.check_what_is_kept(out, config)
        self.check_what_is_missing(config, out)

    def check_numbers(self, out):
        """Against one rank without Slurm, to rounding."""
        alone = self.folder / "alone"
        subprocess.run([os.environ["POSGEOM"], "run", "--config", str(self.folder / "sweep.ini"), "--out", str(alone)], check=True, capture_output=True)
        with h5py.File(out / "sweep.h5") as a, h5py.File(alone / "sweep.h5") as b:
            np.testing.assert_array_equal(a["length"][()], [8, 16, 32, 64])
            for name in ("raw", "scaled", "violation_rate", "trace"):
                np.testing.assert_allclose(a[name][()], b[name][()], rtol=1e-9, atol=1e-12)
        with h5py.File(out / "counts.h5") as a, h5py.File(alone / "counts.h5") as b:
            np.testing.assert_array_equal(a["counts/count"][()], b["counts/count"][()])

    def check_memory(self, out):
        """What the fullest rank of each job took fits what was asked for, and is told in the log."""
        (plan,) = out.glob("jobs/*/plan.txt")
        asked = {}
        for stage, length, size in re.findall(r"^slurm (\w+)(?: (\d+))? .*--mem-per-cpu=(\d+)M", plan.read_text(), re.M):
            asked[stage] = max(asked.get(stage, 0), int(size))
        for log in out.glob("jobs/*/*.log"):
            stage = log.name.split("-")[0]
            peak = int(re.search(r"peak memory (\d+) MiB", log.read_text())[1])
            self.assertLess(peak, asked[stage], log.name)
            print(f"{log.name}: peak {peak} MiB a rank of {asked[stage]} asked for", flush=True)

    def check_what_is_kept(self, out, config):
        (run,) = (path for path in (out / "jobs").iterdir() if path.name not in ("done", ".submitting"))
        names = {path.name for path in run.iterdir()}
        self.assertLessEqual({"config.ini", "settings.sh", "env.sh", "plan.txt", "jobs.txt", "surroundings-count.txt", "surroundings-embed-3.txt"}, names)
        self.assertEqual((run / "config.ini").read_text(), config.read_text())
        kept = (run / "surroundings-count.txt").read_text()
        for wanted in ("nodes n[1-2]", "launcher srun --mpi=pmix --ntasks=4 --cpus-per-task=1", "SLURM_JOB_ID=", "OMP_NUM_THREADS=1", "posgeom "):
            self.assertIn(wanted, kept)

    def check_what_is_missing(self, config, out):
        self.assertIn("everything of this sweep is finished", self.submit_said(config))

        def jobs(*options):
            """Stage and array of what would be submitted."""
            found = []
            for line in self.submit_said(config, "--dry-run", *options).splitlines():
                words = line.replace("\\", "").split()
                stage = next(word for word in words if word.startswith("--job-name=")).split("-")[-1]
                found.append((stage, next((word[8:] for word in words if word.startswith("--array=")), "")))
            return found

        self.assertEqual(jobs(), [])
        self.assertEqual(jobs("--encodings", "mds,linear"), [("stress", "0,1,2,3"), ("collect", "")])
        self.assertEqual(jobs("--min-count", "2"), [("embed", "0,1,2,3"), ("stress", "0,1,2,3"), ("collect", "")])
        self.assertEqual(jobs("--progress", "none", "--memory", "2G"), [])
        (out / "stress-16.h5").unlink()
        self.assertEqual(jobs(), [("stress", "1"), ("collect", "")])
        (out / "geometry-32.h5").unlink()
        kinds = jobs()
        self.assertEqual(sorted(kinds), [("collect", ""), ("embed1", "2"), ("stress1", "2"), ("stress2", "1")])
        before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.h5")}
        ids = self.submit(config)
        self.drain()
        self.assert_completed({"collect": ids["collect"]})
        after = {path.name: path.stat().st_mtime_ns for path in out.glob("*.h5")}
        self.assertEqual({name for name in after if after[name] != before.get(name)}, {"stress-16.h5", "geometry-32.h5", "sweep.h5"})
        (out / "sweep.h5").unlink()
        self.assertEqual(jobs(), [("collect", "")])
        # another corpus is another sweep: its count is submitted, and refuses the folder
        self.assertIn(("count", ""), jobs("--corpus", slurm_case.SOURCE / "tests/data/README.md"))

    def test_two_submissions_on_one_folder(self):
        config = self.config(lengths="16")
        both = [self.start_submit(config, "--together") for _ in range(2)]
        said = [process.communicate(timeout=120)[0] for process in both]
        ids = [self.ids(text)["run"] for text in said]
        self.assertEqual(sum("is" in text and "at work" in text for text in said), 1, said)
        self.drain()
        for job in ids:
            self.assert_completed({"run": job})
        self.assertIn("reused", self.log(f"run-{max(ids)}"))
        self.assertIn("everything of this sweep is finished", self.submit_said(config))

    def test_scaling(self):
        config = self.config(slurm="scaling-ranks = 1,4\n", lengths="16")
        self.submit(config, "--scaling")
        self.drain()
        with open(self.folder / "posgeom-out/scaling.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        seen = {(row["kind"], row["ranks"], row["stage"], row["length"]) for row in rows}
        for kind, ranks, length in (("strong", "1", "16"), ("strong", "4", "16"), ("weak", "1", "16"), ("weak", "4", "32")):
            self.assertLessEqual({(kind, ranks, "count", ""), (kind, ranks, "embed", length), (kind, ranks, "stress", length), (kind, ranks, "total", "")}, seen)
        for row in rows:
            if row["ranks"] == "1":
                self.assertEqual((row["speedup"], row["efficiency"]), ("1.000", "1.000"))
            self.assertGreaterEqual(float(row["seconds"]), 0)


if __name__ == "__main__":
    slurm_case.main()
