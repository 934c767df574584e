"""Each demonstration in small: the claims hold, the checks behind them can fail, and figures and numbers are written."""
import contextlib
import io
import json
from unittest import mock

import h5py
import numpy as np
import torch
from harness import Case

import posgeom_torch
import theory
import theory_monotone
import theory_order
import theory_tables
import train
from compare import cells, distinct, rank_correlation, text_table, verdict
from distances import distances, hellinger, min_separation, read_distributions, violation_rate
from intervals import interval
from trainer_test import ordered_texts


class Theory(Case):
    def setUp(self):
        super().setUp()
        self.write("corpus.txt", ordered_texts())
        self.succeed("tokenize", "--corpus", "corpus.txt", "--out", "tokens")
        self.succeed("run", "--corpus", "tokens/tokens.bin", "--format", "megatron", "--vocab-size", "32", "--lengths", "8", "--dims", "1,2,4,8",
                     "--encodings", "mds", "--out", "sweep")

    def demonstrate(self, name, *more, seeds="1,2"):
        arguments = [name, "--out", self.folder / "theory", "--seeds", seeds, "--tokens", self.folder / "tokens/tokens.bin", "--posgeom", self.folder / "sweep", "--length", 8,
                     "--width", 32, "--heads", 2, "--feed", 64, "--batch", 32, "--held", 100, "--steps", 30, "--checkpoints", 3, "--progress", "none", "--d", 8, *more]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.status = theory.main([str(word) for word in arguments])
        for suffix in (".png", ".svg", ".json"):
            self.assertGreater((self.folder / f"theory/{name}{suffix}").stat().st_size, 200)
        self.said = out.getvalue()
        return json.loads((self.folder / f"theory/{name}.json").read_text())

    def demonstrate_with(self, owner, name, wrong, claim, **options):
        """With something broken, wrong(original) in its place: the demonstration has to see it."""
        with mock.patch.object(owner, name, wrong(getattr(owner, name))):
            self.demonstrate(claim, **options)
        self.assertEqual(self.status, 1)

    def test_permutation(self):
        measured = self.demonstrate("permutation", "--steps", 80, seeds="1")
        self.assertEqual(self.status, 0, self.said)
        self.assertEqual(len(measured["claims"]), 4)
        self.assertEqual(measured["paired_accuracy"]["no positions"], [0.5])
        self.assertGreater(measured["paired_accuracy"]["no positions, causal mask"][0], 0.55)
        self.assertGreater(measured["accuracy"]["sinusoidal positions"][0], 0.6)
        self.assertLess(measured["deviation"]["no positions"], 1e-5)

    def test_a_violated_claim_is_told(self):
        settings, theory_order.SETTINGS = theory_order.SETTINGS, {**theory_order.SETTINGS, "no positions": ("--encoding", "random")}
        try:
            self.demonstrate("permutation", "--steps", 5, seeds="1")
        finally:
            theory_order.SETTINGS = settings
        self.assertEqual(self.status, 1)
        self.assertIn("permutation: VIOLATED: without positions the output", self.said)

    def test_separation(self):
        measured = self.demonstrate("separation")
        self.assertEqual(self.status, 0, self.said)
        self.assertEqual(set(measured["moved_without_data"].values()), {0.0})
        self.assertGreater(measured["decayed"], 0)
        self.assertEqual((measured["steps"], np.shape(measured["min_separation"]["from MDS"])), ([0, 10, 20, 30], (2, 4)))

    def test_rows_that_move_without_data_are_seen(self):
        # One position more is trained than is claimed.
        self.demonstrate_with(theory_tables, "shortened", lambda original: lambda reach: original(reach + 1), "separation", seeds="1")
        self.assertIn("VIOLATED: positions 6 to 7", self.said)

    def test_equal_rows_are_seen(self):
        """Two rows that begin equal are at distance 0 before the first step."""
        self.demonstrate_with(train, "initial_table", lambda original: lambda options: original(options).index_copy(0, torch.tensor([1]), original(options)[:1]),
                              "separation", seeds="1")
        self.assertIn("VIOLATED: from MDS: the least distance stays above 0 (least seen: 0)", self.said)

    def test_monotone(self):
        """Documents that all have 8 words, in drift from one kind of word to another: H grows with the lag, and so do the distances of a table that
        sees its own position. The premise is posgeom's own number."""
        random = np.random.default_rng(5)
        texts = ([f"{'new' if random.random() < i / 7 else 'old'}{random.integers(0, 2)}" for i in range(8)] for _ in range(2000))
        self.write("corpus.txt", "\n".join(" ".join(words) for words in texts) + "\n")
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "2", "--encodings", "mds", "--noise", "none", "--out", "drift")
        self.succeed("tokenize", "--corpus", "corpus.txt", "--out", "tokens", "--force")
        measured = self.demonstrate("monotone", "--posgeom", self.folder / "drift")
        self.assertEqual(self.status, 0, self.said)
        self.assertEqual(len(measured["claims"]), 3)
        with h5py.File(self.folder / "drift/stress-8.h5") as f:
            self.assertAlmostEqual(measured["premise"], f.attrs["corpus_violation_rate"], delta=1e-12)
            self.assertIn(f"({100 * f.attrs['corpus_violation_rate']:.1f} % in the counts of the whole corpus)", self.said)
        self.assertLess(measured["premise"], 0.2)
        self.assertGreater(measured["violation_rate"]["own position"][0], 0.3)  # the random start
        self.assertLess(min(measured["violation_rate"]["own position"]), 0.2)
        for descent in measured["descent"].values():
            self.assertEqual(descent["step"], [0, 8, 40, 80, 160])
            np.testing.assert_allclose(descent["simulated"], descent["closed_form"], atol=0.03)

    def test_a_wrong_closed_form_is_seen(self):
        self.demonstrate_with(theory_monotone, "closed_form", lambda original: lambda p0, g, m, k, t: original(p0, g, m, k, 1.1 * t), "monotone")

    def test_closed_form_solves_the_equation(self):
        random = np.random.default_rng(2)
        a, w, p0, g = random.normal(size=(5, 5)), random.normal(size=(3, 2)), random.normal(size=(5, 3)), random.normal(size=(5, 3))
        m, k = a.T @ a, w @ w.T  # k is singular: a direction that grows linearly
        np.testing.assert_allclose(theory_monotone.closed_form(p0, g, m, k, 0.0), p0, atol=1e-12)
        t, h = 0.3, 1e-5
        slope = (theory_monotone.closed_form(p0, g, m, k, t + h) - theory_monotone.closed_form(p0, g, m, k, t - h)) / (2 * h)
        np.testing.assert_allclose(slope, g - m @ theory_monotone.closed_form(p0, g, m, k, t) @ k, atol=1e-6)

    def test_starts(self):
        measured = self.demonstrate("starts")
        self.assertEqual(set(map(len, measured["curves"].values())), {2})
        for name, curves in measured["curves"].items():
            mean, half = interval([curve[-1][1] for curve in curves])
            self.assertIn(f"measured: {name}: accuracy {mean:.4f} +- {half:.4f} after 30 steps", self.said)
        with h5py.File(self.folder / "sweep/geometry-8.h5") as f:
            encoding = f["encoding"][()]
        first = {name: [self.table("starts", f"order-{name}-d8-seed{seed}")[0] for seed in (1, 2)] for name in ("mds-learned", "mds-frozen", "scratch-learned")}
        for name in ("mds-learned", "mds-frozen"):
            np.testing.assert_allclose(first[name][0], encoding, atol=1e-6)
            np.testing.assert_array_equal(first[name][0], first[name][1])
        self.assertAlmostEqual(np.std(first["scratch-learned"]), 0.02, delta=0.005)
        self.assertGreater(np.abs(first["scratch-learned"][0] - first["scratch-learned"][1]).max(), 0.01)

    def table(self, folder, run):
        with h5py.File(self.folder / "theory" / folder / run / "position_table.h5") as f:
            return f["position_table"][()]

    def test_factored(self):
        measured = self.demonstrate("factored", seeds="1")
        self.assertEqual(self.status, 0, self.said)
        self.assertEqual(set(measured["accuracy"]), {"n d, learned", "rank 1", "rank 2", "rank 4", "rank 8"})
        self.assertEqual(np.linalg.matrix_rank(self.table("factored", "order-mds-factored-d8-r2-seed1")[-1], tol=1e-4), 2)
        for wanted in ("a learned table has n d = 64", "rank 2 has r (n + d) = 32", "it saves only below rank n d / (n + d) = 4.0"):
            self.assertIn(wanted, self.said)

    def test_a_table_that_is_no_product_is_seen(self):
        self.demonstrate_with(posgeom_torch.PositionEncoding, "table", lambda original: lambda position:
                              original(position) + 0.1 * torch.eye(8) if position.mode == "factored" else original(position), "factored", seeds="1")
        self.assertIn("VIOLATED: and the trained tables are of rank 2 at most", self.said)


class Numbers(Case):
    def test_distances_are_posgeoms(self):
        self.write("corpus.txt", ordered_texts(200))
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "3,4", "--encodings", "mds,random,linear", "--write-hellinger",
                     "--write-encodings", "--out", "out")
        mu, position = read_distributions(self.folder / "out/counts.h5", 8)
        h = hellinger(mu)
        with h5py.File(self.folder / "out/geometry-8.h5") as f:
            np.testing.assert_allclose(h, f["hellinger"][()], atol=1e-12)
        with h5py.File(self.folder / "out/stress-8.h5") as f:
            for row, name in enumerate(("mds", "random", "linear")):
                d = distances(f[f"encodings/{name}/3"][()])
                measured = {"violation_rate": violation_rate(d), "min_separation": min_separation(f[f"encodings/{name}/3"][()])}
                for measure, value in measured.items():
                    self.assertAlmostEqual(f[measure][row, 0], value, delta=1e-12, msg=(name, measure))
            self.assertAlmostEqual(f.attrs["corpus_violation_rate"], violation_rate(h), delta=1e-12)

    def test_correlation_and_intervals(self):
        mean, half = interval([0.5, 0.6, 0.7])
        self.assertAlmostEqual(mean, 0.6)
        self.assertAlmostEqual(half, 4.302653 * 0.1 / np.sqrt(3), delta=1e-6)
        self.assertTrue(np.isnan(interval([0.5])[1]))

        def results(accuracies):
            return [{"encoding": f"e{k}", "mode": "frozen", "d": 4, "norm": None, "rank": None, "accuracy": a + 0.001 * s, "position_parameters": 0,
                     "raw": float(k), "scaled": np.nan, "null_raw": 1.0, "null_scaled": np.nan, "violation_rate": 0.1, "min_separation": 1.0,
                     "table_norm": 1.0 + k}
                    for k, a in enumerate(accuracies) for s in range(3)]
        table = cells(results(np.linspace(0.9, 0.5, 8)))
        self.assertEqual([c["label"] for c in table], [f"e{k}" for k in range(8)])
        self.assertEqual([c["table_norm"] for c in table], [1.0 + k for k in range(8)])
        rho, low, high, p, count = rank_correlation(table, "raw")
        self.assertEqual((round(rho, 9), count), (-1, 8))
        self.assertLess(high, -0.8)
        self.assertLess(p, 0.01)
        self.assertIn("higher accuracy goes with lower values", verdict("raw stress", rho, low, high, p, count))
        shuffled = np.random.default_rng(4).permutation(np.linspace(0.5, 0.9, 8))
        noise = rank_correlation(cells(results(shuffled)), "raw")
        self.assertIn("no rank correlation is shown", verdict("raw", 0.1, -0.5, 0.6, 0.8, 8))
        self.assertGreater(noise[3], p)
        self.assertIn("too few", verdict("scaled", *rank_correlation(table, "scaled")))
        self.assertEqual(len(text_table(table)), 9)
        twins = results([0.6, 0.7])
        twins += [{**run, "encoding": "twin"} for run in twins if run["encoding"] == "e1"]
        kept, same = distinct(cells(twins))
        self.assertEqual((len(kept), [(one["label"], other["label"]) for one, other in same]), (2, [("twin", "e1")]))
