"""Encodings that are computed (smacof) or come from files: what is stored, what is resumed, and against NumPy."""
import json
import struct

import h5py
import numpy as np

from harness import Case
from numbers_test import made_up_text

RUN = ("run", "--corpus", "corpus.txt", "--lengths", "16", "--out", "out")


def raw_stress(p, h):
    distances = np.sqrt(((p[:, None] - p[None]) ** 2).sum(-1))
    upper = np.triu_indices(len(h), 1)
    return ((distances - h)[upper] ** 2).sum() / (h[upper] ** 2).sum()


def safetensors(tensors):
    """A file of float32 tensors."""
    header, data = {}, b""
    for name, array in tensors.items():
        raw = array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Encodings(Case):
    def setUp(self):
        super().setUp()
        self.write("corpus.txt", "\n".join(made_up_text()) + "\n")

    def stress(self):
        """Rows of the raw table by name, the dimensions, and the stored smacof encodings."""
        with h5py.File(self.folder / "out/stress-16.h5") as f:
            names = [name.decode() for name in f["encoding_name"][()]]
            stored = {int(d): x[()] for d, x in f["encodings/smacof"].items()} if "encodings/smacof" in f else {}
            return dict(zip(names, f["raw"][()])), list(f["dimension"][()]), stored

    def test_smacof_is_stored_below_mds_and_the_same_on_every_rank_count(self):
        arguments = (*RUN, "--dims", "1,2,4,16", "--encodings", "mds,smacof", "--write-hellinger")
        text = self.succeed(*arguments)
        self.assertIn("smacof d=2: raw stress", text)
        self.assertIn("stopped by", text)
        raw, dims, stored = self.stress()
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            h = f["hellinger"][()]
        self.assertEqual(sorted(stored), dims)
        for k, d in enumerate(dims):
            self.assertEqual(stored[d].shape, (16, d))
            self.assertAlmostEqual(raw["smacof"][k], raw_stress(stored[d], h), delta=1e-12)
            self.assertLessEqual(raw["smacof"][k], raw["mds"][k] + 1e-25)
        self.assertLess(raw["smacof"][1], 0.9 * raw["mds"][1])
        self.assertLess(raw["smacof"][3], 1e-20)
        before = stored
        self.succeed("stress", *arguments[1:], "--force", ranks=3)  # from the same geometry: the same bits
        for d, encoding in self.stress()[2].items():
            np.testing.assert_array_equal(encoding, before[d])

    def test_smacof_is_resumed(self):
        self.succeed(*RUN, "--dims", "1,2", "--encodings", "mds,smacof")
        raw, _, stored = self.stress()
        # A marker in the stored matrix shows that it is kept, not computed again.
        with h5py.File(self.folder / "out/stress-16.h5", "r+") as f:
            f["encodings/smacof/2"][0, 0] = 123.0
        self.assertEqual(self.succeed(*RUN, "--dims", "1,2", "--encodings", "mds,smacof").count("reused"), 3)
        text = self.succeed("stress", *RUN[1:], "--dims", "1", "--encodings", "smacof,linear,sinusoidal")
        self.assertNotIn("smacof d=", text)
        self.assertEqual(self.stress()[2][2][0, 0], 123.0)
        text = self.succeed("stress", *RUN[1:], "--dims", "1", "--encodings", "alibi")
        self.assertEqual(self.stress()[2][2][0, 0], 123.0)
        self.succeed(*RUN, "--dims", "1,2,4", "--encodings", "mds", "--force")
        self.assertEqual(self.stress()[2], {})
        self.succeed(*RUN, "--dims", "1,2", "--encodings", "mds,smacof")
        text = self.succeed("stress", *RUN[1:], "--dims", "2", "--encodings", "smacof")
        again, dims, encodings = self.stress()
        self.assertEqual(dims, [1, 2, 4])
        self.assertEqual(sorted(encodings), [1, 2, 4])
        np.testing.assert_array_equal(encodings[1], stored[1])
        np.testing.assert_array_equal(again["smacof"][:2], raw["smacof"])

    def test_options_of_smacof(self):
        few = (*RUN, "--dims", "2", "--encodings", "mds,smacof", "--smacof-iterations", "3")
        self.assertIn("stopped by the iteration limit", self.succeed(*few))
        line = self.error_line(*RUN, "--dims", "2", "--encodings", "mds,smacof")
        self.assertIn("smacof-iterations 3", line)
        self.assertIn("--force", line)
        self.succeed(*RUN, "--dims", "2", "--encodings", "mds", "--smacof-iterations", "5")  # nobody asks for smacof

    def test_safetensors_with_an_offset(self):
        table = np.random.default_rng(1).normal(size=(20, 6)).astype("f4")
        self.write("m.safetensors", safetensors({"decoder.embed_positions.weight": table, "lm_head.weight": np.ones((3, 6))}))
        np.save(self.folder / "t.npy", table[2:])
        tensor = "file:m.safetensors:decoder.embed_positions.weight"
        self.succeed(*RUN, "--dims", "2,6,8", "--encodings", f"shifted={tensor}[2:18],plain={tensor},file:t.npy", "--write-hellinger", ranks=2)
        raw, _, _ = self.stress()
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            h = f["hellinger"][()]
        np.testing.assert_array_equal(raw["shifted"], raw["t"])
        self.assertAlmostEqual(raw["shifted"][1], raw_stress(table[2:18].astype("f8"), h), delta=1e-12)
        self.assertAlmostEqual(raw["plain"][1], raw_stress(table[:16].astype("f8"), h), delta=1e-12)
        self.assertTrue(np.isnan(raw["shifted"][2]))
        self.assertIn("has 15 rows from row 5 on", self.error_line(*RUN, "--encodings", f"late={tensor}[5:]"))
        line = self.error_line(*RUN, "--encodings", "file:m.safetensors")
        for part in ("which tensor", "decoder.embed_positions.weight (20 x 6)", "lm_head.weight"):
            self.assertIn(part, line)

    def test_checkpoints_of_pytorch_are_refused_with_the_way_out(self):
        self.write("model.pt", b"PK\x03\x04" + bytes(40))
        line = self.error_line(*RUN, "--encodings", "file:model.pt")
        for part in ("model.pt", "torch.load", "numpy.save"):
            self.assertIn(part, line)

    def test_kernels_by_lag(self):
        names = "t5,kerple-log,kerple-power,fire,rope"
        self.succeed(*RUN, "--dims", "8,64", "--encodings", names, "--rope-scaling", "linear:4", "--write-hellinger", "--write-encodings")
        raw, _, _ = self.stress()
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            h, position = f["hellinger"][()], f["position"][()]
        upper = np.triu_indices(16, 1)
        lag = np.abs(position[:, None] - position[None]).astype(float)
        angles = lag[..., None] / 4 * 10000.0 ** (-np.arange(4) / 4)
        for name, distance in (("t5", np.where(lag < 8, lag, np.where(lag < 12, 8, 9)) / 15), ("kerple-log", np.sqrt(2 * np.log(1 + lag))),
                               ("kerple-power", np.sqrt(2 * lag)), ("fire", np.log(1 + 0.1 * lag) / np.log(1 + 0.1 * 16)),
                               ("rope", np.sqrt((2 - 2 * np.cos(angles)).sum(-1)))):
            expected = ((distance - h)[upper] ** 2).sum() / (h[upper] ** 2).sum()
            self.assertAlmostEqual(raw[name][0], expected, delta=1e-12 * max(1, expected), msg=name)
        self.assertIn("rope-scaling = linear:4 there", self.error_line(*RUN, "--dims", "8,64", "--encodings", names))
