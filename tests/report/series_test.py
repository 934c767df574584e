"""What the report draws: the files' own numbers, and distances that it computes itself against those that posgeom scored."""
import report_case

report_case.need("matplotlib")

import h5py
import numpy as np
from report_case import DIMS, ReportCase, verses

from report_pages import distances, figures, series
from report_pages.files import read_run

KERNELS = "sinusoidal,rope,alibi,linear,t5,kerple-log,kerple-power,fire"


def made_up(unreached_from=10):
    """Documents whose last positions few or none reach, and whose first two words are always the same."""
    return "\n".join(" ".join(["x", "x"] + [f"w{(i * i + k * i) % 7}" for i in range(k % (unreached_from - 1))]) for k in range(40)) + "\n"


def raw_and_scaled(d, h):
    """Raw and scaled stress over the pairs i < j of two square matrices of distances."""
    upper = np.triu_indices(len(h), 1)
    d, h = d[upper], h[upper]
    return ((d - h) ** 2).sum() / (h**2).sum(), 1 - (d * h).sum() ** 2 / ((d**2).sum() * (h**2).sum())


class FilesOwnNumbers(ReportCase):
    @classmethod
    def make(cls, case):
        case.write("kjv.txt", verses(1500))
        np.save(case.folder / "table.npy", np.random.default_rng(1).normal(size=(16, 4)))
        case.succeed("run", "--corpus", "kjv.txt", "--lengths", "8,16", "--dims", DIMS, "--noise", "all", "--replicates", "19", "--write-hellinger",
                     "--encodings", f"mds,smacof,random,{KERNELS},file:table.npy", "--write-encodings", "--out", "out", ranks=2)

    def setUp(self):
        super().setUp()
        self.run_ = read_run(self.shared / "out")

    def test_spectrum(self):
        s = series.spectrum(self.run_.geometry[16])
        with h5py.File(self.shared / "out/geometry-16.h5") as f:
            expected = {"corpus": f["eigenvalues"][()], "shuffled": f["noise/shuffled_eigenvalues"][()], "halves": f["noise/split_eigenvalues"][()]}
            threshold, signal_rank = f["noise"].attrs["threshold"], f["noise"].attrs["signal_rank"]
        self.assertEqual(set(s.curves), set(expected))
        self.assertEqual((s.threshold, s.signal_rank), (threshold, signal_rank))
        for name, values in expected.items():
            drawn, y = s.curves[name]
            np.testing.assert_array_equal(y, values[drawn - 1])
            left_out = np.setdiff1d(np.arange(len(values)), drawn - 1)
            self.assertTrue((values[left_out] < 1e-9 * expected["corpus"][0]).all(), name)
            self.assertEqual(any(note.startswith(name) for note in s.notes), len(left_out) > 0)
        self.assertEqual(len(s.curves["corpus"][0]), 15)  # the centred Gram matrix has one eigenvalue 0
        axis = figures.spectrum(s, 16).axes[0]
        np.testing.assert_array_equal(axis.lines[0].get_ydata(), s.curves["corpus"][1])
        self.assertIn("noise threshold", axis.get_legend_handles_labels()[1])

    def test_stress_against_dimension(self):
        for measure in ("raw", "scaled"):
            s = series.against_dimension(self.run_.stress[16], measure)
            with h5py.File(self.shared / "out/stress-16.h5") as f:
                names = [name.decode() for name in f["encoding_name"][()]]
                table, dims, baseline = f[measure][()], f["dimension"][()], f.attrs["constant_baseline"]
            self.assertEqual(s.baseline, baseline if measure == "scaled" else None)
            self.assertEqual(list(s.curves), names)
            for name, row in zip(names, table):
                x, y = s.curves[name]
                np.testing.assert_array_equal(x, dims[np.isfinite(row)])
                np.testing.assert_array_equal(y, row[np.isfinite(row)])
                self.assertEqual(s.undefined.get(name, []), list(dims[np.isnan(row)]))
            self.assertEqual(s.undefined["sinusoidal"], [1, 3])
            self.assertEqual(s.undefined["table"], [8, 16])
            axis = figures.against_dimension(s, names, 16, measure).axes[0]
            lines = {line.get_label(): line for line in axis.lines}
            np.testing.assert_array_equal(lines["sinusoidal"].get_ydata(), s.curves["sinusoidal"][1])
            self.assertEqual("constant baseline" in lines, measure == "scaled")

    def test_small_stress_beside_large_is_drawn_where_it_is(self):
        stress = self.run_.stress[16]
        table = np.array([[100.0, 0.0015, np.nan, 1e-13], [1, 1, 1, 1]])
        stress.names, stress.dimension, stress.tables, stress.shuffled = ["random", "smacof"], np.array([1, 2, 4, 8]), {"raw": table}, {}
        axis = figures.against_dimension(series.against_dimension(stress, "raw"), stress.names, 16, "raw").axes[0]
        low, high = axis.get_ylim()
        np.testing.assert_array_equal(axis.lines[0].get_ydata(), [100, 0.0015, low])
        self.assertTrue(1e-6 * 100 <= low < 0.0015 < 100 < high)
        stress.shuffled = {"raw": 1e5 * table}  # shuffled text, far above, hides nothing of the corpus
        axis = figures.against_dimension(series.against_dimension(stress, "raw"), stress.names, 16, "raw").axes[0]
        self.assertEqual(axis.lines[0].get_ydata()[1], 0.0015)
        self.assertLess(axis.get_ylim()[0], 0.0015)
        self.assertGreater(axis.get_ylim()[1], 1e7)

    def test_stress_on_shuffled_text(self):
        out = self.copy()
        with h5py.File(out / "stress-16.h5", "r+") as f:
            if "shuffled" in f:
                del f["shuffled"]
            for name in ("raw", "scaled"):
                f[f"shuffled/{name}"] = 0.5 * f[name][()]
        stress = read_run(out).stress[16]
        for name in ("raw", "scaled"):
            s = series.against_dimension(stress, name)
            self.assertEqual(set(s.shuffled), set(s.curves))
            np.testing.assert_array_equal(s.shuffled["rope"][1], 0.5 * s.curves["rope"][1])
            axis = figures.against_dimension(s, stress.names, 16, name).axes[0]
            self.assertTrue(any(np.array_equal(line.get_ydata(), s.shuffled["alibi"][1]) for line in axis.lines))
            self.assertIn("on shuffled text", axis.get_legend_handles_labels()[1])

    def test_against_length_and_sweep(self):
        d = series.common_dimension(self.run_.collected, [7, 15])
        self.assertEqual(d, 4)  # where sinusoids, rotary pairs and the table exist, up to the median rank
        self.assertEqual(series.common_dimension(self.run_.collected, [1]), 2)
        with h5py.File(self.shared / "out/sweep.h5") as f:
            raw, scaled, baseline = f["raw"][()], f["scaled"][()], f["constant_baseline"][()]
            names, dims = [name.decode() for name in f["encoding_name"][()]], list(f["dimension"][()])
        for measure, table in (("raw", raw), ("scaled", scaled)):
            s = series.against_length(self.run_.collected, measure, d)
            self.assertEqual(list(s.curves), names)
            for name, rows in zip(names, np.moveaxis(table, 1, 0)):
                np.testing.assert_array_equal(s.curves[name][0], [8, 16])
                np.testing.assert_array_equal(s.curves[name][1], rows[:, dims.index(d)])
        np.testing.assert_array_equal(s.baseline[1], baseline)
        self.assertNotIn("sinusoidal", series.against_length(self.run_.collected, "raw", 3).curves)
        s = series.relative_to_baseline(self.run_.collected)
        self.assertEqual((s.names, s.lengths, s.dimensions), (names, [8, 16], dims))
        np.testing.assert_allclose(s.cells, np.moveaxis(scaled / baseline[:, None, None], 1, 0), rtol=1e-15)
        self.assertEqual(len(figures.sweep(s).axes) - 1, 2 * -(-len(names) // 2))

    def test_the_sweep_serves_where_a_stress_file_is_missing(self):
        whole, out = self.run_.collected[8], self.copy()
        (out / "stress-8.h5").unlink()
        row = read_run(out).collected[8]
        self.assertEqual(row.names, whole.names)
        for name, table in whole.tables.items():
            np.testing.assert_array_equal(row.tables[name], table)
        self.assertEqual(row.constant_baseline, whole.constant_baseline)
        self.assertEqual(row.corpus_violation_rate, whole.corpus_violation_rate)

    def test_distances_of_every_encoding_give_the_stress_in_the_file(self):
        for n in (8, 16):
            h, stress, geometry = distances.hellinger(self.run_, n), self.run_.stress[n], self.run_.geometry[n]
            self.assertEqual(h.source, "stored")
            for e, name in enumerate(stress.names):
                for k, d in enumerate(stress.dimension):
                    if np.isnan(stress.tables["raw"][e, k]):
                        continue
                    rows, _ = series.rows_of_encoding(stress, geometry, name, int(d), h)
                    expected = (stress.tables["raw"][e, k], stress.tables["scaled"][e, k])
                    np.testing.assert_allclose(raw_and_scaled(rows, h.rows), expected, rtol=1e-6, atol=1e-7, err_msg=f"{name} d={d} n={n}")

    def test_definitions_are_those_of_the_written_encodings(self):
        stress = self.run_.stress[16]
        with h5py.File(stress.path) as f:
            for name in ("sinusoidal", "rope", "alibi", "linear"):
                for d, p in f[f"encodings/{name}"].items():
                    expected = np.sqrt(((p[()] - p[0]) ** 2).sum(1))
                    np.testing.assert_allclose(distances.by_lag(name, np.arange(16), int(d), 16, stress.options), expected, atol=1e-12, err_msg=f"{name} {d}")
        self.assertIsNone(distances.by_lag("table", np.arange(16), 4, 16, stress.options))
        self.assertTrue(np.isnan(distances.by_lag("sinusoidal", np.arange(16), 3, 16, stress.options)).all())

    def test_against_lag(self):
        s = series.against_lag(self.run_, 16)
        stress = self.run_.stress[16]
        with h5py.File(self.shared / "out/geometry-16.h5") as f:
            h, encoding, signal = f["hellinger"][()], f["encoding"][()], f["noise/signal_encoding"][()]
        def by_diagonal(matrix):
            return [np.diagonal(matrix, lag).mean() for lag in range(1, len(matrix))]
        np.testing.assert_array_equal(s.hellinger[0], np.arange(1, 16))
        np.testing.assert_allclose(s.hellinger[1], by_diagonal(h), rtol=1e-12)
        self.assertEqual(set(s.curves), set(stress.names))
        for name, rows in (("mds", lambda d: distances.between(encoding[:, :d], encoding[:, :d])),
                           ("linear", lambda d: np.abs(np.subtract.outer(np.arange(16), np.arange(16))) / 16)):
            e, (d, _, y) = stress.names.index(name), s.curves[name]
            k = list(stress.dimension).index(d)
            self.assertEqual(stress.tables["scaled"][e, k], stress.tables["scaled"][e].min())
            np.testing.assert_allclose(y, stress.tables["scale"][e, k] * np.array(by_diagonal(rows(d))), rtol=1e-6)
        self.assertEqual(s.signal[0], signal.shape[1])
        np.testing.assert_allclose(s.signal[2], by_diagonal(distances.between(signal, signal)), rtol=1e-6)
        drawn = figures.against_lag(s, stress.names, 16).axes[0].lines
        self.assertTrue(any(np.array_equal(line.get_ydata(), s.hellinger[1]) for line in drawn))

    def test_lag_means_in_bins_keep_the_mean_of_all_pairs(self):
        position = np.arange(600)
        rows = np.abs(position[:, None] - position).astype(float)
        x, y = distances.lag_means(position, position, rows, most=50)
        np.testing.assert_allclose(x, y)  # a distance that is the lag
        self.assertLess(len(x), 50)
        self.assertEqual(x[0], 1)
        x, y = distances.lag_means(np.array([0, 1, 5]), np.arange(3), np.array([[0, 2.0, 3], [2, 0, 7], [3, 7, 0]]))
        np.testing.assert_array_equal((x, y), ([1, 4, 5], [2, 7, 3]))

    def test_components_and_heat_map(self):
        geometry = self.run_.geometry[16]
        with h5py.File(geometry.path) as f:
            encoding = f["encoding"][()]
        axes = figures.components(geometry).axes
        self.assertEqual(len(axes), 4)
        for k, axis in enumerate(axes):
            self.assertTrue(any(np.array_equal(line.get_ydata(), encoding[:, k]) for line in axis.lines), k)
        h = distances.hellinger(self.run_, 16)
        np.testing.assert_array_equal(figures.heat_map(h, 16).axes[0].collections[0].get_array().reshape(16, 16), h.rows)


class Recomputed(ReportCase):
    """H from the counts, for every rule about positions and every kind of sequence, against what posgeom stores; and rope's scalings."""

    CASES = {"drop": (), "uniform": ("--unreached", "uniform"), "zero": ("--unreached", "zero"), "few": ("--unreached", "uniform", "--min-count", "8"),
             "range": ("--hellinger-range", "1"), "chunk": ("--sequences", "chunk"), "packed": ("--sequences", "packed"),
             "ntk": ("--rope-scaling", "ntk:4"), "pi": ("--rope-scaling", "linear:3", "--rope-head-dim", "4"),
             "yarn": ("--rope-scaling", "yarn:4", "--rope-original-length", "64", "--rope-base", "500", "--alibi-heads", "5")}

    @classmethod
    def make(cls, case):
        case.write("corpus.txt", made_up())
        for name, options in cls.CASES.items():
            case.succeed("run", "--corpus", "corpus.txt", "--lengths", "12", "--dims", "2,8,16", "--write-hellinger", "--encodings", f"mds,{KERNELS}",
                         "--out", name, *options)

    def without_stored(self, name):
        run = read_run(self.shared / name)
        run.geometry[12].has_hellinger = False
        return run

    def test_all_pairs(self):
        kept = set()
        for name in self.CASES:
            with h5py.File(self.shared / name / "geometry-12.h5") as f:
                expected, position = f["hellinger"][()], f["position"][()]
            h = distances.hellinger(self.without_stored(name), 12)
            np.testing.assert_array_equal(h.position, position)
            np.testing.assert_allclose(h.rows, expected, atol=1e-7, err_msg=name)
            self.assertEqual(h.source, "recomputed from the counts")
            kept.add(len(position))
        self.assertGreater(len(kept), 1)  # some dropped positions, some did not

    def test_anchors_against_all(self):
        self.addCleanup(setattr, distances, "ALL_POSITIONS", distances.ALL_POSITIONS)
        self.addCleanup(setattr, distances, "DENSE_CELLS", distances.DENSE_CELLS)
        self.addCleanup(setattr, distances, "anchors_of", distances.anchors_of)
        distances.ALL_POSITIONS = 4  # of a block, too
        distances.anchors_of = lambda m, columns=1: np.array([0, 3, m - 1])
        with h5py.File(self.shared / "uniform/geometry-12.h5") as f:
            expected = f["hellinger"][()]
        for run in (read_run(self.shared / "uniform"), self.without_stored("uniform")):
            h = distances.hellinger(run, 12)
            np.testing.assert_allclose(h.rows, expected[[0, 3, 11]], atol=1e-7)
            self.assertIn("3 evenly spaced of 12 positions", h.source)

    def test_how_many_anchors(self):
        for m, columns, count in ((512, 1, 512), (512, 1 << 20, 64), (513, 17, 256), (10000, 50000, 256), (100000, 1 << 24, 64)):
            anchors = distances.anchors_of(m, columns)
            self.assertEqual((len(anchors), anchors[0], anchors[-1]), (count, 0, m - 1))

    def test_definitions_with_options(self):
        for name in self.CASES:
            run = read_run(self.shared / name)
            h, stress = distances.hellinger(run, 12), run.stress[12]
            for e, encoding in enumerate(stress.names):
                for k, d in enumerate(stress.dimension):
                    if np.isfinite(stress.tables["raw"][e, k]):
                        rows, _ = series.rows_of_encoding(stress, run.geometry[12], encoding, int(d), h)
                        expected = (stress.tables["raw"][e, k], stress.tables["scaled"][e, k])
                        np.testing.assert_allclose(raw_and_scaled(rows, h.rows), expected, rtol=1e-6, atol=1e-7, err_msg=f"{name}: {encoding} d={d}")

    def test_dropped_positions_stay_empty_in_the_heat_map(self):
        run = read_run(self.shared / "drop")
        h = distances.hellinger(run, 12)
        keep = np.array([0, 1, 3, 4, 5])
        h.position, h.anchors, h.rows = h.position[keep], np.arange(5), h.rows[np.ix_(keep, keep)]
        drawn = np.ma.filled(figures.heat_map(h, 12).axes[0].collections[0].get_array(), np.nan).reshape(6, 6)
        self.assertTrue(np.isnan(drawn[2]).all() and np.isnan(drawn[:, 2]).all())
        np.testing.assert_array_equal(np.delete(np.delete(drawn, 2, 0), 2, 1), h.rows)


if __name__ == "__main__":
    report_case.main()
