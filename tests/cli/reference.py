"""The theory in plain NumPy, written from its definitions alone: what posgeom's numbers are compared with."""
import numpy as np


def words_to_ids(lines):
    """Whitespace tokens; ids by descending count, ties by bytes."""
    documents = [line.split() for line in lines]
    counts = {}
    for document in documents:
        for word in document:
            counts[word] = counts.get(word, 0) + 1
    order = sorted(counts, key=lambda word: (-counts[word], word.encode()))
    ids = {word: k for k, word in enumerate(order)}
    return [[ids[word] for word in document] for document in documents], order


def position_counts(documents, n, vocab_size):
    table = np.zeros((n, vocab_size), dtype=np.int64)
    for document in documents:
        for i, token in enumerate(document[:n]):
            table[i, token] += 1
    return table


def hellinger(table, unreached="drop", min_count=1):
    """(kept positions, S, H)."""
    totals = table.sum(axis=1)
    reached = totals >= min_count
    s = np.sqrt(table / np.where(totals, totals, 1)[:, None])
    positions = np.arange(len(table))
    if unreached == "drop":
        s, positions = s[reached], positions[reached]
    else:
        s[~reached] = np.sqrt(1 / table.shape[1]) if unreached == "uniform" else 0
    h = np.sqrt(((s[:, None, :] - s[None, :, :]) ** 2).sum(axis=2))
    return positions, s, h


def spectrum(s):
    centred = s - s.mean(axis=0)
    values, vectors = np.linalg.eigh(centred @ centred.T)
    return values[::-1], vectors[:, ::-1]


def mds(s, d):
    values, vectors = spectrum(s)
    keep = values > 1e-10 * values[0]
    return (vectors * np.sqrt(np.where(keep, values, 0)))[:, :d]


def sinusoidal(positions, d, base=10000):
    frequencies = base ** (-2 * np.arange(d // 2) / d)
    angles = positions[:, None] * frequencies
    encoding = np.empty((len(positions), d))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding


def rope(positions, d, head_dim=64):
    head = min(d, head_dim)
    return np.tile(sinusoidal(positions, head), d // head)


def alibi(positions, n, heads=12):
    return positions[:, None] / n * 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def distances(encoding):
    return np.sqrt(((encoding[:, None, :] - encoding[None, :, :]) ** 2).sum(axis=2))


def violation_rate(positions, d):
    tie = 1e-9 * d.max()
    violations = comparisons = 0
    m = len(positions)
    for i in range(m):
        lag = np.abs(positions - positions[i])
        others = np.arange(m) != i
        nearer = (lag[:, None] < lag[None, :]) & others[:, None] & others[None, :]
        comparisons += nearer.sum()
        violations += (nearer & (d[i][:, None] > d[i][None, :] + tie)).sum()
    return violations / comparisons if comparisons else np.nan


def ranks(values):
    """Ranks from 0; tied values share their ranks' mean. Values within a billionth of the largest are ties."""
    _, group, size = np.unique(np.round(values / (1e-9 * values.max())), return_inverse=True, return_counts=True)
    return (np.cumsum(size) - (size + 1) / 2)[group]


def measures(positions, d, h):
    """raw, scaled, scale, violation_rate, min_separation, pearson, spearman as a dictionary."""
    upper = np.triu_indices(len(positions), 1)
    x, y = d[upper], h[upper]
    return {
        "raw": ((x - y) ** 2).sum() / (y**2).sum(),
        "scaled": 1 - (x @ y) ** 2 / ((x @ x) * (y @ y)),
        "scale": x @ y / (x @ x),
        "violation_rate": violation_rate(positions, d),
        "min_separation": x.min(),
        "pearson": np.corrcoef(x, y)[0, 1],
        "spearman": np.corrcoef(ranks(x), ranks(y))[0, 1],
    }
