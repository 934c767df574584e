"""The trainer as a user runs it: what it learns and cannot learn, the same bits again, resumption, and the series that posgeom reads back."""
import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys

import h5py
import numpy as np
import torch
from case import DOWNSTREAM
from encodings_test import safetensors
from harness import Case

import train
from posgeom_torch import EncodingError
from tasks import exchange
from token_files import DataError, pad_documents, read_documents, read_labels
from training import Progress, Refused

SMALL = ("--length", "8", "--width", "32", "--heads", "2", "--feed", "64", "--batch", "32", "--held", "100", "--progress", "none", "--out", "trained")


def ordered_texts(documents=700, seed=3):
    """The word at position i is one of four of its own, so that an exchange shows, where positions are known, and only there."""
    random = np.random.default_rng(seed)
    return "\n".join(" ".join(f"w{i}x{random.integers(0, 4)}" for i in range(random.integers(5, 9))) for _ in range(documents)) + "\n"


class Trainer(Case):
    @classmethod
    def setUpClass(cls):
        case = Case()
        case.setUp()
        cls.case = case
        case.write("corpus.txt", ordered_texts())
        case.succeed("tokenize", "--corpus", "corpus.txt", "--out", "tokens")
        case.succeed("run", "--corpus", "tokens/tokens.bin", "--format", "megatron", "--vocab-size", "32", "--lengths", "8", "--dims", "1,2,4,8",
                     "--encodings", "mds", "--out", "sweep")
        cls.data = case.folder

    @classmethod
    def tearDownClass(cls):
        cls.case.doCleanups()

    def arguments(self, *more):
        return ["--tokens", str(self.data / "tokens/tokens.bin"), "--posgeom", str(self.data / "sweep"), *SMALL[:-1], str(self.folder / "trained"), *map(str, more)]

    def train(self, *more):
        """The printed line of a run in this process."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as said:
            train.main(self.arguments(*more))
        self.said = said.getvalue()
        (line,) = out.getvalue().splitlines()
        return json.loads(line)

    def test_order_is_learned_with_positions_and_not_without(self):
        known = self.train("--encoding", "mds", "--d", 8, "--steps", 120)
        self.assertGreater(known["accuracy"], 0.8)
        self.assertEqual((known["encoding"], known["mode"], known["d"], known["seed"], known["steps"]), ("mds", "frozen", 8, 1, 120))
        self.assertEqual((known["judged"], known["position_parameters"]), (200, 0))
        unknown = self.train("--encoding", "none", "--steps", 60)
        self.assertAlmostEqual(unknown["accuracy"], 0.5, delta=0.02)
        self.assertEqual(unknown["paired_accuracy"], 0.5)
        for encoding in ("rope", "alibi"):
            self.assertGreater(self.train("--encoding", encoding, "--steps", 120)["paired_accuracy"], 0.6, encoding)

    def test_masked_tokens_are_predicted_with_positions(self):
        known = self.train("--task", "masked", "--encoding", "sinusoidal", "--steps", 120, "--lr", "5e-3")
        unknown = self.train("--task", "masked", "--encoding", "none", "--steps", 120, "--lr", "5e-3")
        self.assertGreater(known["accuracy"], 0.2)  # 1/4 with the position, 1/32 without
        self.assertLess(unknown["accuracy"], known["accuracy"] - 0.05)

    def test_labelled_text(self):
        random = np.random.default_rng(5)
        lines = ["text\tlabel"]
        for _ in range(400):
            words = [f"w{k}" for k in random.integers(0, 6, 6)]
            lines.append(" ".join(words) + "\t" + ("yes" if "w0" in words else "no"))
        lines[7] = "\tno"  # an empty document: labels stay with theirs
        self.write("labelled.tsv", "\n".join(lines) + "\n")
        self.succeed("tokenize", "--corpus", "labelled.tsv", "--format", "tsv", "--header", "--column", "text", "--out", "labelled")
        done = self.train("--tokens", self.folder / "labelled/tokens.idx", "--task", "classify", "--labels", self.folder / "labelled.tsv", "--encoding", "none", "--steps", 100)
        self.assertGreater(done["accuracy"], max(0.9, done["chance"] + 0.1))

    def test_the_same_bits_again_and_after_a_stop(self):
        arguments = ("--encoding", "scratch", "--d", 8, "--steps", 24, "--checkpoints", 4)
        first = self.train(*arguments, "--name", "a")
        again = self.train(*arguments, "--name", "b")
        stops = iter([False] * 11 + [True] * 99)
        original, train.signalled = train.signalled, lambda: lambda: next(stops)
        try:
            with self.assertRaisesRegex(train.Stopped, "stopped at step 11 of 24; it is kept"):
                self.train(*arguments, "--name", "c")
        finally:
            train.signalled = original
        self.assertTrue((self.folder / "trained/c/state.pt").exists())
        self.assertFalse((self.folder / "trained/c/result.json").exists())
        resumed = self.train(*arguments, "--name", "c")
        self.assertFalse((self.folder / "trained/c/state.pt").exists())
        tables = {name: self.series(name) for name in "abc"}
        for other, result in (("b", again), ("c", resumed)):
            np.testing.assert_array_equal(tables["a"], tables[other])
            self.assertEqual({**first, "run": "", "seconds": 0}, {**result, "run": "", "seconds": 0})
        self.assertNotEqual(self.train(*arguments, "--seed", 2, "--name", "d")["loss"], first["loss"])
        before = (self.folder / "trained/a/result.json").stat().st_mtime_ns
        self.assertEqual(self.train(*arguments, "--name", "a"), first)
        self.assertEqual((self.folder / "trained/a/result.json").stat().st_mtime_ns, before)
        with self.assertRaisesRegex(Refused, "steps = 24, expected 25"):
            self.train("--encoding", "scratch", "--d", 8, "--steps", 25, "--checkpoints", 4, "--name", "a")

    def test_a_finished_factored_run_is_found_again(self):
        arguments = ("--encoding", "mds", "--mode", "factored", "--d", 8, "--steps", 2, "--checkpoints", 1)
        first = self.train(*arguments)
        self.assertEqual((first["rank"], first["table_rank"], first["position_parameters"]), (None, 7, 7 * (8 + 8)))
        self.assertEqual(self.train(*arguments), first)
        self.assertEqual(self.train(*arguments, "--rank", 3)["table_rank"], 3)

    def series(self, name):
        with h5py.File(self.folder / "trained" / name / "position_table.h5") as f:
            self.assertEqual(f["position_table"].chunks[0], 1)
            self.assertEqual([scale for axis in f["position_table"].dims for scale in axis], ["step", "position", "component"])
            np.testing.assert_array_equal(f["step"][()], [0, 6, 12, 18, 24])
            self.assertEqual(f["step"].dtype, np.int64)
            return f["position_table"][()]

    def test_a_signal_ends_it_with_75(self):
        command = [sys.executable, str(DOWNSTREAM / "train.py"), *self.arguments("--encoding", "none", "--steps", 100000, "--keep-every", 0, "--name", "long")]
        command[command.index("--progress") + 1] = "log"
        for number in (signal.SIGUSR1, signal.SIGTERM):
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
            self.addCleanup(child.kill)
            self.assertIn("step", child.stderr.readline())  # it trains
            child.send_signal(number)
            out, said = child.communicate(timeout=120)
            self.assertEqual((child.returncode, out), (75, ""), said)
            self.assertIn("train: stopped at step", said)
            self.assertTrue((self.folder / "trained/long/state.pt").exists())
        self.assertEqual(list(self.folder.rglob("*.partial")), [])

    def test_posgeom_reads_the_tables_back(self):
        result = self.train("--encoding", "mds", "--mode", "learned", "--d", 4, "--steps", 20, "--checkpoints", 2, "--name", "t")
        with h5py.File(self.folder / "trained/t/position_table.h5") as f:
            tables = f["position_table"][()]
        np.save(self.folder / "first.npy", tables[0].astype(np.float64))
        np.save(self.folder / "last.npy", tables[-1].astype(np.float64))
        series = f"t=file:{self.folder / 'trained/t/position_table.h5'}:/position_table"
        self.assertEqual(result["position_parameters"], 32)
        self.assertAlmostEqual(result["table_norm"], np.sqrt((tables[-1] ** 2).sum(1).mean()), delta=1e-6)
        self.succeed("run", "--corpus", self.data / "tokens/tokens.bin", "--format", "megatron", "--vocab-size", "32", "--lengths", "8", "--dims", "4",
                     "--encodings", f"mds,first=file:first.npy,last=file:last.npy,{series}", "--out", "out")
        with h5py.File(self.folder / "out/stress-8.h5") as f:
            np.testing.assert_array_equal(f["series/t/step"][()], [0, 10, 20])
            along = f["series/t/raw"][:, 0]
            raw = dict(zip((name.decode() for name in f["encoding_name"][()]), f["raw"][:, 0]))
        self.assertAlmostEqual(raw["first"], raw["mds"], delta=1e-5)  # the initial table is the MDS encoding, in float32
        self.assertGreater(abs(raw["last"] - raw["mds"]), 1e-4)
        np.testing.assert_allclose(along, [raw["t.step000000"], raw["t.step000010"], raw["t.step000020"]], rtol=0)
        np.testing.assert_allclose(along[[0, 2]], [raw["first"], raw["last"]], rtol=1e-12)
        self.assertNotIn(along[1], along[[0, 2]])

        for tool in ("h5dump", "h5stat"):
            if shutil.which(tool):
                done = subprocess.run([tool, self.folder / "trained/t/position_table.h5"], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), tool)

    def test_tables_exported_from_torch(self):
        """.npy and safetensors are read, a checkpoint of torch.save is refused, and what the refusal advises works."""
        table = torch.randn(8, 4, generator=torch.Generator().manual_seed(1))
        np.save(self.folder / "a.npy", table.numpy())
        self.write("b.safetensors", safetensors({"wpe": table.numpy()}))
        run = ("run", "--corpus", self.data / "tokens/tokens.bin", "--format", "megatron", "--vocab-size", "32", "--lengths", "8", "--dims", "4", "--noise", "none",
               "--out", "out", "--encodings")
        for name, zipped in (("c.pt", True), ("d.bin", False)):
            torch.save({"wpe": table}, self.folder / name, _use_new_zipfile_serialization=zipped)
            line = self.error_line(*run, f"c=file:{name}")
            self.assertIn(f"reading {name}", line)
            advice = line.partition('python3 -c "')[2].rpartition('"')[0]
            subprocess.run([sys.executable, "-c", advice.replace("TENSOR", "wpe")], cwd=self.folder, check=True)
            np.testing.assert_array_equal(np.load(self.folder / "positions.npy"), table.numpy())
        self.succeed(*run, "a=file:a.npy,b=file:b.safetensors:wpe")
        with h5py.File(self.folder / "out/stress-8.h5") as f:
            self.assertEqual(f["raw"][0, 0], f["raw"][1, 0])

    def test_progress(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True
        for kind, terminal, said in (("auto", Terminal(), "\r[######......"), ("auto", io.StringIO(), "run step 1/4 loss 0.5000"), ("none", Terminal(), "")):
            with contextlib.redirect_stderr(terminal):
                progress = Progress(kind, 4, "run")
                for step in range(1, 5):
                    progress.show(step, 0.5)
            self.assertEqual(terminal.getvalue()[:len(said)], said)
            self.assertEqual("step 4/4" in terminal.getvalue(), kind != "none")

    def test_what_is_refused(self):
        for words, arguments in ((("--d: found 33", "width, 32"), ("--d", 33)), (("--mode: found learned", "no table"), ("--encoding", "rope", "--mode", "learned")),
                                 (("frozen with --encoding scratch",), ("--encoding", "scratch", "--mode", "frozen")),
                                 (("no --labels",), ("--task", "classify", "--encoding", "none")),
                                 (("--steps: found 0",), ("--steps", 0)), (("--d: found 0", "at least 1"), ("--d", 0)), (("--seed: found -1",), ("--seed", -1)),
                                 (("--lr: found -1.0", "above 0"), ("--lr", -1)), (("--norm: found 0.0",), ("--encoding", "scratch", "--norm", 0)),
                                 (("--rank: found 2 with --mode frozen",), ("--d", 4, "--rank", 2)), (("--shortest: found 1, expected at least 2",), ("--shortest", 1)),
                                 (("multiple of 2 * heads = 6",), ("--heads", 3)), (("more than --held 5000",), ("--held", 5000)),
                                 (("stress-8.h5", "smacof"), ("--encoding", "smacof", "--d", 4))):
            with self.subTest(arguments=arguments):
                with self.assertRaises((Refused, EncodingError)) as caught:
                    self.train(*arguments)
                for word in words:
                    self.assertIn(word, str(caught.exception))
        self.write("same.txt", "a a a a\n" * 200)
        self.succeed("tokenize", "--corpus", "same.txt", "--out", "same")
        with self.assertRaisesRegex(Refused, "same/tokens.bin: found no held-out document of two different tokens"):
            self.train("--tokens", self.folder / "same/tokens.bin", "--encoding", "none")
        command = [sys.executable, str(DOWNSTREAM / "train.py"), *self.arguments("--tokens", "nowhere.bin")]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        self.assertTrue(done.stderr.startswith("train: error: reading tokens from nowhere.bin: found no nowhere.idx"), done.stderr)


class TokenFiles(Case):
    def test_what_tokenize_writes_is_read(self):
        self.write("corpus.txt", "a b c\n\nb b\n")
        for arguments, options in (((), {}), (("--token-file", "raw", "--end-of-text", "3"), {"raw_bits": 16, "separator": 3})):
            self.succeed("tokenize", "--corpus", "corpus.txt", "--out", "tokens", "--name", f"t{len(arguments)}", *arguments)
            ids, start = read_documents(self.folder / f"tokens/t{len(arguments)}.bin", **options)
            np.testing.assert_array_equal(ids, [1, 0, 2, 0, 0] if ids[0] == 1 else [2, 0, 1, 0, 0])
            self.assertEqual([x for x in np.diff(start) if x], [3, 2])
            tokens, valid, kept = pad_documents(ids, start, 2, top=1, shortest=1)
            np.testing.assert_array_equal(tokens, [[1, 0], [0, 0]])
            self.assertTrue(valid.all())
            tokens, valid, kept = pad_documents(ids, start, 4, top=5, shortest=3)
            self.assertEqual((tokens[0, 3], list(valid[0]), len(kept)), (7, [True] * 3 + [False], 1))

    def test_what_is_refused(self):
        self.write("corpus.txt", "a b c\n")
        self.succeed("tokenize", "--corpus", "corpus.txt", "--out", ".")
        index, data = self.folder / "tokens.idx", self.folder / "tokens.bin"
        good = index.read_bytes()
        for words, change in ((("magic",), lambda: index.write_bytes(b"x" * 60)), (("version 2",), lambda: index.write_bytes(good[:9] + b"\2" + good[10:])),
                              (("truncated",), lambda: index.write_bytes(good[:-1])), (("dtype 6",), lambda: index.write_bytes(good[:17] + b"\6" + good[18:])),
                              (("found 2 ids, expected the 3",), lambda: data.write_bytes(b"\0\0\0\0")), (("no", "tokens.bin"), data.unlink)):
            index.write_bytes(good)
            change()
            with self.subTest(words=words), self.assertRaises(DataError) as caught:
                read_documents(data)
            for word in words:
                self.assertIn(word, str(caught.exception))
        raw = self.write("raw.bin", b"\1\0\2")
        for words, options in ((("3 bytes", "multiple of 2"), {"separator": 1}), (("--separator",), {"separator": None})):
            if not options["separator"]:
                raw.write_bytes(b"\1\0")
            with self.subTest(words=words), self.assertRaises(DataError) as caught:
                read_documents(raw, 16, **options)
            for word in words:
                self.assertIn(word, str(caught.exception))
        table = self.write("labels.tsv", "text\tlabel\na\tb\nc\n")
        for words, column in ((("line 3 has 1 fields, expected 2",), "label"), (("found the columns text, label", "'class'"), "class")):
            with self.subTest(words=words), self.assertRaises(DataError) as caught:
                read_labels(table, column)
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_exchange(self):
        tokens = np.array([[1, 2, 3, 9], [4, 4, 4, 4], [5, 5, 5, 6]])
        valid = np.array([[True, True, True, False], [True] * 4, [True] * 4])
        for adjacent in (False, True):
            changed = exchange(tokens, valid, np.random.default_rng(1), adjacent)
            np.testing.assert_array_equal(np.sort(changed), np.sort(tokens))
            np.testing.assert_array_equal((changed != tokens).sum(1), [2, 0, 2])
            self.assertEqual(changed[0, 3], 9)
            if adjacent:
                np.testing.assert_array_equal(changed[2], [5, 5, 6, 5])
        many, short = np.tile(np.arange(12), (500, 1)), np.tile(np.arange(12) < 3, (500, 1))
        changed = exchange(many, short, np.random.default_rng(2), False)
        np.testing.assert_array_equal(changed[:, 3:], many[:, 3:])  # what is not valid is never touched
        self.assertEqual(len(np.unique(changed, axis=0)), 3)  # and all three pairs are drawn
