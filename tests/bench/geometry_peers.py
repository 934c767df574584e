#!/usr/bin/env python3
"""What a user would write with NumPy and SciPy, on the matrix S that geometry_bench dumped; geometry.py runs it.

    geometry_peers.py FILE TASK [K or path]      one line: wall seconds, cpu seconds, name=value pairs

gram     S @ S.T, S dense          full     numpy.linalg.eigh of the centred Gram matrix
subset   scipy.linalg.eigh of its K leading pairs        arpack    scipy.sparse.linalg.eigsh of the same, from products with S
stress   raw stress of random coordinates at 12 values of d, one pass over the pairs a d        dgemm    the rate of a product
The Gram matrix is formed before full and subset, and not timed with them.
"""
import sys
import time

import numpy as np


def read(path):
    import scipy.sparse as sparse
    with open(path, "rb") as file:
        rows, columns, nonzeros = np.frombuffer(file.read(24), np.int64)
        begin = np.frombuffer(file.read(8 * rows), np.int64)
        column = np.frombuffer(file.read(4 * nonzeros), np.int32)
        value = np.frombuffer(file.read(8 * nonzeros))
    return sparse.csr_matrix((value, column, np.append(begin, nonzeros)), shape=(rows, columns))


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def centred_gram(s):
    """(J S)(J S)', formed in pieces of the vocabulary: a dense S of a large vocabulary need not fit."""
    gram = np.zeros((s.shape[0], s.shape[0]))
    columns = s.tocsc()
    for first in range(0, s.shape[1], 16384):
        piece = columns[:, first : first + 16384].toarray()
        gram += piece @ piece.T
    mean = gram.mean(0)
    gram -= mean
    gram -= mean[:, None] - mean.mean()
    return gram


def arpack(s, count):
    import scipy.sparse.linalg as linalg
    transposed = s.T.tocsr()

    def product(x):
        y = s @ (transposed @ (x - x.mean(0)))
        return y - y.mean(0)

    operator = linalg.LinearOperator((s.shape[0],) * 2, matvec=product, matmat=product, dtype=float)
    return linalg.eigsh(operator, count, ncv=2 * count + 64, tol=0)


def stress(s):
    n = s.shape[0]
    hellinger = np.sqrt(np.maximum(0, 2 - 2 * (s @ s.T).toarray()))
    p = np.random.default_rng(2).uniform(-1, 1, (n, n))

    def sweep():
        values = []
        for d in (k * n // 12 for k in range(1, 13)):
            x = p[:, :d]
            norm = (x * x).sum(1)
            distance = np.sqrt(np.maximum(0, norm[:, None] + norm - 2 * (x @ x.T)))
            values.append(((distance - hellinger) ** 2).sum() / (hellinger**2).sum())
        return values

    return timed(sweep)


def main():
    path, task = sys.argv[1:3]
    found = {}
    if task == "dgemm":
        n = 2000
        a = np.random.default_rng(1).standard_normal((n, n))
        a @ a
        wall, cpu, _ = timed(lambda: a @ a)
        found["gflops"] = 2e-9 * n**3 / wall
    else:
        s = read(path)
        if task == "gram":
            dense = s.toarray()
            wall, cpu, _ = timed(lambda: dense @ dense.T)
        elif task == "stress":
            wall, cpu, _ = stress(s)
        elif task == "arpack":
            wall, cpu, (w, _) = timed(lambda: arpack(s, int(sys.argv[3])))
            found["lambda_1"] = w.max()
        else:
            gram = centred_gram(s)
            m = len(gram)
            if task == "full":
                wall, cpu, (w, _) = timed(lambda: np.linalg.eigh(gram))
            else:
                import scipy.linalg
                wall, cpu, (w, _) = timed(
                    lambda: scipy.linalg.eigh(gram, subset_by_index=[m - int(sys.argv[3]), m - 1], check_finite=False))
            found["lambda_1"] = w.max()
    print(f"{wall:.6f} {cpu:.6f}", *(f"{name}={float(value)!r}" for name, value in found.items()))


main()
