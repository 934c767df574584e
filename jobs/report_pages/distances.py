"""Hellinger distances from the counts, and distances of encodings, where no file holds them."""
from types import SimpleNamespace

import numpy as np

from .files import StoreFile

ALL_POSITIONS = 512    # up to so many positions, all pairs
ANCHORS = 256          # beyond: so many positions, evenly spaced, against all
DENSE_CELLS = 1 << 25  # of a block of square-root distributions


def anchors_of(m, columns=1):
    """Indices of the positions whose rows of H are formed: all, or evenly spaced ones where rows x columns is too much."""
    if m <= ALL_POSITIONS and m * columns <= 2 * DENSE_CELLS:
        return np.arange(m)
    return np.unique(np.linspace(0, m - 1, min(m, max(64, min(ANCHORS, DENSE_CELLS // columns)))).round().astype(int))


class Rows:
    """Square-root distributions from the counts of one length, a few positions at a time, over some of the tokens."""

    def __init__(self, f, counts, geometry):
        parent = "" if counts.sequences == "document" else f"length_{geometry.length}/"
        self.f, self.group, self.vocab = f, f"{parent}counts", int(counts.vocab_size)
        self.totals = f.array(f"{parent}position_total", (None,))
        self.indptr = f.array(f"{self.group}/indptr", (len(self.totals) + 1,))
        self.unreached, self.least = geometry.unreached, max(1, int(geometry.options.get("min-count", 1)))
        if len(geometry.position) and geometry.position[-1] >= len(self.totals):
            f.refuse(f"it has {len(self.totals)} positions, {geometry.path.name} has position {geometry.position[-1]}")
        self.columns, self.column_of = self.vocab, np.arange(self.vocab)

    def part(self, name, i):
        return self.f.array(f"{self.group}/{name}", part=np.s_[self.indptr[i]:self.indptr[i + 1]])

    def only_tokens_of(self, rows):
        """Inner products with these rows need no other tokens; unless they have all."""
        if self.unreached == "uniform" and (self.totals[rows] < self.least).any():
            return
        tokens = np.unique(np.concatenate([self.part("token", i) for i in rows]))
        self.columns, self.column_of = len(tokens), np.full(self.vocab, -1)
        self.column_of[tokens] = np.arange(len(tokens))

    def square_roots(self, rows):
        """sqrt(mu), dense [rows, columns], and the squared norms of the whole rows."""
        dense, norms = np.zeros((len(rows), self.columns)), np.ones(len(rows))
        for k, i in enumerate(rows):
            if self.totals[i] >= self.least:
                column = self.column_of[self.part("token", i)]
                there = column >= 0
                dense[k, column[there]] = np.sqrt(self.part("count", i)[there] / self.totals[i])
            elif self.unreached == "uniform":
                dense[k] = 1 / np.sqrt(self.vocab)
            else:
                norms[k] = 0
        return dense, norms


def from_counts(run, geometry):
    """H [anchors, m] from counts.h5, for any --unreached."""
    position = geometry.position
    with StoreFile(run.counts.path, "posgeom-counts") as f:
        rows = Rows(f, run.counts, geometry)
        anchors = anchors_of(len(position), rows.vocab)
        rows.only_tokens_of(position[anchors])
        left, norms = rows.square_roots(position[anchors])
        squares = np.empty((len(anchors), len(position)))
        step = max(1, min(ALL_POSITIONS, DENSE_CELLS // rows.columns))
        for first in range(0, len(position), step):
            right, others = rows.square_roots(position[first:first + step])
            squares[:, first:first + step] = norms[:, None] + others - 2 * left @ right.T
    squares[np.arange(len(anchors)), anchors] = 0
    h = np.sqrt(np.maximum(squares, 0))
    return anchors, h / np.sqrt(2) if geometry.options.get("hellinger-range") == "1" else h


def hellinger(run, length):
    """Rows of H (rows [anchors, m]) with the indices and the true positions of the anchors and where they are from; None: unknown."""
    geometry = run.geometry.get(length)
    if geometry is None or len(geometry.position) == 0:
        return None
    m = len(geometry.position)
    if geometry.has_hellinger:
        anchors, source = anchors_of(m), "stored"
        with StoreFile(geometry.path, "posgeom-geometry") as f:
            rows = f.array("hellinger", (m, m), part=(anchors, slice(None)) if len(anchors) < m else ())
    elif run.counts:
        (anchors, rows), source = from_counts(run, geometry), "recomputed from the counts"
    else:
        return None
    if len(anchors) < m:
        source += f", {len(anchors)} evenly spaced of {m} positions against all"
    return SimpleNamespace(position=geometry.position, anchors=anchors, rows=rows, source=source)


def lag_means(position, anchors, rows, most=200):
    """Mean of rows[a, j] over pairs by lag |i_a - i_j| > 0: (lags, means). Beyond `most` lags, in bins of equal ratio."""
    lags = np.abs(position[anchors][:, None].astype(np.int64) - position[None])
    keep = lags > 0
    x, y = lags[keep], np.broadcast_to(rows, lags.shape)[keep]
    if x.size == 0:
        return np.empty(0), np.empty(0)
    bins = x
    if x.max() > most:
        edges = np.unique(np.geomspace(1, x.max() + 1, most).astype(int))
        bins = np.searchsorted(edges, x, side="right")
    pairs = np.bincount(bins)
    there = pairs > 0
    return (np.bincount(bins, x)[there] / pairs[there]), (np.bincount(bins, y)[there] / pairs[there])


def frequencies(base, head, scaling, original):
    """The rotary w_k of a head, with --rope-scaling."""
    kind, _, factor = scaling.partition(":")
    factor, k = float(factor or 1), np.arange(head // 2)
    if kind == "ntk" and head > 2:
        base = base * factor ** (head / (head - 2))
    w = base ** (-2.0 * k / head)
    if kind == "linear":
        w = w / factor
    if kind == "yarn":
        def index_of(turns):
            return head * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(base))
        begin = np.clip(np.floor(index_of(32)), 0, head - 1)
        end = np.clip(np.ceil(index_of(1)), begin, head - 1)
        ramp = np.clip((k - begin) / (end - begin if end > begin else 0.001), 0, 1)
        w = w * (1 - ramp) + w / factor * ramp
    return w


def by_lag(name, lags, d, length, options):
    """Distances at the lags of an encoding that depends on them alone, from its definition; None: it is none of these."""
    lags = np.asarray(lags, dtype=float)
    if name in ("sinusoidal", "rope"):
        head, w = d, None
        if name == "rope":
            head = min(d, int(options["rope-head-dim"]))
        if head % 2 or d % head:
            return np.full(lags.shape, np.nan)
        if name == "rope":
            w = frequencies(float(options["rope-base"]), head, options["rope-scaling"], float(options["rope-original-length"]))
        else:
            w = frequencies(10000.0, head, "none", 0)
        squares = sum(np.sin(lags * x / 2) ** 2 for x in w)
        return 2 * np.sqrt(d // head * squares)
    if name == "alibi":
        heads = int(options["alibi-heads"])
        slopes = 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)
        return np.sqrt((slopes**2).sum()) * lags / length
    if name == "linear":
        return lags / length
    if name == "kerple-log":
        return np.sqrt(2 * np.log1p(lags))
    if name == "kerple-power":
        return np.sqrt(2 * lags)
    if name == "fire":
        return np.log1p(0.1 * lags) / np.log1p(0.1 * length)
    if name == "t5":
        with np.errstate(divide="ignore"):
            far = 8 + np.floor(8 * np.log(lags / 8) / np.log(128 / 8) + 1e-9)  # an integer at some lags
        return np.where(lags < 8, lags, np.minimum(far, 15)) / 15
    if name == "random":  # the root of the expected square, the same at every lag
        variance = {"normal": 1.0, "uniform": 1 / 3, "bert": 0.02**2}[options["random-kind"]]
        return np.where(lags > 0, np.sqrt(2 * d * variance), 0.0)
    return None


def between(left, right):
    """Euclidean distances of the rows."""
    squares = (left**2).sum(1)[:, None] + (right**2).sum(1) - 2 * left @ right.T
    return np.sqrt(np.maximum(squares, 0))
