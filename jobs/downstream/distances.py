"""Distances between positions in NumPy, for tables of a few hundred positions; posgeom does the same at any size."""
import h5py
import numpy as np


def distances(table):
    """[n, n], by differences, so that equal rows are at 0 exactly."""
    table = np.asarray(table, np.float64)
    return np.sqrt(((table[:, None] - table[None]) ** 2).sum(-1))


def min_separation(table):
    """The least distance between two positions."""
    d = distances(table)
    return d[np.triu_indices(len(d), 1)].min()


def violation_rate(d):
    """Among all i and pairs (j, k) with |i-j| < |i-k|, j and k other than i: the share with D_ij > D_ik, ties (1e-9 of the largest) apart."""
    n, tie = len(d), 1e-9 * d.max()
    triples = violated = 0
    for i in range(n):
        others = np.flatnonzero(np.arange(n) != i)
        lag, row = np.abs(others - i), d[i, others]
        nearer = lag[:, None] < lag[None]
        triples += nearer.sum()
        violated += (nearer & (row[:, None] > row[None] + tie)).sum()
    return violated / triples if triples else np.nan


def read_distributions(path, length):
    """(mu [m, V], position [m]) of counts.h5: the token distributions of the positions that hold any."""
    with h5py.File(path, "r") as file:
        name = next((name for name in (f"length_{length}/counts", "counts") if name in file), None)
        if name is None:
            return None, None
        indptr = file[f"{name}/indptr"][()][:length + 1]
        token, count = file[f"{name}/token"][:indptr[-1]], file[f"{name}/count"][:indptr[-1]]
    mu = np.zeros((length, int(token.max()) + 1))
    mu[np.repeat(np.arange(length), np.diff(indptr)), token] = count
    position = np.flatnonzero(mu.sum(1) > 0)
    return mu[position] / mu[position].sum(1, keepdims=True), position


def hellinger(mu):
    return distances(np.sqrt(mu))
