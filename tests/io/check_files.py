"""Reads with h5py what known_files_test.cpp wrote: check_files.py FOLDER RANKS. Exits with 1 at the first difference."""
import csv
import math
import sys

import h5py
import numpy as np

folder, ranks = sys.argv[1], int(sys.argv[2])


def check(condition, what):
    if not condition:
        sys.exit(f"{folder}: {what}")


def same(found, expected, what):
    check(found == expected or (found != found and expected != expected), f"{what} is {found!r}, expected {expected!r}")


def dataset(file, name, dtype, shape, value, scales):
    data = file[name]
    same(data.dtype.str, dtype, f"dtype of {name}")
    same(data.shape, shape, f"shape of {name}")
    array = data[()]
    for place in np.ndindex(*shape):
        same(array[place], value(*place), f"{name}{list(place)}")
    for axis, scale in enumerate(scales):
        same(list(data.dims[axis].keys()), [scale.split("/")[-1]], f"scale of axis {axis} of {name}")
        same(data.dims[axis][0], file[scale], f"scale of axis {axis} of {name}")
    check(data.chunks is None, f"{name} is contiguous")


def texts(file, name, expected):
    info = h5py.check_string_dtype(file[name].dtype)
    check(info is not None and info.encoding == "utf-8", f"{name} holds UTF-8")
    same(list(file[name].asstr()[()]), expected, name)


def attributes(file, expected):
    for name, value in expected.items():
        check(name in file.attrs, f"attribute {name} exists")
        found = file.attrs[name]
        same(found, value, f"attribute {name}")
        kind = {str: str, int: np.int64, float: np.float64}[type(value)]
        check(isinstance(found, kind), f"attribute {name} is {type(found)}")


def members(file, expected):
    found = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    same(sorted(found), sorted(expected), "datasets")
    for scale in found:
        if file[scale].attrs.get("CLASS") == b"DIMENSION_SCALE":
            same(file[scale].attrs["NAME"].decode(), scale.split("/")[-1], f"NAME of {scale}")
            check(h5py.h5ds.is_scale(file[scale].id), f"{scale} is a scale")


def provenance(file, form):
    attributes(file, {
        "format": form, "format_version": 1, "created": "2026-01-02T03:04:05Z",
        "command_line": 'posgeom run --corpus "a b" --lengths 12', "config": "#" * 200000 + "\n[corpus]\nname = \u00e9\n",
        "ranks": ranks, "process_grid": f"1x{ranks}", "libraries": f"HDF5 {ranks}", "fingerprint": "0123456789abcdef",
        "fingerprint_lines": "length=12\nunreached=drop\n", "corpus_fingerprint": "fedcba9876543210", "seed": 1 << 40})
    for name in ("posgeom_version", "git_revision"):
        check(isinstance(file.attrs[name], str) and file.attrs[name], f"attribute {name} is a text")


def known_rows(n, rows, shuffled, half):
    """The rule of known_files.hpp: for each position, what stands there and how often."""
    table = []
    for i in range(rows):
        row = []
        for v in range(7):
            origin = 6 - v if shuffled else v
            if i >= n - 1 or (i + origin) % 2 or (half and v % 3 == 0):
                continue
            count = 1 << 40 if i == origin == 0 else 10 * i + origin + 1
            row.append((v, count // 2 if half else count))
        table.append(row)
    return table


def count_table(f, group, rows):
    cells = sum(rows, [])
    dataset(f, f"{group}/indptr", "<i8", (len(rows) + 1,), lambda i: sum(len(r) for r in rows[:i]), [])
    dataset(f, f"{group}/token", "<i4", (len(cells),), lambda k: cells[k][0], [])
    dataset(f, f"{group}/count", "<i8", (len(cells),), lambda k: cells[k][1], [f"/{group}/token"])
    return [f"{group}/{name}" for name in ("indptr", "token", "count")]


def positions(f, base, rows):
    dataset(f, f"{base}position", "<i4", (len(rows),), lambda i: i, [])
    dataset(f, f"{base}position_total", "<i8", (len(rows),), lambda i: sum(c for _, c in rows[i]), [f"/{base}position"])
    return [f"{base}position", f"{base}position_total"]


common = {"vocab_size": 7, "document_count": 100, "empty_document_count": 3, "token_count": (1 << 40) + 1000, "longest_document": 9}


def counts():
    with h5py.File(f"{folder}/counts.h5", "r") as f:
        provenance(f, "posgeom-counts")
        attributes(f, {"length": 5, "sequences": "document", "split": 0, **common})
        rows = known_rows(5, 5, False, False)
        members(f, positions(f, "", rows) + count_table(f, "counts", rows) + ["vocabulary"])
        texts(f, "vocabulary", ["w\u00f6rd-" + "x" * v for v in range(7)])
    with h5py.File(f"{folder}/counts-noise.h5", "r") as f:
        attributes(f, {"length": 5, "sequences": "document", "split": 1, **common})
        rows = known_rows(5, 5, False, False)
        found = positions(f, "", rows) + count_table(f, "counts", rows) + count_table(f, "counts_half_a", known_rows(5, 5, False, True))
        for n in (3, 5):
            for half in (False, True):
                found += count_table(f, f"length_{n}/counts_shuffled" + "_half_a" * half, known_rows(5, n, True, half))
        members(f, found)
    with h5py.File(f"{folder}/counts-packed.h5", "r") as f:
        provenance(f, "posgeom-counts")
        check("length" not in f.attrs, "length is of document mode")
        attributes(f, {"sequences": "packed", "split": 1, **common})
        members(f, tables_by_length(f, (1, 3, 8)) + ["vocabulary"])
    with h5py.File(f"{folder}/checkpoint.h5", "r") as f:
        provenance(f, "posgeom count checkpoint")
        attributes(f, {"sequences": "chunk", "split": 1, **common})
        members(f, tables_by_length(f, (3, 8)) + ["units_done"])
        dataset(f, "units_done", "<i8", (3, 3), lambda i, j: [[0, 0, 4], [0, 6, 7], [5, 2, 3]][i][j], [])


def tables_by_length(f, lengths):
    found = []
    for n in lengths:
        found += positions(f, f"length_{n}/", known_rows(n, n, False, False))
        for shuffled in (False, True):
            for half in (False, True):
                group = f"length_{n}/counts" + "_shuffled" * shuffled + "_half_a" * half
                found += count_table(f, group, known_rows(n, n, shuffled, half))
    return found


def geometry():
    with h5py.File(f"{folder}/geometry-12.h5", "r") as f:
        provenance(f, "posgeom-geometry")
        members(f, ["position", "component", "eigenvalues", "encoding", "hellinger"])
        attributes(f, {"length": 12, "rank": 3, "trace": 19 / 3, "entropy_rank": 2.1, "participation_ratio": 1.9, "dims_90": 2, "dims_95": 3,
                       "dims_99": 3, "corpus_violation_rate": 0.218, "mean_hellinger": 0.9, "sum_hellinger_squared": 44.5, "solver": "pdsyevd",
                       "residual": 0.012, "orthogonality": 0.4, "block_size": 2, "parameters_full": 35, "parameters_factored": 36,
                       "unreached": "drop", "fewest_tokens": 17, "most_tokens": 1 << 40})
        dataset(f, "position", "<i4", (7,), lambda i: [0, 2, 3, 5, 8, 9, 11][i], [])
        dataset(f, "component", "<i4", (5,), lambda j: j, [])
        dataset(f, "eigenvalues", "<f8", (7,), lambda j: [4.0, 2.0, 1 / 3, 1e-17, 0.0, -1e-18, -2e-17][j], [])
        dataset(f, "encoding", "<f8", (7, 5), lambda i, j: i + 1 + (j + 1) / 3 if j < 3 else 0.0, ["/position", "/component"])
        dataset(f, "hellinger", "<f8", (7, 7), lambda i, j: 0.0 if i == j else (1 + min(i, j)) / (3 + max(i, j)), ["/position", "/position"])


def noise():
    parts = ["component", "eigenvalues", "encoding", "position"]
    with h5py.File(f"{folder}/geometry-noise.h5", "r") as f:
        members(f, parts + [f"noise/{name}" for name in ("position", "signal_component", "signal_encoding", "split_eigenvalues", "null_largest",
                                                         "shuffled_eigenvalues")])
        attributes(f["noise"], {
            "reached": 7, "rarefied_total": 1 << 40, "alpha": 0.2, "threshold": 0.375, "signal_rank": 3, "signal_trace": 6.25, "denoised_sum": 24.5,
            "denoised_negative": 1, "reliability": 0.5, "reliability_of_whole": 2 / 3, "shuffled_rank": 5, "shuffled_trace": 2.6875,
            "shuffled_violation_rate": 0.4375, "shuffled_sum_hellinger_squared": 18.8125, "shuffled_share": 0.96, "shuffled_split_largest": 2.5,
            "signal_rank_order": 1})
        dataset(f, "noise/position", "<i4", (4,), lambda i: [0, 2, 3, 8][i], [])
        dataset(f, "noise/signal_component", "<i4", (2,), lambda j: j, [])
        dataset(f, "noise/signal_encoding", "<f8", (4, 2), lambda i, j: i + 1 + (j + 1) / 8, ["/noise/position", "/noise/signal_component"])
        dataset(f, "noise/split_eigenvalues", "<f8", (4,), lambda j: [3.5, 2.25, 0.5, -0.125][j], [])
        dataset(f, "noise/null_largest", "<f8", (5,), lambda r: [0.25, 0.125, 0.3125, 0.0625, 0.375][r], [])
        dataset(f, "noise/shuffled_eigenvalues", "<f8", (7,), lambda j: [1.5, 0.75, 0.25, 0.125, 0.0625, 0.0, -1e-17][j], [])
    with h5py.File(f"{folder}/geometry-no-position.h5", "r") as f:
        members(f, parts + [f"noise/{name}" for name in ("position", "signal_component", "signal_encoding", "split_eigenvalues", "null_largest")])
        attributes(f["noise"], {"rarefied_total": 5000, "threshold": math.nan, "signal_rank": 0, "signal_trace": 0.0, "signal_rank_order": -1,
                                "shuffled_rank": -1, "shuffled_trace": math.nan})
        dataset(f, "noise/position", "<i4", (0,), None, [])
        dataset(f, "noise/signal_encoding", "<f8", (0, 0), None, ["/noise/position", "/noise/signal_component"])
        dataset(f, "noise/split_eigenvalues", "<f8", (0,), None, [])
        dataset(f, "noise/null_largest", "<f8", (19,), lambda r: math.nan, [])


tables = ["raw", "scaled", "scale", "violation_rate", "min_separation", "pearson", "spearman", "shuffled_raw", "shuffled_scaled",
          "shuffled_violation_rate", "denoised_raw", "denoised_scaled"]
# Where they stand in a stress file.
datasets = [name.replace("shuffled_", "shuffled/").replace("denoised_", "denoised/") for name in tables]


def stress():
    stored = [f"encodings/{name}/{d}" for name in ("mds", "my.file-1") for d in (1, 2, 4)]
    with h5py.File(f"{folder}/stress-12.h5", "r") as f:
        provenance(f, "posgeom-stress")
        members(f, ["dimension", "encoding_name", "not_unique", "weighted/smacof", "weighted/mds"] + datasets + stored)
        attributes(f, {"length": 12, "constant_baseline": 0.25, "corpus_violation_rate": 0.218})
        dataset(f, "dimension", "<i4", (3,), lambda d: [1, 2, 4][d], [])
        dataset(f, "not_unique", "|u1", (3,), lambda d: int(d == 0), ["/dimension"])
        texts(f, "encoding_name", ["mds", "sinusoidal", "my.file-1"])
        special = {("pearson", 1, 2): math.nan, ("raw", 2, 0): math.inf}
        attributes(f["shuffled"], {"constant_baseline": 0.125, "corpus_violation_rate": 0.5})
        attributes(f["denoised"], {"constant_baseline": 0.0625})
        attributes(f["weighted"], {"weights": "tokens"})
        dataset(f, "weighted/smacof", "<f8", (3,), lambda d: [0.5, 0.25, math.nan][d], ["/dimension"])
        dataset(f, "weighted/mds", "<f8", (3,), lambda d: [0.75, 0.5, 0.125][d], ["/dimension"])
        for t, name in enumerate(datasets):
            dataset(f, name, "<f8", (3, 3), lambda e, d: special.get((name, e, d), t + e / 8 + d / 64), ["/encoding_name", "/dimension"])
        for name in stored:
            d = int(name.split("/")[-1])
            dataset(f, name, "<f8", (7, d), lambda i, j: 100 * d + 10 * i + j, [])


def sweep():
    def cell(t, l, e, d):
        return math.nan if (tables[t], l, e, d) == ("raw", 1, 1, 2) else t + l / 2 + e / 8 + d / 64

    with h5py.File(f"{folder}/sweep.h5", "r") as f:
        provenance(f, "posgeom-sweep")
        members(f, ["length", "dimension", "encoding_name", "rank", "signal_rank", "rarefied_total", "noise_positions", "trace", "constant_baseline",
                    "corpus_violation_rate"] + tables)
        dataset(f, "length", "<i8", (2,), lambda l: [8, 12][l], [])
        dataset(f, "dimension", "<i4", (3,), lambda d: [1, 2, 4][d], [])
        dataset(f, "rank", "<i8", (2,), lambda l: [3, 4][l], ["/length"])
        dataset(f, "signal_rank", "<i8", (2,), lambda l: [2, -1][l], ["/length"])
        dataset(f, "rarefied_total", "<i8", (2,), lambda l: [1 << 40, -1][l], ["/length"])
        dataset(f, "noise_positions", "<i8", (2,), lambda l: [7, -1][l], ["/length"])
        dataset(f, "trace", "<f8", (2,), lambda l: [1.5, 2.5][l], ["/length"])
        dataset(f, "constant_baseline", "<f8", (2,), lambda l: [0.25, 0.26][l], ["/length"])
        dataset(f, "corpus_violation_rate", "<f8", (2,), lambda l: [0.1, 0.2][l], ["/length"])
        texts(f, "encoding_name", ["mds", "rope"])
        for t, name in enumerate(tables):
            dataset(f, name, "<f8", (2, 2, 3), lambda l, e, d: cell(t, l, e, d), ["/length", "/encoding_name", "/dimension"])
    with open(f"{folder}/sweep.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    same(list(rows[0]), ["length", "dimension", "encoding"] + tables + ["rank", "signal_rank", "rarefied_total", "noise_positions", "trace", "constant_baseline",
                                                                        "corpus_violation_rate"], "CSV header")
    same(len(rows), 12, "CSV lines")
    for k, row in enumerate(rows):
        l, e, d = k // 6, k // 3 % 2, k % 3
        same((row["length"], row["encoding"], row["dimension"]), (["8", "12"][l], ["mds", "rope"][e], ["1", "2", "4"][d]), f"CSV line {k}")
        for t, name in enumerate(tables):
            same(float(row[name]), cell(t, l, e, d), f"CSV line {k} {name}")
        same((row["rank"], row["signal_rank"], float(row["trace"])), (["3", "4"][l], ["2", "-1"][l], [1.5, 2.5][l]), f"CSV line {k}")


def other_readers():
    """Where they are installed: the scales are good enough for netCDF and xarray."""
    try:
        import xarray
    except ImportError:
        return
    import importlib.util
    for engine, module in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")):
        if importlib.util.find_spec(module) is None:
            continue
        with xarray.open_dataset(f"{folder}/geometry-12.h5", engine=engine) as data:
            same(data["encoding"].dims, ("position", "component"), f"{engine}: dimensions of encoding")
            same(float(data["encoding"].sel(position=8, component=1)), 5 + 2 / 3, f"{engine}: encoding at position 8, component 1")
        with xarray.open_dataset(f"{folder}/geometry-noise.h5", engine=engine, group="noise") as data:
            same(float(data["signal_encoding"].sel(position=8, signal_component=1)), 4.25, f"{engine}: signal encoding at position 8")
        with xarray.open_dataset(f"{folder}/geometry-no-position.h5", engine=engine, group="noise") as data:
            same(data["signal_encoding"].shape, (0, 0), f"{engine}: an empty signal encoding")
        with xarray.open_dataset(f"{folder}/stress-12.h5", engine=engine) as data:
            same(float(data["raw"].sel(encoding_name="sinusoidal", dimension=4)), 1 / 8 + 2 / 64, f"{engine}: raw stress")
        with xarray.open_dataset(f"{folder}/sweep.h5", engine=engine) as data:
            same(float(data["scale"].sel(length=12, encoding_name="rope", dimension=2)), 2 + 1 / 2 + 1 / 8 + 1 / 64, f"{engine}: sweep")
        with xarray.open_dataset(f"{folder}/counts.h5", engine=engine) as data:
            same(data["position_total"].dims, ("position",), f"{engine}: dimensions of position_total")
        with xarray.open_dataset(f"{folder}/counts-packed.h5", engine=engine, group="length_8") as data:
            same(data["position_total"].dims, ("position",), f"{engine}: dimensions of position_total in a group")
        for group in ("counts", "counts_half_a", "counts_shuffled", "counts_shuffled_half_a"):
            with xarray.open_dataset(f"{folder}/counts-packed.h5", engine=engine, group=f"length_8/{group}") as data:
                same(data["count"].dims, ("token",), f"{engine}: dimensions of count in {group}")


counts()
geometry()
noise()
stress()
sweep()
other_readers()
