"""What jobs/submit.sh makes of a configuration and of posgeom's plan, without a Slurm: its --dry-run, and the keys of what is finished."""
import os
import re
import subprocess
import unittest

from harness import DATA, POSGEOM, SOURCE, Case

JOBS = SOURCE / "jobs"


class Submit(Case):
    def config(self, lines="", slurm="ranks = 4"):
        if not (self.folder / "corpus.txt").exists():  # its time is part of the keys
            self.write("corpus.txt", "a b c d\nb c a\n" * 50)
        self.write("sweep.ini", f"corpus = corpus.txt\nlengths = 2,3\nnoise = none\n{lines}\n\n[slurm]\n{slurm}\n")

    def submit(self, *options, code=0):
        done = subprocess.run(["bash", str(JOBS / "submit.sh"), "sweep.ini", "--dry-run", *options], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env={**os.environ, "POSGEOM": POSGEOM})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout.replace("\\", ""), done.stderr

    def ranks(self, said):
        return {name: int(ranks) for name, ranks in re.findall(r"--job-name=posgeom-(\w+) .*?--ntasks=(\d+)", said)}

    def test_few_positions_get_few_ranks(self):
        self.config()
        self.assertEqual(self.ranks(self.submit()[0]), {"count": 4, "embed": 1, "stress": 1, "collect": 1})
        self.assertEqual(self.ranks(self.submit("--together")[0]), {"run": 4})
        self.config(slurm="ranks = 4\nfewer-ranks = off")
        self.assertEqual(self.ranks(self.submit()[0]), {"count": 4, "embed": 4, "stress": 4, "collect": 1})
        self.config(slurm="fewer-ranks = perhaps")
        self.assertIn("fewer-ranks", self.submit(code=2)[1])

    def test_ranks_of_a_node_stay_together(self):
        self.config("ranks-per-node = 2", "ranks = 4\nfewer-ranks = off")
        for line in self.submit()[0].splitlines():
            wanted = ("collect" not in line)
            self.assertEqual(" --nodes=2 --ntasks-per-node=2 " in line, wanted, line)

    def test_a_sweep_that_needs_more_ranks_than_it_may_have(self):
        pretender = "plan for 4 ranks, 1 thread a rank, 100 MiB each beside the program's own 48 (--memory)"
        sizes = "--cpus-per-task=1 --mem-per-cpu=100M --time=0:05:00"
        ranks = {"count": 4, "embed 2": 9, "stress 2": 9, "embed 3": 4, "stress 3": 4, "collect": 1, "run": 9}
        lines = [f"slurm {job} --ntasks={count} {sizes}" for job, count in ranks.items()]
        path = self.write("posgeom", "#!/bin/sh\ncat <<END\n" + "\n".join([pretender, *lines]) + "\nEND\n")
        path.chmod(0o755)

        def submit(slurm, code):
            self.config(slurm=slurm)
            done = subprocess.run(["bash", str(JOBS / "submit.sh"), "sweep.ini", "--dry-run"], cwd=self.folder, capture_output=True, text=True,
                                  env={**os.environ, "POSGEOM": str(path)})
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout, done.stderr
        said = submit("ranks = 4", 1)[1].strip()
        self.assertEqual(len(said.splitlines()), 1)
        for wanted in ("[slurm] ranks: found 4", "100 MiB a rank", "embed 2 needs 9 ranks", "memory = "):
            self.assertIn(wanted, said)
        submit("ranks = 9", 0)
        submit("", 0)  # nobody set a limit

    def test_a_length_that_does_not_fit_is_shown_with_its_reason(self):
        self.config("memory = 10M")
        (self.folder / "corpus.txt").write_bytes((DATA / "kjv.txt.xz").read_bytes())
        (self.folder / "corpus.txt").rename(self.folder / "corpus.txt.xz")
        path = self.folder / "sweep.ini"
        path.write_text(path.read_text().replace("corpus.txt", "corpus.txt.xz").replace("lengths = 2,3", "lengths = 32,64"))
        for mode, jobs in (((), "embed 32, stress 32:"), (("--together",), "run:"), (("--scaling",), "run:")):
            out, err = self.submit(*mode, code=1)
            self.assertEqual(out, "")
            self.assertRegex(err, r"(?m)^n=32 .* no rank count does: .*--memory \(\d+ MiB would do\)")
            self.assertIn("submit: error: the plan (above) proposes no job sizes for " + jobs, err)
        self.submit("--memory", "40M")

    def test_bootstrap_is_made_by_run_alone(self):
        self.config("bootstrap = 39")
        self.assertIn("bootstrap = 39 is left out", self.submit()[1])
        self.assertEqual(self.submit("--together")[1], "")

    def keys(self, lines="", mode="chain", noise="noise = none\n"):
        self.config(lines)
        path = self.folder / "sweep.ini"
        path.write_text(path.read_text().replace("noise = none\n", noise))
        script = (f'source "{JOBS}/values.sh"; source "{JOBS}/submit_config.sh"; work=. mode={mode}; cp sweep.ini config.ini; stage_keys; '
                  "echo $key_counts $key_geometry $key_stress")
        return subprocess.run(["bash", "-euc", script], cwd=self.folder, check=True, capture_output=True, text=True).stdout.split()

    def test_what_a_stage_depends_on(self):
        none = self.keys()

        def changed(lines, mode="chain"):
            return [a != b for a, b in zip(none if mode == "chain" else self.keys(mode=mode), self.keys(lines, mode))]
        table = {(True, True, True): ("tokenizer = chars", "max-tokens = 3", "split-by = block:2", "seed = 2"),
                 (False, True, True): ("unreached = zero", "dims = 1", "replicates = 9", "rarefy-geometry = 3"),
                 (False, False, True): ("smacof-weights = tokens", "smacof-iterations = 5", "rope-scaling = ntk:2", "encodings = mds"),
                 (False, False, False): ("bootstrap = 39", "ranks-per-node = 2", "calibrate = on", "memory = 1G", "solver = elpa", "tokens = 99",
                                         "spectrum = leading")}
        for wanted, lines in ((list(wanted), lines) for wanted, several in table.items() for lines in several):
            with self.subTest(lines):
                self.assertEqual(changed(lines), wanted)
        self.assertEqual(changed("bootstrap = 39", "together"), [False, True, True])

    def test_a_preset_without_noise_counts_none(self):
        self.assertEqual(self.keys("preset = paper")[0], self.keys()[0])
        self.assertNotEqual(self.keys("preset = paper", noise="")[0], self.keys(noise="")[0])

    def test_every_option_has_its_stage(self):
        """A new option of run must be said to belong to a stage, or to none."""
        script = f'source "{JOBS}/submit_config.sh"; echo $counts_keys $geometry_keys $stress_keys $whole_keys'
        known = subprocess.run(["bash", "-euc", script], check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(len(known), len(set(known)))
        nowhere = {"lengths", "solver", "spectrum", "block-size", "grid", "threads", "memory", "out", "force", "resume", "partial", "keep-every",
                   "progress"}
        groups = re.split(r"^(\w+):$", self.succeed("run", "--help"), flags=re.M)
        options = set()
        for group in ("corpus", "sequences", "positions", "noise", "bootstrap", "geometry", "stress", "output"):
            options |= set(re.findall(r"^  (?:-\w \[ )?--([a-z0-9-]+)", groups[groups.index(group) + 1], re.M))
        self.assertEqual(options, set(known) | nowhere)


if __name__ == "__main__":
    unittest.main()
