"""The numbers that each figure draws, by themselves, so that they can be tested. NaN cells are left out and counted."""
from types import SimpleNamespace

import numpy as np

from .distances import anchors_of, between, by_lag, hellinger, lag_means
from .files import StoreFile

SMALLEST = 1e-9  # stress below it is zero to rounding
ZERO = 1e-10  # of the largest eigenvalue: the tolerance of the rank


def spectrum(geometry):
    """Curves name -> (component from 1, eigenvalue), positive ones only; `notes` says what is left out."""
    s = SimpleNamespace(curves={}, threshold=None, signal_rank=None, notes=[])

    def add(name, values, relative_to):
        above = values > ZERO * relative_to
        s.curves[name] = (np.arange(1, len(values) + 1)[above], values[above])
        if not above.all():
            s.notes.append(f"{name}: {np.count_nonzero(~above)} of {len(values)} eigenvalues are zero to rounding or negative and not drawn")

    largest = geometry.eigenvalues.max(initial=0.0)
    add("corpus", geometry.eigenvalues, largest)
    noise = geometry.noise
    if noise is not None and noise.shuffled_eigenvalues is not None:
        add("shuffled", noise.shuffled_eigenvalues, largest)
    if noise is not None and noise.split_eigenvalues is not None and len(noise.split_eigenvalues):
        add("halves", noise.split_eigenvalues, largest)
        s.threshold = noise.threshold if np.isfinite(noise.threshold) and noise.threshold > 0 else None
        s.signal_rank = noise.signal_rank
    if len(geometry.eigenvalues) < len(geometry.position):
        s.notes.append(f"only the {len(geometry.eigenvalues)} leading of {len(geometry.position)} eigenvalues were computed")
    return s


def finite(x, y):
    keep = np.isfinite(y)
    return np.asarray(x)[keep], np.asarray(y)[keep]


def against_dimension(stress, measure):
    """Curves name -> (d, value), the same on the shuffled corpus, and the constant baseline (of the scaled stress)."""
    s = SimpleNamespace(curves={}, shuffled={}, baseline=None, undefined={})
    for table, curves in ((stress.tables[measure], s.curves), (stress.shuffled.get(measure), s.shuffled)):
        for name, row in zip(stress.names, table if table is not None else ()):
            x, y = finite(stress.dimension, row)
            if len(x):
                curves[name] = (x, y)
            if curves is s.curves and len(x) < len(row):
                s.undefined[name] = [int(d) for d in stress.dimension if d not in x]
    if measure == "scaled" and np.isfinite(stress.constant_baseline):
        s.baseline = float(stress.constant_baseline)
    return s


def common_dimension(collected, ranks=()):
    """The dimension at which most cells are defined; of several the largest up to the median rank, else the smallest."""
    defined = {}
    for stress in collected.values():
        for k, d in enumerate(stress.dimension):
            defined[int(d)] = defined.get(int(d), 0) + int(np.isfinite(stress.tables["scaled"][:, k]).sum())
    if not defined or not max(defined.values()):
        return None
    most = [d for d, count in defined.items() if count == max(defined.values())]
    below = [d for d in most if not len(ranks) or d <= np.median(ranks)]
    return max(below) if below else min(most)


def against_length(collected, measure, d):
    """Curves name -> (n, value at dimension d) and the constant baseline by n."""
    s = SimpleNamespace(curves={}, shuffled={}, baseline=None)
    points = {}
    for n, stress in sorted(collected.items()):
        at = np.flatnonzero(stress.dimension == d)
        for name, row in zip(stress.names, stress.tables[measure]):
            if len(at) and np.isfinite(row[at[0]]):
                points.setdefault(name, []).append((n, row[at[0]]))
    s.curves = {name: tuple(np.array(p).T) for name, p in points.items()}
    if measure == "scaled":
        s.baseline = finite(sorted(collected), [collected[n].constant_baseline for n in sorted(collected)])
    return s


def relative_to_baseline(collected):
    """Scaled stress over the constant baseline of its length: names, lengths, dimensions, [E, L, D]; NaN where undefined."""
    lengths = sorted(collected)
    names = list(dict.fromkeys(name for n in lengths for name in collected[n].names))
    dimensions = sorted({int(d) for n in lengths for d in collected[n].dimension})
    cells = np.full((len(names), len(lengths), len(dimensions)), np.nan)
    for k, n in enumerate(lengths):
        stress = collected[n]
        columns = [dimensions.index(int(d)) for d in stress.dimension]
        for name, row in zip(stress.names, stress.tables["scaled"]):
            if stress.constant_baseline > 0:
                cells[names.index(name), k, columns] = row / stress.constant_baseline
    return SimpleNamespace(names=names, lengths=lengths, dimensions=dimensions, cells=cells)


def best_dimension(stress, name):
    """The dimension at which the encoding's scaled stress is least, that stress, and the scale that gives it; None where undefined."""
    e = stress.names.index(name)
    row = stress.tables["scaled"][e]
    usable = np.isfinite(row) & np.isfinite(stress.tables["scale"][e])
    if not usable.any():
        return None
    k = int(np.argmin(np.where(usable, row, np.inf)))
    return int(stress.dimension[k]), float(row[k]), float(stress.tables["scale"][e][k])


def rows_of_encoding(stress, geometry, name, d, h):
    """Distances [anchors, m] of an encoding and where they are from; None where nothing says them."""
    lags = np.abs(h.position[h.anchors][:, None].astype(np.int64) - h.position[None])
    if name == "mds":
        with StoreFile(geometry.path, "posgeom-geometry") as f:
            p = f.array("encoding", part=np.s_[:, :d])
        return between(p[h.anchors], p), "geometry file"
    if d in stress.written.get(name, ()):
        with StoreFile(stress.path, "posgeom-stress") as f:
            p = f.array(f"encodings/{name}/{d}", (None, None))
        if len(p) != len(h.position):  # of other positions, as the signal encoding is
            return None
        return between(p[h.anchors], p), "stress file"
    kernel = by_lag(name, np.arange(lags.max(initial=0) + 1), d, stress.length, stress.options)
    if kernel is None:
        return None
    return kernel[lags], "expected square" if name == "random" else "definition"


def against_lag(run, length):
    """Mean distance by lag: of H, of the encodings at their best d and best scale, and of the signal encoding as it is."""
    geometry, stress = run.geometry.get(length), run.stress.get(length)
    if geometry is None or len(geometry.position) < 2:
        return None
    s = SimpleNamespace(hellinger=None, h_source=None, curves={}, signal=None, not_drawn=[], sources={})
    h = hellinger(run, length)
    if h is not None:
        s.hellinger, s.h_source = lag_means(h.position, h.anchors, h.rows), h.source
    else:
        h = SimpleNamespace(position=geometry.position, anchors=anchors_of(len(geometry.position)))
    for name in stress.names if stress else ():
        if name == "signal":  # drawn below, from the noise analysis
            continue
        best = best_dimension(stress, name)
        rows = rows_of_encoding(stress, geometry, name, best[0], h) if best else None
        if best is None:
            s.not_drawn.append(f"{name} (no scale is defined)")
        elif rows is None:
            s.not_drawn.append(f"{name} (its coordinates are not in the stress file: --write-encodings)")
        else:
            d, _, scale = best
            s.curves[name] = (d, *lag_means(h.position, h.anchors, scale * rows[0]))
            s.sources.setdefault(rows[1], []).append(name)
    noise = geometry.noise
    if noise is not None and noise.signal_encoding is not None and noise.signal_encoding.shape[1]:
        p = noise.signal_encoding
        anchors = anchors_of(len(p))
        s.signal = (p.shape[1], *lag_means(noise.position, anchors, between(p[anchors], p)))
    return s if s.hellinger or s.curves or s.signal else None
