"""What a run, `inspect` and `collect` say in words beside the numbers, so that nobody takes noise for structure; what of the options has no effect."""
import h5py
import numpy as np

from harness import Case, DATA
from meaning_test import RUN, Meaning, table


def flat(text):
    return " ".join(text.split())


class Planted(Case):
    """Three planted components in documents of unequal lengths."""

    LENGTHS = ("--lengths", "12,24", "--dims", "1,2,4,8")

    def setUp(self):
        super().setUp()
        self.succeed("synth", "--synth-positions", "24", "--synth-vocab", "300", "--synth-documents", "4000", "--synth-lengths", "lognormal:14:0.6", "--out", "syn")
        self.corpus = ("--corpus", "syn/tokens.bin", "--format", "megatron", "--vocab-size", "300")
        self.run_line = ("run", *self.corpus, *self.LENGTHS, "--noise", "all", "--replicates", "19", "--out", "out")

    def signal_rank(self, out):
        with h5py.File(self.folder / out / "geometry-24.h5") as f:
            return f["noise"].attrs["signal_rank"]

    def test_the_default_run_scores_against_the_denoised_distances(self):
        defaults = {"mds", "sinusoidal", "rope", "alibi", "linear", "random"}
        for ranks in (1, 3):
            text = self.succeed(*self.run_line[:-1], f"r{ranks}", ranks=ranks)
        self.assertEqual(text.count("de-noised scaled"), 2)
        self.assertEqual(text.count("against the de-noised distances the least scaled stress is: mds"), 2)
        self.assertIn(f"the signal encoding (/noise/signal_encoding, {self.signal_rank('r1')} columns) is to be judged by de-noised stress, not against H", text)
        with h5py.File(self.folder / "r1/stress-24.h5") as one, h5py.File(self.folder / "r3/stress-24.h5") as three:
            self.assertEqual(set(table(one, "raw")), defaults)  # and none of them is there for it alone
            denoised = table(one, "denoised/scaled")
            self.assertFalse(np.isnan(denoised["mds"]).any())
            # Beyond the components that there are, de-noised stress rises again; raw stress does not.
            self.assertLess(denoised["mds"][2], denoised["mds"][3])
            self.assertGreater(table(one, "raw")["mds"][2], table(one, "raw")["mds"][3])
            np.testing.assert_allclose(three["denoised/scaled"][()], one["denoised/scaled"][()], rtol=1e-12, atol=1e-12)
            plain = one["denoised/raw"][()]
        # The same numbers as with signal among the encodings, and reused as they are.
        self.assertEqual(self.succeed(*self.run_line[:-1], "r1").count("reused"), 5)
        self.succeed(*self.run_line[:-1], "s", "--encodings", "mds,sinusoidal,rope,alibi,linear,random,signal")
        with h5py.File(self.folder / "s/stress-24.h5") as f:
            np.testing.assert_array_equal(f["denoised/raw"][()][:6], plain)
        # Completed for what comes later, also where that run has no noise analysis of its own; none where there is none.
        self.succeed("stress", *self.LENGTHS, "--encodings", "t5", "--noise", "none", "--out", "r1")
        with h5py.File(self.folder / "r1/stress-24.h5") as f:
            self.assertFalse(np.isnan(table(f, "denoised/raw")["t5"]).any())
        self.succeed("run", *self.corpus, *self.LENGTHS, "--noise", "none", "--out", "none")
        with h5py.File(self.folder / "none/stress-24.h5") as f:
            self.assertNotIn("denoised", f)

    def test_halves_that_were_counted_anew_are_not_mixed_with_an_older_analysis(self):
        self.succeed(*self.run_line, "--encodings", "linear")
        self.succeed("count", *self.corpus, "--lengths", "24", "--noise", "all", "--seed", "7", "--force", "--out", "out")
        (self.folder / "out/stress-24.h5").unlink()
        self.succeed("stress", "--lengths", "24", "--dims", "1", "--encodings", "linear", "--noise", "split", "--out", "out")
        with h5py.File(self.folder / "out/stress-24.h5") as f:
            self.assertNotIn("denoised", f)

    def test_another_analysis_is_refused(self):
        self.succeed(*self.run_line, "--encodings", "linear")
        self.succeed("embed", *self.LENGTHS, "--noise", "all", "--replicates", "19", "--rarefy", "200", "--force", "--out", "out")
        line = self.error_line("stress", *self.LENGTHS, "--encodings", "linear", "--noise", "all", "--replicates", "19", "--rarefy", "200", "--out", "out")
        self.assertIn("noise.denoised", line)
        self.assertIn("rarefy 200 now", line)

    def test_dimensions_beyond_the_signal_rank(self):
        text = self.succeed(*self.run_line, "--encodings", "mds,smacof,linear")
        rank = self.signal_rank("out")
        self.assertIn(rank, (2, 3))
        with h5py.File(self.folder / "out/stress-24.h5") as f:
            names, dimension = list(f["encoding_name"].asstr()[()]), f["dimension"][()]
            scaled = dict(zip(names, f["denoised/scaled"][()]))
        inspected = self.succeed("inspect", "out/stress-24.h5")
        for name in ("mds", "smacof"):
            best = int(np.argmin(scaled[name]))
            worst = best + int(np.argmax(scaled[name][best:]))
            self.assertGreater(scaled[name][worst], 1.05 * scaled[name][best])  # three components were planted, and d goes to 8
            words = (f"{name}: beyond d = {dimension[best]} it fits sampling noise: the de-noised stress is least there ({scaled[name][best]:.4g}), and "
                     f"{scaled[name][worst]:.4g} at d = {dimension[worst]}")
            self.assertIn(words, text)
            self.assertIn(words, inspected)
        self.assertNotIn("linear: beyond", text)

    def test_shuffled_text_is_rarefied_as_the_geometry_is(self):
        self.succeed(*self.run_line, "--encodings", "linear", "--rarefy-geometry", "auto")
        for n in (12, 24):
            with h5py.File(self.folder / f"out/geometry-{n}.h5") as g, h5py.File(self.folder / f"out/stress-{n}.h5") as f:
                noise = g["noise"]
                self.assertEqual(len(noise["shuffled_eigenvalues"]), len(g["position"]))
                np.testing.assert_allclose(noise.attrs["shuffled_violation_rate"], f["shuffled"].attrs["corpus_violation_rate"], rtol=1e-12)
                np.testing.assert_allclose(noise.attrs["shuffled_share"], noise.attrs["shuffled_sum_hellinger_squared"] / g.attrs["sum_hellinger_squared"], rtol=1e-10)

    def test_where_nothing_takes_part_no_rank_is_told(self):
        text = self.succeed(*self.run_line, "--encodings", "linear", "--rarefy", "10000000")
        self.assertNotRegex(text, "signal rank:? 0")
        with h5py.File(self.folder / "out/sweep.h5") as f:
            self.assertEqual(list(f["signal_rank"]), [-1, -1])

    def test_unequal_totals(self):
        text = self.succeed(*self.run_line, "--encodings", "linear")
        with h5py.File(self.folder / "out/counts.h5") as f:
            totals = f["position_total"][()]
        said = dict(zip((12, 24), text.split("length 12: ")[1].split("length 24: ")))
        for n, report in said.items():
            low, high = totals[:n].min(), totals[:n].max()
            words = f"positions hold {low} to {high} tokens ({high / low:.3g} times as many): few tokens alone make distances larger"
            self.assertEqual(words in report, high / low >= 2)
            with h5py.File(self.folder / f"out/geometry-{n}.h5") as f:
                self.assertEqual((f.attrs["fewest_tokens"], f.attrs["most_tokens"]), (low, high))
        self.assertIn("few tokens alone", said[24])
        self.assertNotIn("few tokens alone", said[12])
        self.assertIn("--rarefy-geometry", said[24])
        self.assertIn("few tokens alone", self.succeed("inspect", "out/geometry-24.h5"))
        # As many at every position, and where they nearly are, is nothing to speak of.
        self.assertNotIn("few tokens alone", self.succeed("run", *self.corpus, *self.LENGTHS, "--encodings", "linear", "--rarefy-geometry", "auto", "--out", "rare"))
        self.assertNotIn("few tokens alone", self.succeed("run", *self.corpus, "--sequences", "packed", "--lengths", "8", "--encodings", "linear", "--out", "packed"))

    def test_what_shares_and_signal_ranks_were_computed_on(self):
        text = self.succeed(*self.run_line, "--encodings", "linear")
        collected = self.succeed("collect", "--out", "out")
        inspected = self.succeed("inspect", "out/sweep.h5")
        totals, ranks = [], []
        for n in (12, 24):
            with h5py.File(self.folder / f"out/geometry-{n}.h5") as f:
                m, total, positions = f["position"].shape[0], f["noise"].attrs["rarefied_total"], f["noise/position"].shape[0]
                ranks.append(f["noise"].attrs["signal_rank"])
            totals.append(total)
            self.assertIn(f"(over {m} positions with the tokens that the geometry has, not M", text)
            self.assertIn(f"{ranks[-1]} components stand above sampling noise (M = {total} tokens a half at {positions} positions;", text)
            for said in (text, collected, inspected):
                self.assertIn(f"{ranks[-1]} at n = {n} (M = {total}, {positions} positions)", said)
        self.assertNotEqual(*totals)
        for said in (text, collected, inspected):
            self.assertIn("not comparable, since M differs", said)
        with h5py.File(self.folder / "out/sweep.h5") as f:
            self.assertEqual(f["signal_rank"][()].tolist(), ranks)
            self.assertEqual(f["rarefied_total"][()].tolist(), totals)
        same = self.succeed(*self.run_line[:-1], "same", "--encodings", "linear", "--rarefy", str(min(totals)))
        self.assertIn("signal rank: ", same)
        self.assertNotIn("not comparable, since", same)
        self.succeed("run", *self.corpus, *self.LENGTHS, "--encodings", "linear", "--out", "none")
        with h5py.File(self.folder / "none/sweep.h5") as f:
            self.assertEqual(f["signal_rank"][()].tolist(), [-1, -1])

    def test_inspect_says_what_the_run_said(self):
        text = self.succeed(*self.run_line, "--encodings", "mds,smacof,linear", "--smacof-weights", "tokens")
        report = text[text.index("length 24:"):text.index("collect ")]
        said = [line.strip() for line in report.splitlines() if len(line) > 90 and "eigenvalues" not in line]
        self.assertGreater(len(said), 9)
        inspected = flat(self.succeed("inspect", "out/stress-24.h5"))
        for sentence in said:
            self.assertIn(flat(sentence), inspected)
        # smacof's weights, and what it reached, stand in file and summary.
        self.assertIn("smacof-weights tokens", inspected)
        with h5py.File(self.folder / "out/stress-24.h5") as f:
            weighted, mds = f["weighted/smacof"][()], f["weighted/mds"][()]
            self.assertEqual(f["weighted"].attrs["weights"], "tokens")
        self.assertTrue((weighted < mds).all())
        for k, d in enumerate((1, 2, 4, 8)):
            self.assertIn(f"smacof d={d}: weighted raw stress {weighted[k]:.6g} from {mds[k]:.6g}", text)
            self.assertIn(f"{weighted[k]:.4g} at d = {d} (mds {mds[k]:.4g})", inspected)
        # A dimension more keeps the others.
        self.succeed("run", *self.corpus, "--lengths", "24", "--dims", "3", "--noise", "all", "--replicates", "19", "--encodings", "smacof", "--smacof-weights", "tokens",
                     "--out", "out")
        with h5py.File(self.folder / "out/stress-24.h5") as f:
            np.testing.assert_array_equal(f["weighted/smacof"][()][[0, 1, 3, 4]], weighted)
            self.assertFalse(np.isnan(f["weighted/smacof"][2]))
        # Without the geometry beside it nothing is said of noise.
        (self.folder / "out/geometry-24.h5").rename(self.folder / "away.h5")
        inspected = self.succeed("inspect", "out/stress-24.h5")
        self.assertIn("its geometry-24.h5 is not beside it", inspected)
        self.assertNotIn("above sampling noise", inspected)
        self.assertIn("constant baseline", inspected)


class Words(Meaning):
    def test_which_bootstrap_interval_to_quote(self):
        text = self.succeed("run", *RUN, "--dims", "1,2", "--encodings", "mds,linear", "--bootstrap", "39")
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            b = f["bootstrap"].attrs
            basic = f"basic {b['trace_basic_low']:.5g} to {b['trace_basic_high']:.5g} (percentile {b['trace_low']:.5g} to {b['trace_high']:.5g})"
        for said in (text, self.succeed("inspect", "out/geometry-16.h5")):
            self.assertIn(basic, said)
            self.assertIn("quote the basic intervals", said)
        self.assertIn("basic 95 % intervals", self.succeed("inspect", "out/stress-16.h5"))

    def test_krylov_says_what_it_does_not_find(self):
        text = self.succeed("run", *RUN, "--solver", "krylov", "--dims", "1,2", "--encodings", "mds")
        report = text[text.index("length 16:"):]
        self.assertNotIn("nan", report)
        for said in (report, self.succeed("inspect", "out/geometry-16.h5")):
            self.assertIn("krylov found 2 leading eigenvalues of 16: the rank, entropy rank", said)
            self.assertIn("nor can so few show whether components lie in a flat bulk", said)
            self.assertIn("not known", said)
        self.assertNotIn("krylov found", self.succeed("run", *RUN[:-1], "whole", "--dims", "1,2", "--encodings", "mds"))

    def test_fewer_components_than_dimensions(self):
        run = ("run", *RUN, "--components", "4", "--dims", "1,8", "--encodings", "mds,smacof,sinusoidal")
        for said in (self.succeed(*run), self.succeed("inspect", "out/stress-16.h5")):
            self.assertIn("mds, smacof at d = 8 (--components keeps 4 columns)", said)
            self.assertIn("sinusoidal at d = 1 (odd d)", said)
        with self.stress() as f:
            self.assertTrue(np.isnan(table(f, "raw")["mds"][1]))

    def test_how_to_rerun_names_every_option(self):
        run = ("run", *RUN, "--dims", "1", "--encodings", "smacof")
        self.succeed(*run)
        self.assertIn("smacof-weights none there", self.error_line(*run, "--smacof-weights", "tokens"))
        self.assertIn("smacof-weights none now", self.error_line(*run, "--smacof-iterations", "7"))

    def test_options_without_effect(self):
        text = self.succeed("run", *RUN, "--dims", "1", "--encodings", "linear", "--smacof-weights", "tokens", "--alpha", "0.1", "--noise", "none", ranks=2)
        self.assertEqual(text.count("warning: --smacof-weights tokens has no effect: smacof is not among --encodings"), 1)
        self.assertEqual(text.count("warning: --alpha 0.1 has no effect"), 1)
        # Commands that do not take an option say nothing of it: one configuration serves them all.
        self.assertNotIn("has no effect", self.succeed("count", *RUN, "--smacof-weights", "tokens"))
        self.assertNotIn("has no effect", self.succeed("run", *RUN, "--dims", "1", "--encodings", "linear"))
        self.assertIn("--smacof-tolerance", self.error_line("run", *RUN, "--smacof-tolerance", "2", code=2))

    def test_one_position(self):
        text = self.succeed("run", *RUN[:2], "--lengths", "1", "--out", "one", "--noise", "all", "--replicates", "19")
        self.assertIn("warning: --lengths 1", text)
        self.assertIn("one position alone has no distances: there is nothing to embed or to score", text)
        self.assertIn("1 position kept", text)

    def test_one_of_a_kind_is_no_plural(self):
        text = self.succeed("run", *RUN, "--dims", "1", "--encodings", "mds,smacof", "--noise", "all", "--replicates", "19")
        text += self.succeed("run", *RUN, "--dims", "1", "--encodings", "mds,smacof", "--noise", "all", "--replicates", "19")
        text += "".join(self.succeed("inspect", f"out/{name}") for name in ("counts.h5", "geometry-16.h5", "stress-16.h5", "sweep.h5"))
        text += self.succeed("plan", "--lengths", "16", "--vocab-size", "50")
        self.assertNotRegex(text, r"(?<![\d.])1 (ranks|encodings|dimensions|positions|lengths|vectors|tokens|documents|replicates|threads|nodes|components|columns|passes)\b")
        self.assertRegex(text, r"\b1 (rank|dimension|length)\b")


class Report(Case):
    def test_a_default_run_reads_from_the_most_important_to_the_least(self):
        text = self.succeed("run", "--corpus", DATA / "kjv.txt.xz", "--lengths", "32", "--out", "out", "--noise", "all")
        report = text[text.index("length 32:"):text.index("collect ")]
        order = ["components stand above sampling noise", "above what the tokens show without their order", "it fits sampling noise", "against the de-noised distances",
                 "the signal encoding", "few tokens alone", "constant baseline", "against shuffled text", "of the triples"]
        places = [report.index(part) for part in order]
        self.assertEqual(places, sorted(places))
        sentences = [line for line in report.splitlines() if len(line) > 80 and "eigenvalues 1" not in line]
        self.assertLessEqual(len(sentences), 16)
