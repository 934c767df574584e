"""Reads what posgeom wrote. Everything that cannot be read is a ReportError: one line with file, found, expected, advice."""
import os
import re
from pathlib import Path
from types import SimpleNamespace

# Files are only read here, and many cluster file systems refuse HDF5's locks.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

import h5py
import numpy as np

FORMAT_VERSION = 1
MEASURES = ("raw", "scaled", "scale", "violation_rate", "min_separation", "pearson", "spearman")
WRITERS = {"posgeom-counts": "`posgeom count`", "posgeom-geometry": "`posgeom embed`", "posgeom-stress": "`posgeom stress`",
           "posgeom-sweep": "`posgeom collect`"}
PROVENANCE = ("format", "format_version", "posgeom_version", "git_revision", "created", "command_line", "ranks", "process_grid", "libraries",
              "seed", "fingerprint", "corpus_fingerprint")


class ReportError(Exception):
    """Its text is the one line that the user reads."""


class StoreFile:
    """One opened file of posgeom's; a context manager."""

    def __init__(self, path, expected):
        self.path, self.writer = path, WRITERS[expected]
        try:
            self.h5 = h5py.File(path, "r")
        except OSError as error:
            if isinstance(error, PermissionError) or not os.access(path, os.R_OK):
                raise ReportError(f"reading {path}: no permission to read it") from error
            self.refuse(f"it is no readable HDF5 file ({first_line(error)})")
        try:
            if "format" not in self.h5.attrs:
                raise ReportError(f"reading {path}: an HDF5 file without the attribute `format`: not one that posgeom wrote")
            found, version = self.attribute("format"), self.attribute("format_version")
            if found != expected:
                raise ReportError(f"reading {path}: its format is `{found}`, expected `{expected}`; {self.writer} writes that")
            if version != FORMAT_VERSION:
                raise ReportError(f"reading {path}: its format_version is {version}, this report reads {FORMAT_VERSION}; use the "
                                  f"jobs/report.py of the posgeom that wrote it (posgeom_version {self.attribute('posgeom_version')})")
        except ReportError:
            self.h5.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.h5.close()

    def refuse(self, text):
        raise ReportError(f"reading {self.path}: {text}; the file is damaged: write it again with {self.writer} --force")

    def has(self, name):
        return name in self.h5

    def names(self, group):
        return sorted(self.h5[group]) if group in self.h5 else []

    def attribute(self, name, group="/"):
        try:
            value = self.h5[group].attrs[name]
        except (KeyError, OSError, RuntimeError) as error:
            self.refuse(f"the attribute {name} is missing or unreadable ({first_line(error)})")
        if isinstance(value, bytes):
            return value.decode()
        return value.item() if isinstance(value, np.generic) else value

    def attributes(self, group):
        return SimpleNamespace(**{name: self.attribute(name, group) for name in self.h5[group].attrs})

    def shape(self, name):
        if name not in self.h5:
            self.refuse(f"{name} is missing")
        return self.h5[name].shape

    def array(self, name, shape=None, part=()):
        """The dataset, or a part of it; `shape`: what the whole must have, None in it for any extent."""
        found = self.shape(name)
        if shape is not None and (len(found) != len(shape) or any(b is not None and a != b for a, b in zip(found, shape))):
            self.refuse(f"{name} has the shape {list(found)}, expected {['any' if x is None else x for x in shape]}")
        try:
            return self.h5[name][part]
        except (OSError, RuntimeError, ValueError) as error:
            self.refuse(f"{name} cannot be read ({first_line(error)})")

    def texts(self, name):
        return [text.decode() if isinstance(text, bytes) else str(text) for text in self.array(name, (None,))]

    def provenance(self):
        return {name: self.attribute(name) for name in PROVENANCE}

    def options(self):
        """The options of the run, as written in the attribute config."""
        lines = (line.partition(" = ") for line in self.attribute("config").splitlines())
        return {key.strip(): value.strip() for key, _, value in lines if key.strip()}


def first_line(error):
    return str(error).strip("'\"").splitlines()[0] if str(error) else type(error).__name__


def read_geometry(path):
    with StoreFile(path, "posgeom-geometry") as f:
        g = f.attributes("/")
        for name in ("length", "rank", "trace", "entropy_rank", "participation_ratio", "dims_90", "dims_95", "dims_99", "mean_hellinger",
                     "corpus_violation_rate", "parameters_full", "parameters_factored", "unreached", "solver"):
            f.attribute(name)
        g.path, g.provenance, g.options = path, f.provenance(), f.options()
        g.position = f.array("position", (None,))
        m = len(g.position)
        g.eigenvalues = f.array("eigenvalues", (None,))
        g.components = f.shape("encoding")[1]
        g.leading = f.array("encoding", (m, None), np.s_[:, :4])
        g.has_hellinger = f.has("hellinger")
        g.noise = None
        if f.has("noise"):
            for name in ("reached", "rarefied_total", "alpha", "threshold", "signal_rank", "signal_rank_order", "signal_trace", "reliability",
                         "reliability_of_whole", "shuffled_share", "shuffled_rank", "shuffled_trace", "shuffled_violation_rate",
                         "shuffled_split_largest"):
                f.attribute(name, "noise")
            g.noise = f.attributes("noise")
            for name in ("position", "signal_encoding", "split_eigenvalues", "null_largest", "shuffled_eigenvalues"):
                setattr(g.noise, name, f.array(f"noise/{name}") if f.has(f"noise/{name}") else None)
    return g


def read_stress(path):
    with StoreFile(path, "posgeom-stress") as f:
        s = SimpleNamespace(path=path, length=f.attribute("length"), constant_baseline=f.attribute("constant_baseline"),
                            corpus_violation_rate=f.attribute("corpus_violation_rate"), provenance=f.provenance(), options=f.options())
        s.dimension = f.array("dimension", (None,))
        s.names = f.texts("encoding_name")
        cells = (len(s.names), len(s.dimension))
        s.tables = {name: f.array(name, cells) for name in MEASURES}
        for part in ("shuffled", "denoised"):
            setattr(s, part, {name: f.array(f"{part}/{name}", cells) for name in ("raw", "scaled") if f.has(f"{part}/{name}")})
            baseline = f.attributes(part).__dict__.get("constant_baseline", np.nan) if f.has(part) else np.nan
            setattr(s, f"{part}_baseline", baseline)
        s.written = {name: [int(d) for d in f.names(f"encodings/{name}") if d.isdigit()] for name in f.names("encodings")}
    return s


def read_sweep(path):
    """The stress files that the sweep was collected from, by length, without what it does not hold."""
    with StoreFile(path, "posgeom-sweep") as f:
        lengths, names, dimension = f.array("length", (None,)), f.texts("encoding_name"), f.array("dimension", (None,))
        cells = (len(lengths), len(names), len(dimension))
        tables = {name: f.array(name, cells) for name in MEASURES}
        shuffled = {name: f.array(f"shuffled_{name}", cells) for name in ("raw", "scaled") if f.has(f"shuffled_{name}")}
        column = {name: f.array(name, cells[:1]) for name in ("rank", "trace", "constant_baseline", "corpus_violation_rate")}
        provenance, options = f.provenance(), f.options()
    by_length = {}
    for k, length in enumerate(int(n) for n in lengths):
        by_length[length] = SimpleNamespace(
            path=path, length=length, constant_baseline=column["constant_baseline"][k], provenance=provenance, options=options,
            corpus_violation_rate=column["corpus_violation_rate"][k], rank=int(column["rank"][k]), trace=column["trace"][k],
            dimension=dimension, names=names, tables={name: table[k] for name, table in tables.items()}, written={},
            shuffled={name: table[k] for name, table in shuffled.items()}, shuffled_baseline=np.nan, denoised={}, denoised_baseline=np.nan)
    return SimpleNamespace(path=path, lengths=[int(n) for n in lengths], by_length=by_length, provenance=provenance, options=options)


def read_counts(path):
    with StoreFile(path, "posgeom-counts") as f:
        c = f.attributes("/")
        for name in ("document_count", "token_count", "vocab_size", "sequences", "longest_document"):
            f.attribute(name)
        c.path, c.provenance, c.options = path, f.provenance(), f.options()
    return c


def by_length(folder, kind, read):
    pattern = re.compile(rf"{kind}-(\d+)\.h5")
    found = {int(m.group(1)): path for path in folder.iterdir() if (m := pattern.fullmatch(path.name))}
    return {n: read(found[n]) for n in sorted(found)}


def read_run(folder, lengths=()):
    """All that the folder holds. `missing`: sentences on what is not there; `warnings`: what does not fit together."""
    folder = Path(folder)
    if not folder.is_dir():
        what = "it is a file; give the folder that it lies in" if folder.exists() else "there is no such folder"
        raise ReportError(f"reading {folder}: {what}, expected the --out of a `posgeom run`")
    try:
        run = SimpleNamespace(folder=folder, missing=[], warnings=[])
        run.counts = read_counts(folder / "counts.h5") if (folder / "counts.h5").exists() else None
        run.sweep = read_sweep(folder / "sweep.h5") if (folder / "sweep.h5").exists() else None
        run.geometry = by_length(folder, "geometry", read_geometry)
        run.stress = by_length(folder, "stress", read_stress)
    except PermissionError as error:
        raise ReportError(f"reading {folder}: {error.strerror}") from error
    if not (run.counts or run.sweep or run.geometry or run.stress):
        raise ReportError(f"reading {folder}: it holds no counts.h5, geometry-<n>.h5, stress-<n>.h5 or sweep.h5; expected the --out of a "
                          f"`posgeom run`")
    run.collected = dict(run.stress)
    for n, row in (run.sweep.by_length if run.sweep else {}).items():
        run.collected.setdefault(n, row)
    run.lengths = sorted(set(run.geometry) | set(run.collected))
    unknown = [n for n in lengths if n not in run.lengths]
    if unknown:
        raise ReportError(f"reading {folder}: it has no length {unknown[0]}; there are {', '.join(map(str, run.lengths)) or 'none'}")
    say_what_is_missing(run)
    if lengths:
        run.lengths = sorted(set(lengths))
        for table in (run.geometry, run.stress, run.collected):
            for n in set(table) - set(lengths):
                del table[n]
    return run


def say_what_is_missing(run):
    if not run.counts:
        unfinished = " (counts-unfinished.h5 is there: counting was stopped, the same command goes on)" if (
            run.folder / "counts-unfinished.h5").exists() else ""
        run.missing.append("counts.h5 is missing: H cannot be recomputed where it is not stored" + unfinished)
    opened = [x for x in [run.counts, *run.geometry.values(), *run.stress.values()] if x]
    wanted = {int(n) for x in opened for n in re.findall(r"\d+", x.options.get("lengths", ""))} | set(run.lengths)
    lacking = {}
    for n in sorted(wanted):
        if n not in run.geometry:
            lacking.setdefault("geometry-{}.h5 missing: no spectrum, components and noise analysis there (`posgeom embed`)", []).append(n)
        elif run.geometry[n].noise is None:
            lacking.setdefault("geometry-{}.h5 without noise analysis: what stands above sampling noise is not known (--noise all)", []).append(n)
        if n not in run.stress:
            where = "their tables are taken from sweep.h5" if n in run.collected else "no stress there"
            lacking.setdefault(f"stress-{{}}.h5 missing: {where} (`posgeom stress`)", []).append(n)
        elif not run.stress[n].shuffled:
            lacking.setdefault("stress-{}.h5 without stress on the shuffled corpus: figures and findings are of the real one alone", []).append(n)
    for text, numbers in lacking.items():
        some = ",".join(map(str, numbers))
        run.missing.append(text.format(some if len(numbers) == 1 else f"{{{some}}}"))
    left_out = sorted(set(run.stress) - set(run.sweep.lengths)) if run.sweep else []
    if not run.sweep:
        run.missing.append("sweep.h5 is missing (`posgeom collect`): the tables here are those of the stress files")
    elif left_out:
        run.missing.append(f"sweep.h5 was collected without length {', '.join(map(str, left_out))} (`posgeom collect`)")
    corpora = {}
    for x in [*opened, *([run.sweep] if run.sweep else [])]:
        corpora.setdefault(x.provenance["corpus_fingerprint"], []).append(x.path.name)
    if len(corpora) > 1:
        run.warnings.append("these files are of different corpora: " + "; ".join(f"{', '.join(v)} ({k})" for k, v in corpora.items()))
