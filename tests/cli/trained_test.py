"""Trained models: series of checkpoints, and encodings seen through the layers of a model; against NumPy."""
import h5py
import numpy as np

import reference
from encodings_test import safetensors
from meaning_test import Meaning, N, RUN, table


class Trained(Meaning):
    def run_it(self, encodings, *options, dims="2,6", **keywords):
        return self.succeed("run", *RUN, "--dims", dims, "--encodings", encodings, "--write-hellinger", *options, **keywords)

    def h(self):
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            return f["position"][()], f["hellinger"][()]

    def refused(self, encodings, *words, code=1):
        line = self.error_line("run", *RUN, "--dims", "2", "--encodings", encodings, code=code)
        for word in words:
            self.assertIn(word, line)
        return line


class Series(Trained):
    STEPS = (0, 5, 1000, 25000)

    def setUp(self):
        super().setUp()
        self.series = np.random.default_rng(11).normal(size=(4, 20, 6)).astype("f4")
        self.series[3, 7] = self.series[3, 3]  # the last step has lost the separation of two positions
        with h5py.File(self.folder / "run.h5", "w") as f:
            f["model/wpe"] = self.series
            f["model/step"] = np.array(self.STEPS, dtype="i4")
            f["bare"] = self.series

    def test_inspect_says_what_a_trainers_file_is_for(self):
        with h5py.File(self.folder / "trained.h5", "w") as f:
            f.attrs["format"] = "posgeom-training"
        self.assertIn("--encodings NAME=file:trained.h5:/position_table", self.error_line("inspect", "trained.h5", code=1))

    def check(self, name, steps, series):
        positions, h = self.h()
        with self.stress() as f:
            group = f[f"series/{name}"]
            np.testing.assert_array_equal(group["step"][()], steps)
            for k, step in enumerate(steps):
                for column, d in enumerate((2, 6)):
                    expected = reference.measures(positions, reference.distances(series[k, :N, :d].astype("f8")), h)
                    for measure in ("raw", "scaled", "violation_rate", "min_separation"):
                        np.testing.assert_allclose(group[measure][k, column], expected[measure], rtol=1e-9, atol=1e-9, err_msg=f"{step} {d} {measure}")
                row = table(f, "raw")[f"{name}.step{step:06}"]
                np.testing.assert_array_equal(group["raw"][k], row)
            return group["min_separation"][()]

    def test_a_leading_axis_of_steps(self):
        self.run_it("mds,wpe=file:run.h5:model/wpe,bare=file:run.h5:bare", ranks=3)
        separation = self.check("wpe", self.STEPS, self.series)
        self.assertEqual(separation[3, 1], 0)
        self.assertGreater(separation[:3].min(), 0)
        self.check("bare", range(4), self.series)
        text = self.succeed("inspect", "out/stress-16.h5")
        self.assertIn("4 steps, 0 to 25000", text)
        self.assertEqual(self.run_it("mds,wpe=file:run.h5:model/wpe").count("reused"), 3)

    def test_some_rows_of_each_step(self):
        self.run_it("wpe=file:run.h5:model/wpe[2:18]")
        self.check("wpe", self.STEPS, self.series[:, 2:])
        self.refused("late=file:run.h5:model/wpe[10:]", "late.step000000", "has 10 rows from row 10 on")

    def test_one_file_a_step(self):
        for step, matrix in zip(self.STEPS, self.series):
            np.save(self.folder / f"v2-wpe-{step}.npy", matrix)
            self.write(f"st/model-{step:05}-of-2.safetensors", safetensors({"wte": np.ones((3, 3)), "wpe": matrix}))
        self.run_it("wpe=files:v2-wpe-*.npy,safe=files:st/*.safetensors:wpe", ranks=2)
        self.check("wpe", self.STEPS, self.series)
        self.check("safe", self.STEPS, self.series)
        # A step more is that step only.
        np.save(self.folder / "v2-wpe-30000.npy", self.series[0])
        with self.stress() as f:
            before = table(f, "raw")["wpe.step000005"]
        self.run_it("wpe=files:v2-wpe-*.npy")
        self.check("wpe", (*self.STEPS, 30000), np.concatenate([self.series, self.series[:1]]))
        with self.stress() as f:
            np.testing.assert_array_equal(table(f, "raw")["wpe.step000005"], before)

    def test_a_single_file_of_a_pattern(self):
        np.save(self.folder / "step12.npy", self.series[1])
        self.run_it("wpe=files:st*12.npy")
        self.check("wpe", (12,), self.series[1:2])

    def test_refusals(self):
        self.refused("wpe=files:none-*.npy", "wpe", "none-*.npy", "no file matches")
        np.save(self.folder / "a.npy", self.series[0])
        self.refused("wpe=files:a*.npy", "a.npy", "no number")
        np.save(self.folder / "s1.npy", self.series[0])
        np.save(self.folder / "s01.npy", self.series[0])
        self.refused("wpe=files:s*1.npy", "s1.npy", "s01.npy", "both of step 1")
        self.refused("wpe=file:run.h5:model/wpe,wpe.step000005=file:s1.npy", "wpe.step000005", "each name once", code=2)
        with h5py.File(self.folder / "bad.h5", "w") as f:
            f["a/encoding"], f["a/step"] = self.series, [0, 1, 2]
            f["b/encoding"], f["b/step"] = self.series, [0, 2, 1, 3]
            broken = self.series.copy()
            broken[2, 4, 1] = np.nan
            f["c/encoding"], f["c/step"] = broken, [3, 5, 8, 13]
            f["d"] = self.series[None]
        self.refused("x=file:bad.h5:a/encoding", "bad.h5", "a/step is (3)", "expected (4)")
        self.refused("x=file:bad.h5:b/encoding", "b/step holds 1 at index 2", "ascending")
        self.refused("x=file:bad.h5:c/encoding", "bad.h5, step 8", "row 4, column 1", "nan")
        self.refused("x=file:bad.h5:d", "(1, 4, 20, 6)", "leading axis of steps")
        self.refused("files:s1.npy", "NAME=files:PATTERN", code=2)


class Projected(Trained):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(2)
        self.q, self.k = (rng.normal(size=(12, 8)).astype("f4") for _ in range(2))
        np.save(self.folder / "q.npy", self.q)
        np.save(self.folder / "k.npy", self.k)
        self.table = rng.normal(size=(20, 8)).astype("f4")
        np.save(self.folder / "wpe.npy", self.table)

    def check(self, encodings, name, p, heads, key=True, dims=(2, 6)):
        positions, h = self.h()
        q, k = self.q.astype("f8"), self.k.astype("f8")
        expected = {f"{name}.q": p @ q.T}
        if key:
            expected[f"{name}.qk"] = p @ q.T @ k
        for head in range(heads if heads > 1 else 0):
            rows = slice(head * 12 // heads, (head + 1) * 12 // heads)
            expected[f"{name}.head{head}.q"] = p @ q[rows].T
            if key:
                expected[f"{name}.head{head}.qk"] = p @ q[rows].T @ k[rows]
        with self.stress() as f:
            names = [text for text in table(f, "raw") if text.startswith(name + ".")]
            self.assertEqual(names, [text for head in ["", *(f"head{j}." for j in range(heads if heads > 1 else 0))] for text in
                                     ([f"{name}.{head}q", f"{name}.{head}qk"] if key else [f"{name}.{head}q"])])
            for text, x in expected.items():
                measures = reference.measures(positions, reference.distances(x), h)
                for measure in ("raw", "scaled", "violation_rate", "min_separation"):
                    for column in range(len(dims)):  # the same at every d
                        np.testing.assert_allclose(table(f, measure)[text][column], measures[measure], rtol=1e-9, atol=1e-9, err_msg=f"{text} {measure}")

    def test_encodings_of_posgeom_and_of_files(self):
        layers = ["mds", "layer=projected:mds:wq=q.npy:wk=k.npy:heads=2", "sin=projected:sinusoidal:wq=q.npy", "wpe=file:wpe.npy",
                  "seen=projected:wpe:wq=q.npy:wk=k.npy:heads=3"]
        self.run_it(",".join(layers), "--components", "16", ranks=3)
        positions, _ = self.h()
        with h5py.File(self.folder / "out/geometry-16.h5") as f:
            mds = f["encoding"][:, :8]
        self.check(layers, "layer", mds, 2)
        self.check(layers, "sin", reference.sinusoidal(positions, 8), 1, key=False)
        self.check(layers, "seen", self.table[positions].astype("f8"), 3)
        self.assertEqual(self.run_it(",".join(layers), "--components", "16").count("reused"), 3)
        np.save(self.folder / "q.npy", self.q + 1)
        self.assertIn("encoding.layer", self.error_line("run", *RUN, "--dims", "2,6", "--encodings", ",".join(layers), "--components", "16"))

    def test_weights_from_safetensors_beside_the_null(self):
        self.write("m.safetensors", safetensors({"l0.query.weight": self.q, "l0.key.weight": self.k}))
        self.run_it("layer=projected:sinusoidal:wq=m.safetensors:l0.query.weight:wk=m.safetensors:l0.key.weight:heads=2", "--noise", "shuffle", "--write-encodings")
        positions, _ = self.h()
        self.check(None, "layer", reference.sinusoidal(positions, 8), 2)
        with self.stress() as f:
            self.assertFalse(np.isnan(f["shuffled/raw"][()]).any())
            np.testing.assert_allclose(f["encodings/layer.q/6"][()], reference.sinusoidal(positions, 8) @ self.q.T.astype("f8"), atol=1e-12)

    def test_refusals(self):
        self.refused("l=projected:mds:wq=q.npy", "q.npy", "takes 8 columns", "--components 8")
        self.refused("l=projected:sinusoidal:wq=q.npy:heads=5", "l:", "12 rows", "heads=5")
        np.save(self.folder / "short.npy", self.k[:6])
        self.refused("l=projected:sinusoidal:wq=q.npy:wk=short.npy", "q.npy is 12 x 8", "short.npy is 6 x 8")
        self.refused("l=projected:sinusoidal:wq=nothing.npy", "option --encodings, l", "nothing.npy")
        self.refused("narrow=file:short.npy[0:6],l=projected:linear:wq=q.npy", "linear", "mds, sinusoidal", code=2)
        self.refused("l=projected:alibi:wq=q.npy", "alibi", code=2)
        self.refused("l=projected:other:wq=q.npy", "other", code=2)
        for text in ("l=projected:mds", "l=projected::wq=q.npy", "l=projected:mds:wq=", "l=projected:mds:wq=q.npy:heads=0", "projected:mds:wq=q.npy"):
            self.refused(text, "encodings", code=2)
