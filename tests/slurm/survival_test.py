"""Preempted, stopped, cancelled and killed sweeps: what is finished is kept, and the resumed results are those of an undisturbed sweep."""
import lzma
import os
import random
import signal
import time
import traceback

import slurm_case
from slurm_case import CORPUS, SlurmCase

from cluster import wait_until

KILLS = int(os.environ.get("POSGEOM_SOAK", "1"))  # of each kind; more than one: so many that hit running ranks


class Survival(SlurmCase):
    def setUp(self):
        super().setUp()
        self.undisturbed = self.folder / "undisturbed"

    def long_corpus(self, times):
        """The bundled text several times over, so that counting takes seconds."""
        path = self.folder / "long.txt"
        path.write_bytes(lzma.decompress(CORPUS.read_bytes()) * times)
        return path

    def run_undisturbed(self, config):
        began = time.monotonic()
        ids = self.submit(config, "--together", "--out", self.undisturbed)
        self.drain()
        self.assert_completed(ids)
        return time.monotonic() - began

    def test_preempted_and_signalled_tasks_are_requeued(self):
        config = self.config(slurm="partition = work\ngrace = 20\n", corpus=self.long_corpus(10))
        ids = self.submit(config, "--out", "out")
        self.assertTrue(self.wait_for_ranks("count"), self.logs())
        time.sleep(0.7)
        urgent = self.cluster.run("sbatch", "--parsable", "-p", "urgent", "-N2", "-n4", "-o", "/dev/null", "--wrap", "sleep 0.5").stdout.strip()
        self.assertTrue(wait_until(lambda: self.state(urgent) == "COMPLETED", 40), self.logs())
        self.assertTrue(wait_until(lambda: self.cluster.job(ids["count"]).get("Restarts") == "1", 10), self.logs())
        self.assertEqual(self.state(ids["embed"]), "PENDING")
        # The signal that Slurm sends before the time limit, to the last task, whose job number is the array's: the other ones are not requeued.
        last = f"{ids['embed']}_1"
        self.assertTrue(wait_until(lambda: self.state(last) == "RUNNING", 90), self.logs())
        if self.wait_for_ranks("embed"):
            self.cluster.run("scancel", "--signal=USR1", "--batch", last, check=False)
        self.drain()
        self.assertEqual(self.log(f"embed-{ids['embed']}_0").count("job: embed: "), 1)
        self.assertEqual(self.log(f"embed-{last}").count("job: embed: "), 2, self.logs())
        self.assert_completed({"count": ids["count"], "collect": ids["collect"], **{f"{stage}_{i}": f"{ids[stage]}_{i}" for stage in ("embed", "stress") for i in (0, 1)}})
        self.assertIn("requeued (life 2 of at most 11)", self.log(f"count-{ids['count']}"))
        self.run_undisturbed(config)
        self.assert_same_results(self.undisturbed, self.folder / "out")

    def test_a_limit_of_requeues_and_a_cancelled_sweep(self):
        config = self.config(slurm="requeues = 0\nlauncher = mpirun\ngrace = 20\n", corpus=self.long_corpus(10))
        (job,) = self.submit(config, "--together", "--out", "out").values()
        self.assertTrue(self.wait_for_ranks(), self.logs())
        time.sleep(0.7)
        self.cluster.run("scancel", "--signal=USR1", "--batch", str(job))
        self.drain()
        end = self.cluster.job(job)
        self.assertEqual((end["JobState"], end["ExitCode"]), ("FAILED", "75:0"), self.logs())
        self.assertIn("the limit of [slurm] requeues", self.log(f"run-{job}"))

        ids = self.submit(config, "--out", "out")
        self.assertTrue(self.wait_for_ranks(), self.logs())
        self.cluster.run("scancel", *map(str, ids.values()))
        self.drain()
        self.assertEqual({self.state(ids["count"]), self.state(ids["collect"])}, {"CANCELLED"}, "a cancelled job must not come back")

        self.submit(config, "--together", "--out", "out")
        self.drain()
        self.run_undisturbed(config)
        self.assert_same_results(self.undisturbed, self.folder / "out")

    # --- kill -9

    def kill_one(self, ranks, draw):
        os.kill(draw.choice(ranks), signal.SIGKILL)

    def kill_all(self, ranks, draw):
        for pid in ranks:
            os.kill(pid, signal.SIGKILL)

    def kill_node(self, ranks, draw):
        """What a power failure does: slurmd, step daemons and ranks of one node are gone at once; then it comes back."""
        node = draw.choice(self.cluster.names)
        space = self.cluster.node_namespace(node)
        for pid in self.cluster.processes_of({space}) if space else [self.cluster.node_pid(node)]:
            os.kill(pid, signal.SIGKILL)
        self.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=killed")
        self.cluster.start_node(node)
        wait_until(lambda: self.cluster.idle() > 0, 20)

    def kill_slurmd(self, ranks, draw):
        """The daemon alone: its steps go on, and the next slurmd finds them."""
        node = draw.choice(self.cluster.names)
        os.kill(self.cluster.node_pid(node), signal.SIGKILL)
        time.sleep(0.3)
        self.cluster.start_node(node)

    def test_kill_9_at_random_moments(self):
        config = self.config(lengths="16,32" if KILLS > 1 else "16")
        whole = self.run_undisturbed(config) / 4  # a stage, or somewhat more
        seed = int(os.environ.get("POSGEOM_SEED", time.time_ns() % 1000000))
        draw = random.Random(seed)
        kinds = [self.kill_one, self.kill_all, self.kill_node, *([self.kill_slurmd] if KILLS > 1 else [])]
        hits = dict.fromkeys(kinds, 0)
        for attempt in range(KILLS if KILLS == 1 else 2 * KILLS):  # the moment may fall between two stages, where there is nothing to kill
            for kind in kinds:
                if hits[kind] < KILLS:
                    with self.subTest(kind=kind.__name__, attempt=attempt, seed=seed):
                        try:
                            hits[kind] += self.kill_and_resume(config, kind, draw, whole, f"{kind.__name__}-{attempt}")
                        except AssertionError:
                            traceback.print_exc()  # at once: a soak lasts
                            raise
        print("hits:", ", ".join(f"{kind.__name__} {count}" for kind, count in hits.items()), flush=True)
        if KILLS > 1:
            self.assertEqual(set(hits.values()), {KILLS})

    def kill_and_resume(self, config, kill, draw, whole, out):
        self.submit(config, "--out", out)
        stage = draw.choice(["count", "embed", "stress", "collect"])
        self.wait_for_ranks(stage)
        time.sleep(draw.uniform(0, whole))
        ranks = self.wait_for_ranks()
        while ranks:
            try:
                kill(ranks, draw)
                break
            except ProcessLookupError:  # they ended in the meantime: the next ones then
                ranks = self.wait_for_ranks()
        self.drain()
        files = sorted(path.name for path in (self.folder / out).glob("*.h5"))
        lives = 1
        while "everything of this sweep is finished" not in (said := self.submit_said(config, "--out", out)):
            lives += 1
            self.assertLess(lives, 4, f"{said}\n{self.logs()}")
            self.drain()
        print(f"{out}: {stage}, hit {'ranks' if ranks else 'nothing'}, kept {' '.join(files) or 'nothing'}, {lives} submission(s)", flush=True)
        self.assert_same_results(self.undisturbed, self.folder / out)
        return bool(ranks)


if __name__ == "__main__":
    slurm_case.main()
