"""Encodings from posgeom's files into PyTorch: values, places, scales, and what is refused."""
import warnings

import h5py
import numpy as np
import torch
from harness import Case

from posgeom_torch import EncodingError, PositionEncoding, load_encoding, positions_with_data, sinusoidal_table


def short_texts(documents=300, longest=10):
    """Words that depend on their position; no document reaches position `longest`, and position 5 is left to a minimum count."""
    random = np.random.default_rng(3)
    return "\n".join(" ".join(f"w{i // 2}x{random.integers(0, 4)}" for i in range(random.integers(2, longest + 1))) for _ in range(documents)) + "\n"


class Loader(Case):
    def setUp(self):
        super().setUp()
        self.write("corpus.txt", short_texts())
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8,16", "--dims", "1,2,4,8,16", "--encodings", "mds,smacof,sinusoidal,linear,random", "--noise", "split",
                     "--write-encodings", "--out", "out")
        self.geometry, self.stress = self.folder / "out/geometry-16.h5", self.folder / "out/stress-16.h5"

    def load(self, *arguments, **options):
        """The table, and the warnings as text."""
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            table = load_encoding(*arguments, **options)
        return table, " ".join(str(warning.message) for warning in said)

    def test_mds_rows_stand_at_their_positions(self):
        with h5py.File(self.geometry) as f:
            position, encoding, rank = f["position"][()], f["encoding"][()], int(f.attrs["rank"])
        self.assertLess(len(position), 16)
        table, said = self.load(self.geometry, 16, 16)
        self.assertEqual((table.dtype, tuple(table.shape)), (torch.float32, (16, 16)))
        np.testing.assert_array_equal(table[position].numpy(), encoding[:, :16].astype(np.float32))
        self.assertFalse(table[len(position):].any())
        self.assertFalse(table[:, rank:].any())
        self.assertTrue(table[:, rank - 1].any())
        for wanted in (str(self.geometry), f"{16 - len(position)} of 16 positions have no data", f"the first is {len(position)}", "zero"):
            self.assertIn(wanted, said)
        reached = positions_with_data(self.geometry, 16)
        np.testing.assert_array_equal(np.flatnonzero(reached.numpy()), position)
        table, said = self.load(self.geometry, 6, 3, dtype=torch.float64)
        np.testing.assert_array_equal(table.numpy(), encoding[:6, :3])
        self.assertEqual(said, "")

    def test_rows_between_dropped_positions(self):
        """A position in the middle without data: the others do not move up."""
        with h5py.File(self.geometry, "r+") as f:
            kept = f["position"][()]
            kept[3:] += 2
            f["position"][()] = kept
            encoding = f["encoding"][()]
        table, said = self.load(self.geometry, 16, 4, dtype=torch.float64)
        np.testing.assert_array_equal(table[kept].numpy(), encoding[:, :4])
        self.assertFalse(table[3:5].any())
        self.assertIn("the first is 3", said)
        table, _ = self.load(self.stress, 16, 4, dtype=torch.float64, name="mds")  # takes the positions of the geometry beside it
        np.testing.assert_array_equal(table[kept].numpy(), encoding[:, :4])

    def test_stress_and_signal(self):
        with h5py.File(self.stress) as f:
            smacof, linear = f["encodings/smacof/4"][()], f["encodings/linear/1"][()]
        table, _ = self.load(self.stress, 16, 4, dtype=torch.float64)
        np.testing.assert_array_equal(table[:len(smacof)].numpy(), smacof)
        table, _ = self.load(self.stress, 16, 4, dtype=torch.float64, name="linear")  # one column, then zeros: the same distances
        np.testing.assert_array_equal(table[:len(linear)].numpy(), np.pad(linear, ((0, 0), (0, 3))))
        with h5py.File(self.geometry) as f:
            position, signal = f["noise/position"][()], f["noise/signal_encoding"][()]
        self.assertGreater(signal.shape[1], 0)
        table, said = self.load(self.geometry, 16, 12, dtype=torch.float64, name="signal")
        np.testing.assert_array_equal(table[position][:, :signal.shape[1]].numpy(), signal)
        self.assertFalse(table[:, signal.shape[1]:].any())
        self.assertIn("no data", said)

    def test_norm(self):
        plain, _ = self.load(self.geometry, 16, 4, dtype=torch.float64)
        scaled, _ = self.load(self.geometry, 16, 4, dtype=torch.float64, norm=3.0)
        reached = positions_with_data(self.geometry, 16)
        self.assertAlmostEqual(float(scaled[reached].norm(dim=1).pow(2).mean().sqrt()), 3.0, delta=1e-12)
        ratio = float(scaled[0, 0] / plain[0, 0])
        torch.testing.assert_close(scaled, plain * ratio, rtol=1e-12, atol=0)

    def refused(self, *words, call=None, **options):
        with self.assertRaises(EncodingError) as caught:
            call() if call else load_encoding(options.pop("path", self.geometry), options.pop("length", 16), options.pop("d", 4), **options)
        text = str(caught.exception)
        self.assertNotIn("\n", text)
        for word in words:
            self.assertIn(word, text)

    def test_what_is_refused(self):
        missing = self.folder / "nothing.h5"
        self.refused(str(missing), "posgeom run", path=missing)
        self.refused("corpus.txt", "file signature not found", "expected a whole file", path=self.folder / "corpus.txt")
        self.refused("found a folder", path=self.folder)
        for number in (0, -1, 1.5, None):
            self.refused(f"{number} columns are wanted", "above 0", d=number)
            self.refused(f"{number} positions are wanted", "above 0", length=number)
        self.refused("counts.h5", "found a file of format", "expected geometry-<n>.h5", path=self.folder / "out/counts.h5")
        self.refused("geometry-8.h5", "16 positions are wanted, found 8", "--lengths 16", path=self.folder / "out/geometry-8.h5")
        self.refused("not 'smacof'", "mds and signal", name="smacof")
        self.refused("the encoding t5", "found linear, mds, random, sinusoidal, smacof", "--write-encodings", path=self.stress, name="t5")
        self.refused("d = 3", "found d = 1, 2, 4, 8, 16", "--dims 3", path=self.stress, d=3)
        with h5py.File(self.geometry, "r+") as f:
            f.attrs["rank"] = 17
        self.refused("reading 17 components", "found 16 of rank 17", "--components 17", d=17)
        with h5py.File(self.geometry, "r+") as f:
            f["encoding"][1, 1] = np.nan
            del f["noise"]
        self.refused("1 entries that are not finite")
        self.refused("no noise analysis", "--noise split", name="signal")
        self.geometry.unlink()
        self.refused("found 10 rows for 16 positions", "geometry-16.h5", path=self.stress)

    def test_what_is_damaged(self):
        """Cut anywhere, or with a part missing: one line, for the positions alone too."""
        whole = self.geometry.read_bytes()
        for part in (0, 0.02, 0.5, 0.99):
            self.geometry.write_bytes(whole[:int(part * len(whole))])
            for call in (None, lambda: positions_with_data(self.geometry, 16)):
                self.refused("geometry-16.h5", "make it again", call=call)
        for name in ("encoding", "position"):
            self.geometry.write_bytes(whole)
            with h5py.File(self.geometry, "r+") as f:
                del f[name]
            self.refused("geometry-16.h5", f"'{name}' doesn't exist", "make it again")
        self.refused("stress-16.h5", "'position' doesn't exist", call=lambda: positions_with_data(self.stress, 16))
        self.geometry.unlink()
        self.refused("no such file", call=lambda: positions_with_data(self.geometry, 16))

    def test_no_rows_to_scale(self):
        with h5py.File(self.geometry, "r+") as f:
            f["encoding"][()] = 0
        self.refused("scaling the encoding", "norm 0", norm=1.0)


class Module(Case):
    refused = Loader.refused

    def test_modes_add_what_they_say(self):
        x = torch.randn(2, 6, 8, dtype=torch.float32)
        table = torch.randn(6, 4)
        padded = torch.nn.functional.pad(table, (0, 4))
        for mode in ("frozen", "learned"):
            position = PositionEncoding(mode, 6, 8, init=table)
            torch.testing.assert_close(position(x), x + padded)
            torch.testing.assert_close(position(x[:, :3]), x[:, :3] + padded[:3])
            self.assertEqual(sum(p.numel() for p in position.parameters()), 24 if mode == "learned" else 0)
        torch.testing.assert_close(PositionEncoding("sinusoidal", 6, 8)(x), x + sinusoidal_table(6, 8).float())
        for mode in ("none", "rope", "alibi"):
            position = PositionEncoding(mode, 6, 8, heads=2)
            self.assertTrue(torch.equal(position(x), x))
            self.assertIsNone(position.table())

    def test_sinusoids_are_posgeoms(self):
        self.write("corpus.txt", short_texts())
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "6", "--encodings", "sinusoidal", "--write-encodings", "--out", "out")
        with h5py.File(self.folder / "out/stress-8.h5") as f:
            np.testing.assert_allclose(sinusoidal_table(8, 6).numpy(), f["encodings/sinusoidal/6"][()], atol=1e-14)

    def test_factored_has_rank_parameters_and_starts_at_the_table(self):
        low = torch.randn(10, 3, generator=torch.Generator().manual_seed(1)) @ torch.randn(3, 8, generator=torch.Generator().manual_seed(2))
        position = PositionEncoding("factored", 10, 8, init=low)
        self.assertEqual(position.rank, 3)
        self.assertEqual(sum(p.numel() for p in position.parameters()), 3 * (10 + 8))
        torch.testing.assert_close(position.table(), low, rtol=1e-5, atol=1e-5)
        u, s, v = torch.linalg.svd(low, full_matrices=False)
        torch.testing.assert_close(PositionEncoding("factored", 10, 8, init=low, rank=2).table(), u[:, :2] * s[:2] @ v[:2], rtol=1e-5, atol=1e-5)

    def test_factors_beyond_the_tables_rank_can_be_trained(self):
        low = torch.randn(10, 2, generator=torch.Generator().manual_seed(1)) @ torch.randn(2, 8, generator=torch.Generator().manual_seed(2))
        for init, own in ((low, 2), (torch.zeros(10, 8), 0)):
            position = PositionEncoding("factored", 10, 8, init=init, rank=4)
            torch.testing.assert_close(position.table(), init, rtol=1e-5, atol=1e-5)
            optimizer = torch.optim.SGD(position.parameters(), lr=0.1)
            wanted = torch.randn(10, 8, generator=torch.Generator().manual_seed(3))
            for _ in range(50):
                optimizer.zero_grad()
                (position.table() - wanted).pow(2).sum().backward()
                optimizer.step()
            self.assertEqual(int(torch.linalg.matrix_rank(position.table().detach(), tol=1e-3)), 4, own)

    def test_rope_depends_on_differences_and_alibi_on_distance(self):
        position = PositionEncoding("rope", 12, 8, heads=2)
        q, k = (torch.randn(4, generator=torch.Generator().manual_seed(seed)).expand(1, 2, 12, 4) for seed in (1, 2))
        turned_q, turned_k = position.rotate(q, k)
        scores = (turned_q @ turned_k.transpose(-1, -2))[0, 0]
        for lag in (-4, 0, 3):
            torch.testing.assert_close(scores.diagonal(lag), scores.diagonal(lag)[:1].expand(12 - abs(lag)), rtol=1e-4, atol=1e-5)
        self.assertGreater(float((scores[0, 1] - scores[1, 0]).abs()), 1e-3)
        torch.testing.assert_close(turned_q.norm(dim=-1), q.norm(dim=-1))
        unit = torch.tensor([1.0, 0, 1, 0]).expand(1, 1, 12, 4)
        turned = PositionEncoding("rope", 12, 4).rotate(unit, unit)[0][0, 0, 5]
        torch.testing.assert_close(turned, torch.tensor([5.0, 0.05]).repeat_interleave(2).add(torch.tensor([np.pi / 2, 0] * 2)).sin().float())  # cos, sin of 5 and of 5/100
        bias = PositionEncoding("alibi", 12, 8, heads=2).bias(5)
        self.assertEqual((tuple(bias.shape), float(bias[0, 1, 4]), float(bias[1, 4, 1])), ((2, 5, 5), -3 * 2.0 ** -4, -3 * 2.0 ** -8))

    def test_what_is_refused(self):
        table = torch.zeros(6, 4)
        for words, arguments, options in (
                (("'wrong'", "frozen"), ("wrong", 6, 8), {}), (("shape (6, 4)", "[5, d]"), ("frozen", 5, 8), {"init": table}),
                (("found 4 columns", "width, 2"), ("learned", 6, 2), {"init": table}), (("'frozen'", "no table"), ("frozen", 6, 8), {}),
                (("'rope'", "expected none"), ("rope", 6, 8), {"init": table}), (("d = 3", "odd"), ("sinusoidal", 6, 8), {"d": 3}),
                (("rank 5", "1 to 4"), ("factored", 6, 8), {"init": torch.eye(6, 4), "rank": 5}), (("rank 0", "1 to 6"), ("factored", 6, 8), {"rank": 0}),
                (("found 0 columns",), ("learned", 6, 8), {"d": 0}), (("found 12 columns",), ("learned", 6, 8), {"d": 12}), (("width 8 and 3 heads",), ("rope", 6, 8), {"heads": 3})):
            with self.subTest(arguments=arguments):
                self.refused(*words, call=lambda: PositionEncoding(*arguments, **options))
        for mode in ("learned", "factored", "sinusoidal"):
            self.refused(f"'{mode}' of 6 positions", "a sequence of 7", call=lambda: PositionEncoding(mode, 6, 8)(torch.zeros(1, 7, 8)))
        q = torch.zeros(1, 2, 7, 4)
        self.refused("a sequence of 7", call=lambda: PositionEncoding("rope", 6, 8, heads=2).rotate(q, q))
        self.refused("a sequence of 7", call=lambda: PositionEncoding("alibi", 6, 8, heads=2).bias(7))


