"""Every file of ours in other programs: xarray with named coordinates, pandas as a tidy table in one line, h5dump and h5stat."""
import importlib.util
import shutil
import subprocess
import unittest

import h5py
import numpy as np
import report_case
from report_case import ReportCase, verses

ENGINES = [name for name, module in (("h5netcdf", "h5netcdf"), ("netcdf4", "netCDF4")) if importlib.util.find_spec(module)]
HAS_XARRAY = all(importlib.util.find_spec(module) for module in ("xarray", "pandas")) and ENGINES
TOOLS = [tool for tool in ("h5dump", "h5stat") if shutil.which(tool)]

FILES = {"out": ("counts", "geometry-8", "geometry-16", "stress-8", "stress-16", "sweep"), "toy": ("counts", "geometry-16", "stress-16", "sweep", "truth"),
         "chunk": ("counts", "geometry-8", "stress-8", "sweep")}


class Files(ReportCase):
    """Of text, and of a corpus without signal, whose /noise has a dimension of size 0; with all that can be written."""

    @classmethod
    def make(cls, case):
        case.write("kjv.txt", verses(600))
        case.write("chunk.txt", verses(60))
        everything = ("--noise", "all", "--replicates", "19", "--write-hellinger", "--write-encodings", "--dims", "1,2,4", "--encodings",
                      "mds,sinusoidal,smacof,linear")
        case.succeed("run", "--corpus", "kjv.txt", "--lengths", "8,16", *everything, "--out", "out", ranks=2)
        case.succeed("run", "--corpus", "chunk.txt", "--lengths", "8", "--sequences", "chunk", *everything, "--out", "chunk")
        case.succeed("synth", "--synth-kind", "stationary", "--synth-positions", "16", "--synth-vocab", "50", "--synth-documents", "500",
                     "--synth-lengths", "fixed:16", "--out", "toy")
        case.succeed("run", "--corpus", "toy/tokens.bin", "--format", "megatron", "--vocab-size", "50", "--lengths", "16", *everything, "--out", "toy")

    def paths(self):
        return [self.shared / folder / f"{name}.h5" for folder, names in FILES.items() for name in names]


@unittest.skipUnless(HAS_XARRAY, "no xarray and pandas with h5netcdf or netCDF4 (Debian: python3-xarray python3-h5netcdf)")
class InPython(Files):
    def test_the_sweep_has_named_coordinates(self):
        import xarray
        for engine in ENGINES:
            with xarray.open_dataset(self.shared / "out/sweep.h5", engine=engine) as sweep, h5py.File(self.shared / "out/sweep.h5") as f:
                self.assertEqual(dict(sweep.sizes), {"length": 2, "encoding_name": 4, "dimension": 3})
                self.assertEqual(set(sweep.coords), {"length", "encoding_name", "dimension"})
                self.assertEqual(list(sweep.encoding_name.values), ["mds", "sinusoidal", "smacof", "linear"])
                self.assertTrue(all(isinstance(name, str) for name in sweep.encoding_name.values))
                self.assertEqual((list(sweep.length.values), list(sweep.dimension.values)), ([8, 16], [1, 2, 4]))
                tables = [name for name in f if name not in sweep.coords]
                self.assertLessEqual({"raw", "scaled", "scale", "violation_rate", "min_separation", "pearson", "spearman", "rank", "trace",
                                      "constant_baseline", "corpus_violation_rate"}, set(tables))
                for name in tables:
                    self.assertEqual(sweep[name].dims, ("length", "encoding_name", "dimension") if f[name].ndim == 3 else ("length", ), name)
                    np.testing.assert_array_equal(sweep[name].values, f[name][()], err_msg=name)
                self.assertEqual(float(sweep.raw.sel(length=16, encoding_name="linear", dimension=2)), f["raw"][1, 3, 1])
                self.assertEqual(sweep.attrs["format"], "posgeom-sweep")

    def test_pandas_gets_a_tidy_table_in_a_line(self):
        import pandas
        import xarray
        for engine in ENGINES:
            table = xarray.open_dataset(self.shared / "out/sweep.h5", engine=engine).to_dataframe().reset_index()
            self.assertEqual(len(table), 2 * 4 * 3)
            keys = ["length", "encoding_name", "dimension"]
            self.assertFalse(table.duplicated(keys).any())
            csv = pandas.read_csv(self.shared / "out/sweep.csv").rename(columns={"encoding": "encoding_name"})
            self.assertEqual(set(csv.columns), set(table.columns))
            both = [x.sort_values(keys).set_index(keys).sort_index(axis=1) for x in (table, csv)]
            pandas.testing.assert_frame_equal(*both, check_dtype=False, check_exact=False, rtol=1e-15, check_index_type=False)
            stress = xarray.open_dataset(self.shared / "out/stress-16.h5", engine=engine).to_dataframe().reset_index()
            self.assertEqual(len(stress), 4 * 3)
            cell = stress[(stress.encoding_name == "mds") & (stress.dimension == 4)]
            with h5py.File(self.shared / "out/stress-16.h5") as f:
                self.assertEqual(float(cell.scaled.iloc[0]), f["scaled"][0, 2])
                self.assertEqual(int(cell.not_unique.iloc[0]), f["not_unique"][2])
            encoding = xarray.open_dataset(self.shared / "out/geometry-16.h5", engine=engine)["encoding"].to_series().reset_index()
            self.assertEqual(list(encoding.columns), ["position", "component", "encoding"])
            totals = xarray.open_dataset(self.shared / "out/counts.h5", engine=engine)["position_total"].to_series()
            with h5py.File(self.shared / "out/counts.h5") as f:
                np.testing.assert_array_equal(totals.values, f["position_total"][()])

    def test_every_dataset_that_has_scales_has_named_axes(self):
        import xarray
        axes = {"encoding": ("position", "component"), "hellinger": ("position", "position"), "signal_encoding": ("position", "signal_component"),
                "weights": ("position", "component"), "distributions": ("component", "token"), "not_unique": ("dimension", ),
                "position_total": ("position", ), "count": ("token", )}
        seen = set()
        for path in self.paths():
            with h5py.File(path) as f:
                groups = ["/"] + [name for name, item in ((n, f[n]) for n in list_groups(f)) if not name.startswith("encodings")]
                for group in groups:
                    for engine in ENGINES:
                        with xarray.open_dataset(path, group=group, engine=engine) as data:
                            for name, item in f[group].items():
                                if not isinstance(item, h5py.Dataset):
                                    continue
                                self.assertIn(name, data.variables, f"{path.name} {group}")
                                self.assertEqual(data[name].shape, item.shape)
                                if name in axes:
                                    seen.add(name)
                                    # xarray renames nothing, but two axes of one name it may keep or refuse to index
                                    self.assertEqual(data[name].dims, axes[name], f"{path.name} {group} {name} {engine}")
        self.assertEqual(seen, set(axes))

    def test_written_encodings_open_as_a_group(self):
        import xarray
        for engine, options in (("h5netcdf", {"phony_dims": "sort"}), ("netcdf4", {})):
            if engine in ENGINES:
                with xarray.open_dataset(self.shared / "out/stress-16.h5", group="encodings/smacof", engine=engine, **options) as data:
                    self.assertEqual(data["4"].shape, (16, 4))


@unittest.skipUnless(len(TOOLS) == 2, "no h5dump and h5stat (Debian: hdf5-tools)")
class InTools(Files):
    def test_h5dump_and_h5stat_read_every_file_to_its_end(self):
        for path in self.paths():
            for command in (["h5dump", path], ["h5dump", "--header", path], ["h5stat", path]):
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120)
                self.assertEqual((done.returncode, done.stderr), (0, ""), f"{command}")
                self.assertNotIn("unable to", done.stdout)
                with h5py.File(path) as f:
                    names = []
                    f.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
                if command[0] == "h5dump":
                    self.assertEqual(done.stdout.count("DATASET \""), len(names), path.name)
                else:
                    self.assertIn(f"# of unique datasets: {len(names)}", done.stdout)


def list_groups(f):
    groups = []
    f.visititems(lambda name, item: groups.append(name) if isinstance(item, h5py.Group) else None)
    return groups


if __name__ == "__main__":
    report_case.main()
