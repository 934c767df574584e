"""A count that is stopped or killed goes on where it was, with any number of ranks; one that outgrows a rank is handed over in pieces."""
import lzma
import os
import signal
import subprocess
import time

import h5py
import numpy as np

import token_files
from harness import DATA, Case, command
from numbers_test import made_up_text


def datasets(path):
    found = {}
    with h5py.File(path) as f:
        f.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
        for key in ("document_count", "empty_document_count", "token_count", "longest_document"):
            found[key] = f.attrs[key]
    return found


class Interrupted(Case):
    """Enough text for several seconds: King James, many times over, in a plain and in a compressed file."""

    def setUp(self):
        super().setUp()
        text = lzma.decompress((DATA / "kjv.txt.xz").read_bytes())
        self.write("a.txt", text * 60)
        self.write("b.txt.xz", lzma.compress(text * 8, preset=0))
        words = sorted({word for word in text.decode().split()})
        self.write("vocab.txt", "".join(word + "\n" for word in words))
        self.options = ("count", "--corpus", "a.txt", "--corpus", "b.txt.xz", "--tokenizer", "whitespace", "--vocab", "vocab.txt", "--lengths", "32",
                        "--sequences", "packed", "--noise", "all", "--keep-every", "1", "--progress", "none")

    def start(self, out, ranks):
        return subprocess.Popen(command((*self.options, "--out", out), ranks), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def wait_for_unfinished(self, process, out):
        while process.poll() is None and not (self.folder / out / "counts-unfinished.h5").exists():
            time.sleep(0.01)
        return process.poll() is None

    def assert_same(self, one, other):
        a, b = datasets(self.folder / one / "counts.h5"), datasets(self.folder / other / "counts.h5")
        self.assertEqual(a.keys(), b.keys())
        for name in a:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)

    def test_signals_and_kills_lose_nothing_that_was_kept(self):
        self.succeed(*self.options, "--out", "whole", ranks=2)
        # A signal to one rank of three stops all, with what is counted kept; two ranks go on.
        process = self.start("signalled", 3)
        self.assertTrue(self.wait_for_unfinished(process, "signalled"), "the count was over before it could be stopped")
        ranks = subprocess.run(["pgrep", "-f", f"posgeom {' '.join(self.options)} --out signalled"], capture_output=True, text=True, check=True)
        last = [pid for pid in map(int, ranks.stdout.split()) if pid != process.pid][-1]
        os.kill(last, signal.SIGUSR1)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, errors + output)
        self.assertEqual(len([line for line in errors.splitlines() if "stopped by a signal" in line]), 1, errors)
        self.assertFalse((self.folder / "signalled/counts.h5").exists())
        refused = self.error_line(*self.options, "--out", "signalled", "--max-tokens", "7")
        self.assertIn("counts-unfinished.h5", refused)
        self.assertIn("max_tokens", refused)
        self.assertIn("going on with", self.succeed(*self.options, "--out", "signalled", ranks=2))
        self.assertFalse((self.folder / "signalled/counts-unfinished.h5").exists())
        self.assert_same("whole", "signalled")
        # kill -9 of everything; one rank goes on from the last kept state.
        process = self.start("killed", 2)
        self.assertTrue(self.wait_for_unfinished(process, "killed"))
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGKILL)
        subprocess.run(["pkill", "-9", "-f", "--", "--out killed"], check=False)
        process.communicate()
        if not (self.folder / "killed/counts.h5").exists():
            self.assertIn("going on with", self.succeed(*self.options, "--out", "killed"))
        self.assert_same("whole", "killed")
        # Another input under the same name is refused, not mixed in.
        process = self.start("changed", 2)
        self.assertTrue(self.wait_for_unfinished(process, "changed"))
        process.send_signal(signal.SIGUSR1)  # mpirun passes it on
        process.communicate(timeout=60)
        with open(self.folder / "a.txt", "ab") as f:
            f.write(b"one more verse\n")
        self.assertIn("file.0", self.error_line(*self.options, "--out", "changed"))


class Large(Case):
    def test_a_table_larger_than_a_rank_may_use(self):
        """n V = 2^26 cells: 256 MiB as one table; two ranks of 96 MiB count it by handing rows to their owners."""
        n, v = 1024, 65536
        draw = np.random.default_rng(2)
        ids = draw.integers(0, v, 6_000_000).astype(np.uint16)
        ids.tofile(self.folder / "ids.bin")
        common = ("count", "--corpus", "ids.bin", "--format", "raw16", "--vocab-size", v, "--sequences", "packed", "--lengths", n, "--progress", "none")
        self.succeed(*common, "--memory", "96M", "--out", "out", ranks=2)
        with h5py.File(self.folder / "out/counts.h5") as f:
            indptr, token, count = (f[f"length_{n}/counts/{name}"][()] for name in ("indptr", "token", "count"))
        for position in (0, 1, 511, 512, 700, 1023):
            row = slice(indptr[position], indptr[position + 1])
            expected = np.bincount(ids[position::n], minlength=v)
            np.testing.assert_array_equal(token[row], np.flatnonzero(expected))
            np.testing.assert_array_equal(count[row], expected[expected > 0])
        line = self.error_line(*common, "--memory", "8M", "--out", "small", ranks=2)
        self.assertIn("--memory", line)


class Truncated(Case):
    def test_nothing_is_half_counted(self):
        """Whatever is cut off a token file, it is refused whole, by name, and no counts are left."""
        documents = [[k % 50 for k in range(length)] for length in (5, 0, 17, 3)]
        files = {
            "m.bin": (token_files.megatron(self.folder, "m", documents), ()),
            "c.bin": (token_files.llmc(self.folder, "c.bin", documents), ()),
            "d.ds": (token_files.datatrove(self.folder, "d.ds", documents), ()),
            "r.bin": (token_files.raw(self.folder, "r.bin", documents), ("--format", "raw16")),
        }
        for name, (path, options) in files.items():
            whole = path.read_bytes()
            for cut in (1, 3) if name == "r.bin" else (1, 2, 3, 4):
                path.write_bytes(whole[:-cut])
                with self.subTest(file=name, cut=cut):
                    line = self.error_line("count", "--corpus", path, *options, "--vocab-size", "60", "--lengths", "4", "--out", "out", ranks=2)
                    self.assertIn(name, line)
                    self.assertFalse((self.folder / "out/counts.h5").exists())
            path.write_bytes(whole)

    def test_an_id_out_of_range_is_named(self):
        path = token_files.megatron(self.folder, "m", [[1, 2, 3], [4, 99, 5]])
        line = self.error_line("count", "--corpus", path, "--vocab-size", "60", "--lengths", "4", "--out", "out", ranks=2)
        for word in ("m.bin", "99", "60", "document 1", "position 1"):
            self.assertIn(word, line)

    def test_text_that_shrinks_or_is_no_text(self):
        self.write("t.txt", "\n".join(made_up_text()))
        self.assertIn("tokenizer", self.error_line("count", "--corpus", token_files.megatron(self.folder, "m", [[1]]), "--vocab-size", "5",
                                                   "--tokenizer", "bytes", "--lengths", "4", "--out", "out", code=2))
        self.assertIn("--vocab-size", self.error_line("count", "--corpus", self.folder / "m.bin", "--lengths", "4", "--out", "out", code=2))
