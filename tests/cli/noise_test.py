"""What stands above noise, from corpora whose truth is known, end to end."""
import h5py
import numpy as np

from harness import Case

LENGTHS = ("--lengths", "32", "--dims", "1,2", "--encodings", "mds")
CORPUS = ("--format", "megatron", "--vocab-size", "400")


class KnownTruth(Case):
    def synth(self, out, *options, ranks=1):
        self.succeed("synth", "--synth-positions", "32", "--synth-vocab", "400", "--synth-documents", "6000", "--synth-lengths", "fixed:32", "--out", out, *options,
                     ranks=ranks)
        return ("--corpus", f"{out}/tokens.bin", *CORPUS)

    def noise(self, out):
        with h5py.File(self.folder / out / "geometry-32.h5") as f:
            return dict(f.attrs), dict(f["noise"].attrs), {name: f["noise"][name][()] for name in f["noise"]}

    def test_planted_components_are_found_and_no_others(self):
        corpus = self.synth("planted")
        text = self.succeed("run", *corpus, *LENGTHS, "--noise", "all", "--out", "planted", ranks=2)
        geometry, attributes, data = self.noise("planted")
        self.assertEqual(geometry["rank"], 31)
        self.assertEqual(attributes["signal_rank"], 3)
        self.assertEqual(attributes["signal_rank_order"], 3)
        self.assertEqual(data["signal_encoding"].shape, (32, 3))
        self.assertIn("3 components stand above sampling noise", text)
        self.assertIn("3 components stand above sampling noise", self.succeed("inspect", "planted/geometry-32.h5"))
        self.assertRegex(self.succeed("inspect", "planted/truth.h5"), r"components +3 over \d+ tokens")
        # Against the exact distributions.
        with h5py.File(self.folder / "planted/truth.h5") as f:
            s = np.sqrt(f["weights"][()] @ f["distributions"][()])
        s -= s.mean(axis=0)
        exact = np.linalg.eigvalsh(s @ s.T)[::-1]
        np.testing.assert_allclose(data["split_eigenvalues"][:3], exact[:3], rtol=0.05, atol=0.05)

    def test_the_same_at_every_rank_count(self):
        corpus = self.synth("one")
        self.synth("three", ranks=3)
        self.assertEqual((self.folder / "one/tokens.bin").read_bytes(), (self.folder / "three/tokens.bin").read_bytes())
        for ranks in (1, 2, 3, 4):
            self.succeed("run", *corpus, *LENGTHS, "--noise", "all", "--replicates", "19", "--out", f"r{ranks}", ranks=ranks)
        _, one, data = self.noise("r1")
        for ranks in (2, 3, 4):
            _, other, found = self.noise(f"r{ranks}")
            for name in ("signal_rank", "signal_rank_order", "rarefied_total", "shuffled_rank"):
                self.assertEqual(one[name], other[name], name)
            for name in ("split_eigenvalues", "null_largest", "shuffled_eigenvalues"):
                np.testing.assert_allclose(found[name], data[name], rtol=0, atol=1e-12 * max(1, abs(data[name]).max()), err_msg=name)

    def test_one_common_distribution_is_said_to_be_noise(self):
        corpus = self.synth("flat", "--synth-kind", "stationary")
        text = self.succeed("run", *corpus, *LENGTHS, "--noise", "all", "--out", "flat")
        geometry, attributes, _ = self.noise("flat")
        self.assertEqual(geometry["rank"], 31)
        self.assertEqual(attributes["signal_rank"], 0)
        self.assertEqual(attributes["signal_rank_order"], 0)
        self.assertGreater(attributes["shuffled_trace"], 0.9 * geometry["trace"])
        self.assertIn("indistinguishable", text)

    def test_it_can_be_added_and_is_kept(self):
        corpus = self.synth("plain")
        self.succeed("run", *corpus, *LENGTHS, "--noise", "none", "--out", "plain")
        with h5py.File(self.folder / "plain/geometry-32.h5") as f:
            self.assertNotIn("noise", f)
            before = f["encoding"][()]
        self.succeed("run", *corpus, *LENGTHS, "--noise", "all", "--out", "plain")
        with h5py.File(self.folder / "plain/geometry-32.h5") as f:
            np.testing.assert_array_equal(f["encoding"][()], before)
        self.assertEqual(self.noise("plain")[1]["signal_rank"], 3)
        self.succeed("run", *corpus, "--lengths", "32", "--dims", "1,2,8", "--encodings", "mds", "--noise", "none", "--out", "plain")
        self.assertEqual(self.noise("plain")[1]["signal_rank"], 3)
        line = self.error_line("run", *corpus, *LENGTHS, "--noise", "all", "--replicates", "199", "--out", "plain")
        self.assertIn("replicates", line)

    def test_counts_without_halves_are_refused(self):
        corpus = self.synth("half")
        self.succeed("count", *corpus, "--lengths", "32", "--noise", "none", "--out", "half")
        line = self.error_line("embed", "--lengths", "32", "--noise", "all", "--out", "half")
        for word in ("half/counts.h5", "--noise all", "halves", "--noise none"):
            self.assertIn(word, line)
        for options, word in ((("--replicates", "10"), "replicates"), (("--alpha", "2"), "alpha"), (("--rarefy", "-1"), "rarefy")):
            self.assertIn(word, self.error_line("run", *corpus, *LENGTHS, "--noise", "all", *options, "--out", "half", code=2))
