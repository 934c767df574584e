#!/usr/bin/env python3
"""The geometry benchmark: Gram matrix, eigenpairs and stress beside what a user would write with NumPy and SciPy, in one run.

    geometry.py BUILD DIRECTORY [--corpus PATH ...] [--lengths 1024,2048,4096,8192] [--vectors 64] [--repeats 5] [--csv FILE]

BUILD holds posgeom and tests/bench; DIRECTORY gets counts, dumps and geometry.csv (or --csv), a line a measurement. The corpus (King James by
default; --posgeom-options for its format) is counted as packed sequences of every length.

gram     the Gram matrix of the corpus: ours on 1 rank, 1 rank with 2 threads, 2 ranks; NumPy's S @ S.T of a dense S
full     the whole spectrum and all vectors: auto, lapack, pdsyevd, elpa; numpy.linalg.eigh
leading  the --vectors leading pairs of the corpus: auto, pdsyevr, elpa; scipy.linalg.eigh's subset, ARPACK
smooth   the same of counts that change slowly with the position, with numpy.linalg.eigh
dual     aligned 16S (V = 17): the whole spectrum, and numpy.linalg.eigh
stress   12 values of d: ours against one dense rank-n update (dsyrk, dgemm) on the same ranks, and NumPy's one pass a d;
         --all-dims: every d, against as many square roots
growth   the Gram matrix and auto against V and against tokens, from corpora that posgeom synth draws

Peers take turns; times are medians, "spread" is (max - min) / median. Two threads or two ranks each: the same two cores. NumPy and SciPy get the
BLAS that posgeom has (--blas, preloaded). Ratios are time / that of the line's peer. Exponents: slopes of log time in log n, V, tokens.
"""
import argparse
import csv
import math
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PARTS = ("gram", "full", "leading", "smooth", "dual", "stress", "growth")
BLIS = "/usr/lib/x86_64-linux-gnu/blis-pthread/libblis.so.4"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("directory")
    parser.add_argument("--corpus", nargs="*", default=[os.path.join(SOURCE, "tests/data/kjv.txt.xz")])
    parser.add_argument("--counts", help="a counts.h5 that holds the lengths, in place of a corpus")
    parser.add_argument("--posgeom-options", default="", help="of `posgeom count`, such as '--tokenizer wordpiece --vocab FILE'")
    parser.add_argument("--lengths", default="1024,2048,4096,8192", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--parts", default=",".join(PARTS), type=lambda text: text.split(","))
    parser.add_argument("--vectors", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5, help="and 3 from n = 8192 on")
    parser.add_argument("--only", default="", help="only peers with one of these words in their names, and the one that ratios refer to: auto,numpy")
    parser.add_argument("--all-dims", action="store_true")
    parser.add_argument("--no-scipy", action="store_true", help="leave out the peers that need SciPy")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--blas", default=BLIS if os.path.exists(BLIS) else "", help="shared library that NumPy is given")
    parser.add_argument("--csv")
    return parser.parse_args()


class Bench:
    def __init__(self, options):
        self.options = options
        os.makedirs(options.directory, exist_ok=True)
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")
        self.tools = os.path.join(options.build, "tests/bench")
        self.posgeom = os.path.join(options.build, "posgeom")
        for line in self.command([os.path.join(self.tools, "geometry_bench"), "kernels"]).splitlines():
            name, value = line.split("=", 1)
            self.environment[name] = value  # the peers' BLAS on the kernels that ours runs
        self.rows = []
        self.measured = {}

    def command(self, command, extra=None):
        done = subprocess.run(command, env=dict(self.environment, **(extra or {})), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"geometry.py: {' '.join(command)}: {(done.stderr.strip() or done.stdout.strip())[-600:]}")
        return done.stdout

    @staticmethod
    def parsed(text):
        lines = text.strip().splitlines()
        words = lines[-1].split()
        answer = dict(word.split("=", 1) for word in words[2:])
        answer["reason"] = next((line[2:] for line in lines if line.startswith("# ") and "warning" not in line), "")
        return float(words[0]), float(words[1]), answer

    def ours(self, source, n, ranks, threads, *task):
        launcher = [self.options.mpirun, "-np", str(ranks)] if ranks > 1 else []
        return self.parsed(self.command(launcher + [os.path.join(self.tools, "geometry_bench"), source, str(n), str(threads), *map(str, task)]))

    def peer(self, dump, task, *more, threads=2):
        extra = {"BLIS_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        if self.options.blas:
            extra["LD_PRELOAD"] = self.options.blas
        return self.parsed(self.command([sys.executable, os.path.join(HERE, "geometry_peers.py"), dump, task, *map(str, more)], extra))

    def dump(self, source, n, name):
        path = os.path.join(self.options.directory, f"{name}-{n}.bin")
        self.command([os.path.join(self.tools, "geometry_bench"), source, str(n), "1", "dump", path])
        return path

    def take_turns(self, part, n, peers, reference):
        """Medians of all peers; one printed and one csv line each, with the ratio to the reference."""
        repeats = self.options.repeats if n < 8192 else min(3, self.options.repeats)
        words = self.options.only.split(",")
        peers = {name: measure for name, measure in peers.items() if name == reference or any(word in name for word in words)}
        samples = {name: [] for name in peers}
        for _ in range(repeats):
            for name, measure in peers.items():
                samples[name].append(measure())
        median = {name: statistics.median(sample[0] for sample in values) for name, values in samples.items()}
        for name, values in samples.items():
            walls = [sample[0] for sample in values]
            said = values[-1][2]
            row = {"part": part, "n": n, "peer": name, "seconds": round(median[name], 5),
                   "cpu_seconds": round(statistics.median(sample[1] for sample in values), 5),
                   "spread": round((max(walls) - min(walls)) / median[name], 3) if median[name] > 0 else 0, "repeats": repeats,
                   "reference": reference, "ratio": round(median[name] / median[reference], 4) if median[reference] > 0 else "",
                   "solver": said.get("solver", ""), "worst_residual": said.get("worst_residual", ""), "bulk": said.get("bulk", "")}
            self.rows.append(row)
            self.measured[part, n, name] = median[name]
            print(f"{part:8} {n:6} {name:34} {median[name]:10.4f} s  {row['ratio']:>8} x {reference}"
                  + (f"  {row['solver']} residual {row['worst_residual']} lambda_1" if row["solver"] else ""), flush=True)
        self.agree(part, n, samples)
        return median

    @staticmethod
    def agree(part, n, samples):
        """All peers that found an eigenvalue must have found the same."""
        values = {name: float(found[0][2]["lambda_1"]) for name, found in samples.items() if "lambda_1" in found[0][2]}
        if values and max(values.values()) - min(values.values()) > 1e-9 * max(values.values()):
            sys.exit(f"geometry.py: {part}, n = {n}: the largest eigenvalues differ: {values}")

    def write(self):
        path = self.options.csv or os.path.join(self.options.directory, "geometry.csv")
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(self.rows)
        print(f"written: {path}")


def slope(points):
    """Of log y in log x, by least squares."""
    x, y = zip(*((math.log(a), math.log(b)) for a, b in points))
    mean_x, mean_y = statistics.mean(x), statistics.mean(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def mds(bench, source, n, vectors, whole="whole"):
    """How our solvers are run: on one rank with two threads, and on two ranks."""
    def at(solver, ranks, threads):
        return lambda: bench.ours(source, n, ranks, threads, "mds", solver, vectors, whole)
    return at


def gram(bench, source, n):
    dump = bench.dump(source, n, "gram")
    peers = {"posgeom, 1 rank": lambda: bench.ours(source, n, 1, 1, "gram"),
             "posgeom, 1 rank, 2 threads": lambda: bench.ours(source, n, 1, 2, "gram"),
             "posgeom, 2 ranks": lambda: bench.ours(source, n, 2, 1, "gram")}
    if not bench.options.no_scipy:
        peers["NumPy S @ S.T, 1 thread"] = lambda: bench.peer(dump, "gram", threads=1)
        peers["NumPy S @ S.T, 2 threads"] = lambda: bench.peer(dump, "gram")
    bench.take_turns("gram", n, peers, "posgeom, 2 ranks")
    os.remove(dump)


def full(bench, source, n):
    dump = bench.dump(source, n, "full")
    at = mds(bench, source, n, 0)
    peers = {"auto, 1 rank, 2 threads": at("auto", 1, 2), "auto, 2 ranks": at("auto", 2, 1), "lapack, 2 threads": at("lapack", 1, 2),
             "pdsyevd, 2 ranks": at("pdsyevd", 2, 1), "pdsyevd, 1 rank": at("pdsyevd", 1, 1), "elpa, 2 ranks": at("elpa", 2, 1),
             "elpa, 1 rank": at("elpa", 1, 1)}
    if not bench.options.no_scipy:
        peers["numpy.linalg.eigh, 2 threads"] = lambda: bench.peer(dump, "full")
    bench.take_turns("full", n, peers, "numpy.linalg.eigh, 2 threads" if not bench.options.no_scipy else "lapack, 2 threads")
    os.remove(dump)


def leading(bench, source, n, part="leading"):
    k = bench.options.vectors
    dump = bench.dump(source, n, part)
    at = mds(bench, source, n, k, "leading")
    peers = {"auto, 1 rank, 2 threads": at("auto", 1, 2), "auto, 2 ranks": at("auto", 2, 1), "pdsyevr, 2 ranks": at("pdsyevr", 2, 1),
             "elpa, 2 ranks": at("elpa", 2, 1)}
    if part == "smooth":
        peers["krylov, 1 rank, 1 thread"] = at("krylov", 1, 1)
    reference = "auto, 1 rank, 2 threads"
    if not bench.options.no_scipy:
        peers["scipy eigh, subset, 2 threads"] = lambda: bench.peer(dump, "subset", k)
        if part == "smooth":
            peers["numpy.linalg.eigh, 2 threads"] = lambda: bench.peer(dump, "full")
            peers["ARPACK, 2 threads"] = lambda: bench.peer(dump, "arpack", k)
    bench.take_turns(part, n, peers, reference)
    os.remove(dump)


def dual(bench):
    out = os.path.join(bench.options.directory, "16s")
    n = 7682
    bench.command([bench.posgeom, "count", "--corpus", os.path.join(SOURCE, "tests/data/16s_aligned.txt.xz"), "--tokenizer", "chars",
                   "--lengths", str(n), "--noise", "none", "--force", "--out", out])
    source = os.path.join(out, "counts.h5")
    dump = bench.dump(source, n, "dual")
    peers = {"auto, 1 rank": lambda: bench.ours(source, n, 1, 1, "mds", "auto", 0, "whole")}
    if not bench.options.no_scipy:
        peers["numpy.linalg.eigh, 2 threads"] = lambda: bench.peer(dump, "full")
    bench.take_turns("dual", n, peers, "auto, 1 rank")
    os.remove(dump)


def stress(bench, source, n):
    if not bench.options.no_scipy:
        dump = bench.dump(source, n, "stress")
        bench.take_turns("stress", n, {"NumPy, 12 d, one pass a d, 2 threads": lambda: bench.peer(dump, "stress")},
                         "NumPy, 12 d, one pass a d, 2 threads")
        os.remove(dump)
    for ranks in (1, 2):
        command = [bench.options.mpirun, "-np", str(ranks), os.path.join(bench.tools, "stress_bench")]
        command += (["--all-dims"] if bench.options.all_dims else []) + [str(n)]
        text = bench.command(command, {"BLIS_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("#")):
            name = f"{row['what']}, {ranks} rank{'s' if ranks > 1 else ''}"
            bench.rows.append({"part": "stress", "n": n, "peer": name, "seconds": row["seconds"], "reference": row["peer"],
                               "ratio": row["ratio"], "repeats": 3})
            bench.measured["stress", n, name] = float(row["seconds"])
            print(f"stress   {n:6} {name:44} {float(row['seconds']):10.4f} s  {row['ratio']:>8} x {row['peer']}", flush=True)


def growth(bench):
    """Times against V and tokens at a fixed n."""
    n = min(1024, bench.options.lengths[-1])
    for what, cases in {"V": [(v, 4000 * n) for v in (4096, 16384, 65536)], "tokens": [(32768, t * n) for t in (1000, 4000, 16000)]}.items():
        points = {"gram": [], "auto": []}
        for vocab, tokens in cases:
            out = os.path.join(bench.options.directory, "synth")
            bench.command([bench.posgeom, "synth", "--synth-kind", "stationary", "--synth-vocab", str(vocab), "--synth-positions", str(n),
                           "--synth-documents", str(tokens // n), "--synth-lengths", f"fixed:{n}", "--name", "synth", "--force", "--out", out])
            bench.command([bench.posgeom, "count", "--corpus", os.path.join(out, "synth.bin"), "--lengths", str(n), "--noise", "none", "--force",
                           "--vocab-size", str(vocab), "--out", out])
            source = os.path.join(out, "counts.h5")
            peers = {"gram": lambda: bench.ours(source, n, 1, 1, "gram"), "auto": lambda: bench.ours(source, n, 1, 2, "mds", "auto", 0, "whole")}
            for name, seconds in bench.take_turns(f"{what}={vocab if what == 'V' else tokens}", n, peers, "auto").items():
                points[name].append((vocab if what == "V" else tokens, seconds))
        for name, values in points.items():
            print(f"growth   {name} in {what} at n = {n}: exponent {slope(values):.2f}", flush=True)
            bench.rows.append({"part": "growth", "n": n, "peer": f"{name} in {what}", "ratio": round(slope(values), 3)})


def exponents(bench):
    names = dict.fromkeys((part, peer) for part, _, peer in bench.measured if part in ("gram", "full", "leading", "smooth", "stress"))
    for part, peer in names:
        points = [(n, seconds) for (p, n, name), seconds in bench.measured.items() if (p, name) == (part, peer) and seconds > 0]
        if len(points) > 1:
            print(f"growth   {part}, {peer}: time ~ n^{slope(points):.2f}")
            bench.rows.append({"part": "growth", "n": "", "peer": f"{part}, {peer} in n", "ratio": round(slope(points), 3)})
    for part in ("gram", "full", "stress"):
        pairs = {}
        for (p, n, name), seconds in bench.measured.items():
            if p == part and (", 1 rank" in name or ", 2 ranks" in name) and "threads" not in name:
                pairs.setdefault((n, name.split(", ")[0]), {})[", 2 ranks" in name] = seconds
        for (n, name), seconds in pairs.items():
            if len(seconds) == 2 and seconds[True] > 0:
                print(f"ranks    {part}, {name}, n = {n}: two ranks are {seconds[False] / seconds[True]:.2f} times as fast as one")
                bench.rows.append({"part": "ranks", "n": n, "peer": f"{part}, {name}", "ratio": round(seconds[False] / seconds[True], 3)})


def main():
    options = arguments()
    bench = Bench(options)
    source = options.counts
    if source is None:
        out = os.path.join(options.directory, "counts")
        bench.command([bench.posgeom, "count", "--sequences", "packed", "--noise", "none", "--force", "--lengths",
                       ",".join(map(str, options.lengths)), "--out", out, *options.posgeom_options.split()]
                      + [word for path in options.corpus for word in ("--corpus", path)])
        source = os.path.join(out, "counts.h5")
    print(f"DGEMM rate of the peers' BLAS, 2 threads: {float(bench.peer('-', 'dgemm')[2]['gflops']):.1f} GF/s")
    for n in options.lengths:
        for part, measure in (("gram", gram), ("full", full), ("leading", leading)):
            if part in options.parts:
                measure(bench, source, n)
        if "smooth" in options.parts:
            leading(bench, "smooth", n, "smooth")
        if "stress" in options.parts:
            stress(bench, source, n)
    if "dual" in options.parts:
        dual(bench)
    if "growth" in options.parts:
        growth(bench)
    exponents(bench)
    bench.write()


main()
