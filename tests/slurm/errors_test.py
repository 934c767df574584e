"""What fails, fails early, in one clear line, and takes what depends on it with it."""
import os
import socket

import slurm_case
from slurm_case import SlurmCase


class Errors(SlurmCase):
    def test_a_failed_task_cancels_what_depends_on_it(self):
        config = self.config(lengths="16,32")
        out = self.folder / "posgeom-out"
        (out / "geometry-32.h5").mkdir(parents=True)  # cannot be replaced by a file
        ids = self.submit(config)
        self.drain()
        self.assertEqual(self.cluster.job(f"{ids['embed']}_1")["ExitCode"], "1:0", self.logs())
        self.assertEqual(self.state(f"{ids['embed']}_1"), "FAILED")
        self.assertIn("geometry-32.h5", self.log(f"embed-{ids['embed']}_1"))
        self.assert_completed({"embed_0": f"{ids['embed']}_0", "stress_0": f"{ids['stress']}_0"})  # the other length is not held up
        self.assertEqual((self.state(f"{ids['stress']}_1"), self.state(ids["collect"])), ("CANCELLED", "CANCELLED"))
        self.assertFalse((out / "sweep.h5").exists())
        # a table without that length, where it is asked for; and the whole sweep, once the cause is gone
        self.submit(config, "--lengths", "16", "--partial")
        self.drain()
        self.assertTrue((out / "sweep.h5").exists())
        (out / "geometry-32.h5").rmdir()
        ids = self.submit(config)
        self.assertEqual(sorted(ids), ["collect", "embed", "stress"])
        self.drain()
        self.assert_completed({"collect": ids["collect"]})

    def test_srun_that_knows_another_mpi(self):
        config = self.config(slurm="launcher = srun\nmpi = none\n")
        ids = self.submit(config)
        self.drain()
        said = self.log(f"count-{ids['count']}").splitlines()
        self.assertEqual(len(said), 1, said)
        for wanted in ("job: error: 'srun --mpi=none --ntasks=4", "does not start one MPI job of 4 rank(s)", "pmix", "[slurm]"):
            self.assertIn(wanted, said[0])
        self.assertEqual({self.state(ids[name]) for name in ("embed", "stress", "collect")}, {"CANCELLED"})
        self.assertEqual(self.cluster.job(ids["count"])["ExitCode"], "1:0")

    def test_a_step_that_a_node_cannot_start_is_started_again(self):
        """What the killed step daemon of an earlier life leaves: its socket, whose name the first step of the next life cannot take."""
        before = int(self.cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true").stdout)
        for step in (0, 2):  # the launcher's trial, and the ranks' own first step
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(str(self.cluster.folder / "spool-n2" / f"stepd.slurm.pmix.{before + 1}.{step}"))
        ids = self.submit(self.config(lengths="16"), "--together", "--out", "out")
        self.assertEqual(ids, {"run": before + 1})
        self.drain()
        self.assert_completed(ids)
        said = self.log(f"run-{ids['run']}")
        self.assertEqual((said.count("launch failed"), said.count("once more")), (2, 1), said)  # two tasks on that node; the trial says nothing
        self.assertIn("srun --mpi=pmix", said)
        self.assertTrue((self.folder / "out" / "sweep.h5").exists())

    def test_ranks_that_each_believe_to_be_alone(self):
        """An MPI that does not look for Slurm starts as many jobs of one rank as there are tasks."""
        alone = "for name in ${!SLURM*} ${!PMI*}; do case $name in SLURM_NTASKS | SLURM_PROCID | SLURM_STEP_NUM_TASKS) ;; *) unset $name ;; esac; done; exec \"$@\""
        done = self.cluster.run("srun", "--mpi=none", "-N2", "-n4", "bash", "-c", alone, "bash", os.environ["POSGEOM"], "count", "--corpus",
                                str(slurm_case.CORPUS), "--lengths", "8", "--out", str(self.folder / "alone"), check=False)
        self.assertNotEqual(done.returncode, 0)
        lines = [line for line in done.stderr.splitlines() if line.startswith("posgeom: error: ")]
        self.assertEqual(len(lines), 4, done.stderr)
        for line in lines:
            self.assertIn("srun --mpi=pmix", line)
        self.assertFalse((self.folder / "alone").exists())

    def test_mpirun_inside_a_job(self):
        config = self.config(slurm="launcher = mpirun\n", lengths="16")
        ids = self.submit(config, "--together")
        self.drain()
        self.assert_completed(ids)
        self.assertIn("4 ranks on 2 nodes", self.log(f"run-{ids['run']}"))

    def refused(self, *arguments, code, **options):
        said = self.submit_said(*arguments, code=code, **options)
        self.drain(20)  # what was taken back needs a moment
        return said

    def test_what_submit_refuses(self):
        config = self.config()
        self.assertIn("jobs/submit.sh CONFIG", self.refused(code=2))
        self.assertIn("cannot read", self.refused("nothing.ini", code=2))
        self.assertIn("--force", self.refused(config, "--force", code=1))
        self.assertIn("unknown", self.refused(config, "--no-such-option", "3", code=1))
        self.assertIn("no program", self.refused(config, code=1, environment={"POSGEOM": "/nowhere/posgeom"}))
        for lines, wanted, code in (("partitoin = x", "'partitoin'", 2), ("launcher = ssh", "launcher", 2), ("requeues = many", "requeues", 2),
                                    ("time = soon", "'soon'", 2), ("mem-per-cpu = 3Q", "'3Q'", 2), ("modules = no-such-module", "modules", 1),
                                    ("account = nobody\npartition = nowhere", "invalid partition", 1)):
            with self.subTest(lines):
                self.assertIn(wanted, self.refused(self.config(slurm=lines), code=code))

    def test_a_refusal_in_the_middle_takes_back_the_rest(self):
        """The second job asks for more time than the partition allows: the first does not stay queued."""
        lines = [f"slurm {stage} --ntasks=1 --cpus-per-task=1 --mem-per-cpu=100M --time={time}"
                 for stage, time in (("count", "0:05:00"), ("embed 16", "0:05:00"), ("embed 32", "2:00:00"), ("stress 16", "1"), ("stress 32", "1"), ("collect", "1"))]
        pretender = self.folder / "posgeom"
        pretender.write_text("#!/bin/sh\ncat <<END\n" + "\n".join(lines) + "\nEND\n")
        pretender.chmod(0o755)
        said = self.refused(self.config(slurm="partition = urgent\noptions = --begin=now+60"), code=1, environment={"POSGEOM": str(pretender)})
        self.assertIn("sbatch refused 'embed'", said)

    def test_the_options_of_a_job(self):
        slurm = "partition = urgent\nqos = q\nconstraint = fast&new\noptions = --nodes=2 --exclusive\ntime = 1:00:00\nmem-per-cpu = 3G\ngrace = 60\narray-limit = 2\n"
        count, embed, *_, collect = self.submit_said(self.config(slurm=slurm), "--dry-run").replace("\\", "").splitlines()
        for wanted in ("--partition=urgent", "--qos=q", "--constraint=fast&new", "--nodes=2", "--exclusive", "--time=1:00:00", "--mem-per-cpu=3G",
                       "--signal=B:USR1@60", "--cpus-per-task=1", "--ntasks=4", "--kill-on-invalid-dep=yes"):
            self.assertIn(f" {wanted} ", count)
        self.assertIn("--array=0,1%2", embed)
        self.assertIn("--dependency=afterok:ID_count", embed)
        self.assertIn("--dependency=afterok:ID_count:ID_stress", collect)
        self.assertNotIn("--mem", self.submit_said(self.config(slurm="mem-per-cpu = none\n"), "--dry-run"))
        for line in self.submit_said(self.config(more="ranks-per-node = 2"), "--dry-run").splitlines():
            if "collect" not in line:
                self.assertIn(" --nodes=2 --ntasks-per-node=2 ", line)

    def test_what_does_not_fit_is_said_by_the_plan(self):
        errors = self.submit_said(self.config(more="memory = 1M"), "--dry-run", code=1)
        for wanted in ("1 MiB each beside", "does not fit", "the plan (above) proposes no job sizes"):
            self.assertIn(wanted, errors)


if __name__ == "__main__":
    slurm_case.main()
