"""The whole pipeline against tests/cli/reference.py, and the same numbers from every rank count."""
import contextlib
import random

import h5py
import numpy as np

import reference
from harness import DATA, SOURCE, Case

MEASURES = ("raw", "scaled", "scale", "violation_rate", "min_separation", "pearson", "spearman")


def made_up_text(seed=7, documents=400, types=60, longest=24):
    """Documents of Zipf words whose mixture drifts with the position, some empty."""
    draw = random.Random(seed)
    lines = []
    for _ in range(documents):
        words = []
        for i in range(draw.randrange(longest + 1)):
            shift = i if draw.random() < 0.5 else 0
            words.append(f"w{(int(draw.paretovariate(1.1)) + shift) % types}")
        lines.append(" ".join(words))
    return lines


class AgainstNumPy(Case):
    def check(self, unreached, n, extra=()):
        lines = made_up_text()
        self.write("corpus.txt", "\n".join(lines) + "\n")
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", n, "--dims", "1,2,3,4,8,16,32,64,128", "--unreached", unreached, "--out", "out",
                     "--write-hellinger", "--write-encodings", *extra, ranks=2)
        documents, order = reference.words_to_ids(lines)
        table = reference.position_counts(documents, n, len(order))
        positions, s, h = reference.hellinger(table, unreached)
        values, _ = reference.spectrum(s)
        with h5py.File(self.folder / "out/counts.h5") as f:
            self.assertEqual([word.decode() for word in f["vocabulary"][()]], order)
            indptr, token, count = (f["counts"][key][()] for key in ("indptr", "token", "count"))
            dense = np.zeros_like(table)
            for i in range(n):
                dense[i, token[indptr[i]:indptr[i + 1]]] = count[indptr[i]:indptr[i + 1]]
            np.testing.assert_array_equal(dense, table)
            self.assertEqual(f.attrs["document_count"], len(lines))
            self.assertEqual(f.attrs["token_count"], sum(map(len, documents)))
        with h5py.File(self.folder / f"out/geometry-{n}.h5") as f:
            np.testing.assert_array_equal(f["position"][()], positions)
            np.testing.assert_allclose(f["eigenvalues"][()], values, atol=len(values) * 2.3e-16 * values[0])
            np.testing.assert_allclose(f["hellinger"][()], h, atol=1e-12)
            self.assertEqual(f["hellinger"][0, 0], 0)
            self.assertAlmostEqual(f.attrs["trace"], values.sum(), places=12)
            self.assertEqual(f.attrs["rank"], (values > 1e-10 * values[0]).sum())
            self.assertAlmostEqual(f.attrs["sum_hellinger_squared"], len(values) * values.sum(), places=8)
            self.assertAlmostEqual(f.attrs["corpus_violation_rate"], reference.violation_rate(positions, h), places=14)
            encoding = f["encoding"][()]
            self.assertEqual(encoding.shape, (len(positions), 128))
            np.testing.assert_allclose(reference.distances(encoding), h, atol=1e-10)
        with h5py.File(self.folder / f"out/stress-{n}.h5") as f:
            names = [name.decode() for name in f["encoding_name"][()]]
            self.assertEqual(names, ["mds", "sinusoidal", "rope", "alibi", "linear", "random"])
            dims = list(f["dimension"][()])
            for d in dims:
                made = {
                    "mds": reference.mds(s, d),
                    "sinusoidal": reference.sinusoidal(positions, d) if d % 2 == 0 else None,
                    "rope": reference.rope(positions, d) if d % 2 == 0 else None,
                    "alibi": reference.alibi(positions, n),
                    "linear": positions[:, None] / n,
                    "random": f[f"encodings/random/{d}"][()],
                }
                for name in names:
                    cell = names.index(name), dims.index(d)
                    if made[name] is None:
                        self.assertTrue(all(np.isnan(f[measure][cell]) for measure in MEASURES), (name, d))
                        continue
                    wanted = reference.measures(positions, reference.distances(made[name]), h)
                    for measure in MEASURES:
                        self.assertAlmostEqual(f[measure][cell], wanted[measure], delta=1e-9 * max(1, abs(wanted[measure])), msg=f"{measure} {name} d={d}")
                    stored = f[f"encodings/{name}/{d}"][()]
                    np.testing.assert_allclose(reference.distances(stored), reference.distances(made[name]), atol=1e-9, err_msg=f"{name} d={d}")
            draws = f["encodings/random/128"][()]
            self.assertLess(abs(draws.mean()), 0.1)
            self.assertLess(abs(draws.std() - 1), 0.1)

    def test_drop(self):
        self.check("drop", 30)

    def test_uniform(self):
        self.check("uniform", 30)

    def test_zero(self):
        self.check("zero", 30)

    def test_all_positions_reached(self):
        self.check("drop", 10)

    def test_pdsyevd_where_the_vocabulary_is_larger(self):
        self.check("drop", 20, ("--solver", "pdsyevd", "--block-size", "4"))


class EveryRankCount(Case):
    def test_the_same_files(self):
        self.write("corpus.txt", "\n".join(made_up_text(seed=3, types=300)) + "\n")
        for solver in ("pdsyevd", "dual"):
            outs = {}
            for ranks in (1, 2, 3, 4, 6):
                out = f"{solver}-{ranks}"
                self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8,24", "--dims", "1,2,4,8,16,32", "--out", out, "--solver", solver, ranks=ranks)
                outs[ranks] = self.folder / out
            for ranks, out in outs.items():
                self.compare(outs[1], out, ranks)

    def compare(self, one, other, ranks):
        with h5py.File(one / "counts.h5") as a, h5py.File(other / "counts.h5") as b:
            for key in ("position_total", "counts/indptr", "counts/token", "counts/count", "vocabulary"):
                np.testing.assert_array_equal(a[key][()], b[key][()])
            self.assertEqual(a.attrs["fingerprint"], b.attrs["fingerprint"])
            self.assertEqual(b.attrs["ranks"], ranks)
        for n in (8, 24):
            with h5py.File(one / f"geometry-{n}.h5") as a, h5py.File(other / f"geometry-{n}.h5") as b:
                x = a["eigenvalues"][()]
                np.testing.assert_allclose(b["eigenvalues"][()], x, rtol=0, atol=len(x) * 2.3e-16 * x[0])
                self.assertEqual(a.attrs["rank"], b.attrs["rank"])
            with h5py.File(one / f"stress-{n}.h5") as a, h5py.File(other / f"stress-{n}.h5") as b:
                unique = a["not_unique"][()] == 0
                for measure in MEASURES:
                    x, y = a[measure][()][:, unique], b[measure][()][:, unique]
                    np.testing.assert_array_equal(np.isnan(x), np.isnan(y))
                    worst = np.nanmax(np.abs(x - y) / np.maximum(1, np.abs(x)))
                    self.assertLessEqual(worst, 1e-12, f"{measure} at {ranks} ranks")


class TheTwoLines(Case):
    """The README's own lines for a trainer, run as they stand there."""

    def test_rows_are_positions_and_columns_components(self):
        readme = (SOURCE / "README.md").read_text().splitlines()
        lines = [line.strip() for line in readme if line.strip().startswith(("f = h5py.File(", 'p = f["encoding"]'))]
        self.assertEqual(len(lines), 2, lines)
        self.succeed("run", "--config", SOURCE / "configs/quickstart-kjv.ini", "--corpus", DATA / "kjv.txt.xz", "--out", "posgeom-out/kjv", ranks=2)
        names = {"h5py": h5py}
        with contextlib.chdir(self.folder):
            exec("\n".join(lines), names)  # noqa: S102: the README's text is what is tested
        p, d = names["p"], names["d"]
        self.assertEqual(p.shape, (names["f"]["position"].shape[0], d))
        np.testing.assert_allclose((p**2).sum(axis=0), names["f"]["eigenvalues"][:d], rtol=1e-10)
        names["f"].close()


class MoreRanksThanRows(Case):
    def test_one_two_and_three_positions(self):
        self.write("corpus.txt", "a b b\na c b\nb c b\n")
        for ranks, n in ((8, 1), (8, 2), (7, 3)):
            for solver in ("pdsyevd", "dual"):
                out = f"{solver}-{n}"
                self.succeed("run", "--corpus", "corpus.txt", "--lengths", n, "--dims", "1,2,3,4", "--solver", solver, "--write-hellinger", "--out", out,
                             ranks=ranks, timeout=60)
                with h5py.File(self.folder / out / f"geometry-{n}.h5") as f:
                    self.assertEqual(f.attrs["rank"], {1: 0, 2: 1, 3: 2}[n])
                    self.assertEqual(f["hellinger"].shape, (n, n))
                    self.assertFalse(np.isnan(f["encoding"][()]).any())
                    if n == 1:
                        self.assertEqual(list(f["eigenvalues"][()]), [0])
                with h5py.File(self.folder / out / f"stress-{n}.h5") as f:
                    self.assertLess(f["raw"][0, -1], 1e-25)


class StageByStage(Case):
    def test_the_commands_give_what_run_gives(self):
        self.write("corpus.txt", "\n".join(made_up_text()) + "\n")
        options = ("--lengths", "8,16", "--dims", "1,2,4,8")
        self.succeed("run", "--corpus", "corpus.txt", *options, "--out", "whole", ranks=2)
        self.succeed("count", "--corpus", "corpus.txt", "--lengths", "16", "--out", "parts", ranks=2)
        self.succeed("embed", *options, "--out", "parts", ranks=3)
        self.succeed("stress", *options, "--out", "parts")
        self.succeed("collect", *options, "--out", "parts", ranks=2)
        with h5py.File(self.folder / "whole/sweep.h5") as a, h5py.File(self.folder / "parts/sweep.h5") as b:
            np.testing.assert_array_equal(a["length"][()], [8, 16])
            np.testing.assert_array_equal(a["dimension"][()], [1, 2, 4, 8])
            self.assertEqual(a["raw"].shape, (2, 6, 4))
            for measure in MEASURES:
                np.testing.assert_allclose(a[measure][()], b[measure][()], rtol=1e-12, atol=1e-12)
        rows = (self.folder / "parts/sweep.csv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 2 * 6 * 4)
        self.assertTrue(rows[0].startswith("length,dimension,encoding,raw"))

    def test_inspect_reads_every_file(self):
        self.write("corpus.txt", "\n".join(made_up_text()) + "\n")
        self.succeed("run", "--corpus", "corpus.txt", "--lengths", "8", "--dims", "1,2", "--out", "out")
        text = self.succeed("inspect", *sorted((self.folder / "out").glob("*.h5")))
        for word in ("counts", "geometry", "stress", "sweep", "rank"):
            self.assertIn(word, text)
