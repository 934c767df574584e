"""Encodings that are computed (smacof) or come from files: what is stored, what is resumed, and against NumPy."""
import json
import random
import shutil
import struct

import h5py
import numpy as np

from harness import Case
from numbers_test import made_up_text

RUN = ("run", "--corpus", "corpus.txt", "--lengths", "16", "--out", "out")


def raw_stress(p, h, w=None):
    """The pairs weighted by w_i w_j, where there are weights."""
    distances = np.sqrt(((p[:, None] - p[None]) ** 2).sum(-1))
    weight = np.ones_like(h) if w is None else np.outer(w, w)
    upper = np.triu_indices(len(h), 1)
    return (weight * (distances - h) ** 2)[upper].sum() / (weight * h**2)[upper].sum()


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

    def write_thinning_corpus(self):
        """Documents of which few are long: position 0 holds 1200 tokens, position 11 some 5; the mixture of types drifts."""
        draw = random.Random(5)
        lines = []
        for _ in range(1200):
            length = min(12, 1 + int(draw.expovariate(0.5)))
            lines.append(" ".join(f"w{min(39, int(draw.paretovariate(1)) - 1 + (3 * i if draw.random() < 0.6 else 0))}" for i in range(length)))
        self.write("thin.txt", "\n".join(lines) + "\n")

    def weighted_and_not(self, *arguments):
        """stress-16.h5's rows and smacof encodings without and with weights, H, and the weights by NumPy; what the weighted run printed."""
        run = ("run", "--corpus", "thin.txt", "--lengths", "16", "--dims", "1,2,3", "--encodings", "mds,smacof", "--write-hellinger", *arguments)
        results, text = {}, ""
        for weights in ("none", "tokens"):
            text = self.succeed(*run, "--out", weights, "--smacof-weights", weights)
            with h5py.File(self.folder / weights / "stress-16.h5") as f:
                names = [name.decode() for name in f["encoding_name"][()]]
                results[weights] = dict(zip(names, f["raw"][()])), {int(d): x[()] for d, x in f["encodings/smacof"].items()}
                self.assertEqual("smacof-weights tokens" in f.attrs["fingerprint_lines"], weights == "tokens")
        with h5py.File(self.folder / "tokens/geometry-16.h5") as f, h5py.File(self.folder / "tokens/counts.h5") as counts:
            h, mds = f["hellinger"][()], f["encoding"][()]
            total = counts["position_total"][()][f["position"][()]]
        w = np.sqrt(np.maximum(total, 1))
        return run, results, h, mds, w / w.mean(), text

    def test_weights_by_tokens_bend_smacof_to_the_full_positions(self):
        self.write_thinning_corpus()
        run, results, h, mds, w, text = self.weighted_and_not()
        self.assertGreater(w.max() / w.min(), 10)
        (plain, unweighted), (raw, weighted) = results["none"], results["tokens"]
        for k, d in enumerate((1, 2, 3)):
            ours, theirs = raw_stress(weighted[d], h, w), raw_stress(unweighted[d], h, w)
            self.assertLess(ours, 0.95 * theirs)
            self.assertGreater(raw_stress(weighted[d], h), 1.05 * raw_stress(unweighted[d], h))
            # The table has the published stress, which weighs nothing; the weighted one is printed, and is below that of MDS.
            self.assertAlmostEqual(raw["smacof"][k], raw_stress(weighted[d], h), delta=1e-12)
            self.assertEqual(raw["mds"][k], plain["mds"][k])
            self.assertLess(ours, raw_stress(mds[:, :d], h, w))
            self.assertIn(f"smacof d={d}: weighted raw stress {ours:.6g} from {raw_stress(mds[:, :d], h, w):.6g} in", text)
        # From the same geometry: the same bits.
        self.succeed("stress", *run[1:], "--out", "tokens", "--smacof-weights", "tokens", "--force", ranks=3)
        with h5py.File(self.folder / "tokens/stress-16.h5") as f:
            for d, encoding in weighted.items():
                np.testing.assert_array_equal(f[f"encodings/smacof/{d}"][()], encoding)

    def test_what_weights_go_with(self):
        self.write_thinning_corpus()
        # Positions 12 to 15 have no token: filled, they weigh like one token.
        _, results, h, _, w, _ = self.weighted_and_not("--unreached", "uniform")
        self.assertEqual(len(h), 16)
        self.assertEqual(w[12:].tolist(), [w.min()] * 4)
        for d in (1, 2, 3):
            ours = raw_stress(results["tokens"][1][d], h, w)
            self.assertTrue(np.isfinite(ours))
            self.assertLess(ours, raw_stress(results["none"][1][d], h, w))
        # With as many tokens at every position the weights are all one.
        for d in ("none", "tokens"):
            shutil.rmtree(self.folder / d)
        _, results, *_ = self.weighted_and_not("--rarefy-geometry", "20")
        np.testing.assert_allclose(results["tokens"][0]["smacof"], results["none"][0]["smacof"], rtol=1e-6)

    def test_weights_decide_what_is_reused(self):
        self.write_thinning_corpus()
        run = ("run", "--corpus", "thin.txt", "--lengths", "16", "--dims", "2", "--encodings", "mds,smacof", "--out", "out")
        self.succeed(*run, "--smacof-weights", "tokens")
        self.assertEqual(self.succeed(*run, "--smacof-weights", "tokens").count("reused"), 3)
        line = self.error_line(*run)
        self.assertIn("smacof-weights tokens", line)
        self.assertIn("--force", line)
        self.succeed(*run[:-4], "--encodings", "mds", "--out", "out")  # nobody asks for smacof
        line = self.error_line(*run, "--smacof-weights", "counts", code=2, ranks=3)
        self.assertIn("--smacof-weights: found 'counts', expected one of none, tokens", line)

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
