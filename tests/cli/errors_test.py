"""Every kind of bad input gives one line, the right exit code, and nothing half-written, on any rank count."""
import os

import h5py
import numpy as np

from harness import Case, command
import subprocess

RUN = ("run", "--lengths", "8", "--dims", "1,2", "--out", "out")


class Usage(Case):
    def test_exit_code_2_and_the_option_named(self):
        self.write("corpus.txt", "a b c\n")
        for arguments, word in (
            ((), "no command"),
            (("walk",), "walk"),
            (("run", "--no-such-option", "1"), "no-such-option"),
            (("run", "--lengths"), "lengths"),
            (("run", "--corpus", "corpus.txt"), "--lengths"),
            (("run", "--lengths", "8"), "--corpus"),
            ((*RUN, "--corpus", "corpus.txt", "--unreached", "maybe"), "--unreached"),
            ((*RUN, "--corpus", "corpus.txt", "--tokenizer", "wordpiece"), "--vocab"),
            ((*RUN, "--corpus", "corpus.txt", "stray"), "stray"),
            ((*RUN, "--corpus", "corpus.txt", "--grid", "3x5"), "--grid"),
            ((*RUN, "--corpus", "corpus.txt", "--threads", "4096"), "--threads"),
            ((*RUN, "--corpus", "corpus.txt", "--config", "missing.ini"), "missing.ini"),
            ((*RUN, "--corpus", "corpus.txt", "--preset", "poster"), "--preset"),
            (("inspect",), "FILE"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(word, self.error_line(*arguments, code=2))
        self.assertFalse((self.folder / "out").exists())

    def test_unknown_key_in_a_config_file(self):
        self.write("c.ini", "lengths = 8\nlenghts = 9\n")
        self.assertIn("lenghts", self.error_line("run", "--config", "c.ini", code=2))

    def test_help_and_version(self):
        for arguments in (("--help",), ("--version",), *((name, "--help") for name in ("run", "count", "embed", "stress", "collect", "plan", "inspect"))):
            self.assertIn("posgeom", self.succeed(*arguments))


class BadInput(Case):
    def cases(self):
        self.write("good.txt", "a b c\nb c a\n")
        self.write("empty.txt", "")
        self.write("blank.txt", "\n\n\n")
        self.write("table.tsv", "sentence\tlabel\na b\t1\nc\t0\n")
        self.write("short.tsv", "sentence\tlabel\na b\t1\nlonely\n")
        self.write("broken.txt.gz", b"\x1f\x8b\x08\x00 this is no gzip stream")
        self.write("no-unk.txt", "[PAD]\n[CLS]\nword\n")
        self.write("fasta.fa", "ACGT\n>late header\nACGT\n")
        self.write("table.npy", b"\x93NUMPY\x01\x00junk")
        (self.folder / "folder").mkdir()
        good = ("--corpus", "good.txt")
        return (
            (("--corpus", "missing.txt"), "missing.txt"),
            (("--corpus", "folder"), "folder"),
            (("--corpus", "none-*.txt"), "none-*.txt"),
            (("--corpus", "empty.txt"), "empty.txt"),
            (("--corpus", "blank.txt"), "blank.txt"),
            (("--corpus", "table.tsv", "--format", "tsv", "--header", "--column", "text"), "text"),
            (("--corpus", "table.tsv", "--format", "tsv", "--column", "7"), "column"),
            (("--corpus", "short.tsv", "--format", "tsv", "--column", "1"), "short.tsv"),
            (("--corpus", "broken.txt.gz"), "broken.txt.gz"),
            (("--corpus", "fasta.fa", "--format", "fasta"), "fasta.fa"),
            ((*good, "--tokenizer", "wordpiece", "--vocab", "no-unk.txt"), "[UNK]"),
            ((*good, "--tokenizer", "wordpiece", "--vocab", "gone.txt"), "gone.txt"),
            ((*good, "--encodings", "file:gone.npy"), "gone.npy"),
            ((*good, "--encodings", "file:table.npy"), "table.npy"),
            ((*good, "--encodings", "mds", "--memory", "100"), "--memory"),
            ((*good, "--lengths", "3000", "--unreached", "uniform", "--solver", "pdsyevd", "--memory", "100M"), "--memory"),
            ((*good, "--min-count", "1000"), "position"),
            ((*good, "--out", "good.txt/out"), "--out"),
        )

    def test_one_line_at_one_and_three_ranks(self):
        for k, (arguments, word) in enumerate(self.cases()):
            for ranks in (1, 3):
                options = {"--lengths": "8", "--dims": "1,2", "--out": f"out-{k}-{ranks}"}
                defaults = [part for pair in options.items() if pair[0] not in arguments for part in pair]
                with self.subTest(arguments=arguments, ranks=ranks):
                    self.assertIn(word, self.error_line("run", *defaults, *arguments, ranks=ranks, timeout=60))

    def test_a_table_that_is_too_short(self):
        self.write("good.txt", "a b c\nb c a\n")
        np.save(self.folder / "short.npy", np.zeros((2, 4)))
        for unreached in ("drop", "uniform"):
            line = self.error_line(*RUN, "--corpus", "good.txt", "--encodings", "mds,mine=file:short.npy", "--unreached", unreached)
            self.assertIn("short.npy", line)
            self.assertIn("mine", line)
            self.assertFalse((self.folder / "out/geometry-8.h5").exists(), "found only after the embedding")

    def test_a_missing_table_is_found_before_counting(self):
        self.write("good.txt", "a b c\nb c a\n")
        self.assertIn("mine", self.error_line(*RUN, "--corpus", "good.txt", "--encodings", "mine=file:gone.npy"))
        self.assertFalse((self.folder / "out/counts.h5").exists())

    def test_a_column_of_labels_is_warned_about(self):
        self.write("table.tsv", "label\ttext\n1\ta b\n0\tc\n")
        text = self.succeed(*RUN, "--corpus", "table.tsv", "--format", "tsv", "--header", "--column", "label")
        self.assertIn("warning: no document has more than one token", text)
        self.assertIn("column label", text)

    def test_unwritable_output(self):
        self.write("good.txt", "a b c\n")
        self.assertIn("--out", self.error_line("run", "--corpus", "good.txt", "--lengths", "4", "--out", "/proc/posgeom"))


class OneRankAlone(Case):
    def test_a_file_that_only_one_rank_cannot_read_ends_all(self):
        """Rank 1 starts in another folder, where the corpus is not."""
        self.write("here/corpus.txt", "a b c\n" * 50)
        (self.folder / "elsewhere").mkdir()
        script = self.write("start.sh", '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && cd elsewhere || cd here\nexec "$@"\n')
        os.chmod(script, 0o755)
        launched = command((*RUN, "--corpus", "corpus.txt"), 3)
        done = subprocess.run(launched[:3] + [str(script)] + launched[3:], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("posgeom: error: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("corpus.txt", lines[0])


class BrokenFiles(Case):
    def setUp(self):
        super().setUp()
        self.write("good.txt", "a b c\nb c a\nc a b a\n")
        self.succeed("run", "--corpus", "good.txt", "--lengths", "4", "--dims", "1,2", "--out", "out")

    def test_stage_inputs_missing(self):
        for command_name, word in (("embed", "counts.h5"), ("stress", "counts.h5"), ("collect", "stress")):
            (self.folder / "nothing").mkdir(exist_ok=True)
            self.assertIn(word, self.error_line(command_name, "--lengths", "4", "--out", "nothing"))

    def test_a_length_that_was_not_counted(self):
        self.assertIn("--lengths", self.error_line("embed", "--lengths", "400", "--out", "out"))
        self.assertIn("stress-400.h5", self.error_line("collect", "--lengths", "4,400", "--out", "out"))
        self.succeed("collect", "--lengths", "4,400", "--partial", "--out", "out")

    def test_truncated_and_foreign_files(self):
        path = self.folder / "out/geometry-4.h5"
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        self.assertIn("geometry-4.h5", self.error_line("stress", "--lengths", "4", "--dims", "1,2,4", "--out", "out"))
        path.write_bytes(b"not HDF5 at all")
        self.assertIn("geometry-4.h5", self.error_line("inspect", "out/geometry-4.h5"))
        with h5py.File(path, "w") as f:
            f["encoding"] = np.zeros((4, 4))
        self.assertIn("geometry-4.h5", self.error_line("inspect", "out/geometry-4.h5"))
        self.assertIn("gone.h5", self.error_line("inspect", "gone.h5"))


class Surroundings(Case):
    def test_slurm_singletons_are_stopped(self):
        self.write("good.txt", "a b c\n")
        for environment in ({"SLURM_NTASKS": "4", "SLURM_PROCID": "1"}, {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}):
            self.assertIn("srun --mpi=pmix", self.error_line(*RUN, "--corpus", "good.txt", environment=environment))
        self.succeed(*RUN, "--corpus", "good.txt", environment={"SLURM_NTASKS": "4", "SLURM_PROCID": "0"})

    def test_strange_slurm_variables_are_not_fatal(self):
        self.write("good.txt", "a b c\n")
        self.succeed(*RUN, "--corpus", "good.txt", environment={"SLURM_NTASKS": "many", "SLURM_JOB_NODELIST": "n[1-3,7]", "SLURM_TASKS_PER_NODE": "2(x3)"})

    def test_plan_names_limits_before_a_job_is_queued(self):
        text = self.succeed("plan", "--lengths", "33000", "--vocab-size", "50000", "--ranks", "1", "--memory", "512G", "--solver", "pdsyevd")
        self.assertIn("32-bit limit", text)
        self.assertIn("2 ranks stay below it", text)
        self.assertIn("does not fit", text)
        text = self.succeed("plan", "--lengths", "200000", "--vocab-size", "300000", "--ranks", "4", "--memory", "4T")
        self.assertIn("32-bit limit", text)
