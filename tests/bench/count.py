#!/usr/bin/env python3
"""The count benchmark: one run, one token file in the page cache, one table.

    count.py COUNT_BENCH DIRECTORY [--tokens 409600000] [--passes 4] [--lengths 64,1024,16384] [--repeats 5] [--mpirun mpirun]

kernel      PositionTable end to end from the file: reads of 1 MiB, range check, count, flush
corpus      count_corpus: the corpus's reader, the kernel, the hand-over of the rows between ranks, and the compressed table
documents   the same, and documents are told apart by their separators, which are counted; then what --noise would add: halves (split),
            the shuffle null (shuffle), and both (all)
x P         the file P times, as a corpus of P files: what does not grow with the tokens (fixed) and what does (ns a token) come of the two
histogram   one histogram of 65536 counters of the same ids, already in memory: the practical limit of one core
numpy       one np.bincount over position * V + id a block of sequences, ids in memory (positions in parts where a table would be too large)
read        the reads alone
Times are medians; the peers take turns, since a shared machine is not the same from one minute to the next. Spread: (max - min) / median.
"system" is the cpu's time in the kernel: reads, and memory that is touched for the first time. Each process touches memory and gives it back
before it is measured: a virtual machine's host may have to find it first, which is no part of the program (--cold leaves that out).
"""
import argparse
import os
import statistics
import subprocess
import sys
import time
import typing

import numpy as np

V = 50257
NOISE = ("documents", "split", "shuffle", "all")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("directory", nargs="?", default=os.environ.get("TMPDIR", "/tmp"))
    parser.add_argument("--tokens", type=int, default=409600000)
    parser.add_argument("--passes", type=int, default=1, help="of the long corpus (1: none)")
    parser.add_argument("--cold", action="store_true", help="measure at once, in memory that the host may have to find")
    parser.add_argument("--lengths", default="64,1024,16384")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--buffer", type=int, default=0, help="MiB of the columns (0: 128, and 512 for lengths from 4096 on)")
    parser.add_argument("--numpy-tokens", type=int, default=50000000, help="the NumPy peer counts so many, and is scaled")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--skip", default="none", help="leave out the peers whose names begin so")
    return parser.parse_args()


def numpy_count(ids, length, block):
    """The table, and the seconds that it took. Positions are cut so that one block's counters stay below 2^26."""
    sequences = len(ids) // length
    ids = ids[: sequences * length].reshape(sequences, length)
    slab = max(1, min(length, (1 << 26) // V))
    rows = max(1, block // slab)
    start, cpu = time.perf_counter(), time.process_time()
    checksum_parts = []
    for first in range(0, length, slab):
        width = min(slab, length - first)
        offset = np.arange(width, dtype=np.int64) * V
        table = np.zeros(width * V, dtype=np.int64)
        for begin in range(0, sequences, rows):
            key = ids[begin : begin + rows, first : first + width] + offset
            table += np.bincount(key.ravel(), minlength=width * V)
        pause, pause_cpu = time.perf_counter(), time.process_time()
        checksum_parts.append(checksum(table, first, width))
        start += time.perf_counter() - pause
        cpu += time.process_time() - pause_cpu
    return time.perf_counter() - start, time.process_time() - cpu, sum(checksum_parts) % 2**64


def checksum(table, first, width):
    """As count_bench's."""
    at = np.flatnonzero(table)
    count = table[at].astype(np.uint64)
    weight = (1 + ((first + at // V) * 31 + at % V) % 1009).astype(np.uint64)
    return int((count * count * weight).sum(dtype=np.uint64))


class Sample(typing.NamedTuple):
    """What count_bench prints."""
    wall: float
    cpu: float
    system: float
    checksum: int
    bytes: int
    finish: float


class Bench:
    def __init__(self, options):
        self.options = options
        self.path = os.path.join(options.directory, "count_bench_tokens.bin")
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")

    def generate(self):
        command = [self.options.bench, self.path, "generate", str(self.options.tokens), str(self.options.passes)]
        subprocess.run(command, check=True, env=self.environment)
        self.ids = np.fromfile(self.path, dtype=np.uint16)

    def remove(self):
        for path in [self.path] + [f"{self.path}.{k}" for k in range(1, self.options.passes)]:
            if os.path.exists(path):
                os.remove(path)

    def run(self, peer, length, ranks=1, passes=1):
        """A Sample."""
        buffer = self.options.buffer or (128 if length < 4096 else 512)
        warm = 0 if self.options.cold else 1024 if length < 4096 else 2048
        launcher = [self.options.mpirun, "-np", str(ranks)] if ranks > 1 else []
        command = launcher + [self.options.bench, self.path, peer, str(length), str(buffer), str(passes), str(warm)]
        answer = subprocess.run(command, check=True, env=self.environment, capture_output=True, text=True).stdout.split()
        return Sample(float(answer[0]), float(answer[1]), float(answer[2]), int(answer[3]), int(float(answer[4])), float(answer[5]))

    def numpy(self, length):
        tokens = min(self.options.numpy_tokens, len(self.ids))
        wall, cpu, total = numpy_count(self.ids[:tokens], length, 1 << 25)
        scale = len(self.ids) / tokens
        return Sample(wall * scale, cpu * scale, 0, total if tokens == len(self.ids) else None, 0, 0)


def median(samples, field):
    return statistics.median(getattr(sample, field) for sample in samples)


def peers_of(bench, length):
    passes = bench.options.passes
    peers = {
        "kernel": lambda: bench.run("kernel", length),
        "histogram, 32 bits": lambda: bench.run("histogram32", length),
        "kernel, add()": lambda: bench.run("kernel_one_by_one", length),
        "histogram, 64 bits": lambda: bench.run("histogram64", length),
        "read and histogram": lambda: bench.run("read_histogram", length),
        "read": lambda: bench.run("read", length),
        "read and check": lambda: bench.run("read_check", length),
        "kernel, 2 ranks": lambda: bench.run("kernel", length, 2),
        "corpus": lambda: bench.run("corpus", length),
        "corpus, 2 ranks": lambda: bench.run("corpus", length, 2),
    }
    for noise in NOISE:
        peers[noise] = lambda noise=noise: bench.run("corpus_" + noise, length)
    if passes > 1:
        for peer in ("kernel", "corpus"):
            peers[f"{peer} x {passes}"] = lambda peer=peer: bench.run(peer, length, 1, passes)
            peers[f"{peer}, 2 ranks x {passes}"] = lambda peer=peer: bench.run(peer, length, 2, passes)
    peers["numpy"] = lambda: bench.numpy(length)
    return {name: measure for name, measure in peers.items() if not name.startswith(bench.options.skip)}


def table(bench, length):
    peers = peers_of(bench, length)
    samples = {name: [] for name in peers}
    for _ in range(bench.options.repeats):
        for name, measure in peers.items():
            samples[name].append(measure())
    tokens = len(bench.ids)
    print(f"\nn = {length}, V = {V}, {tokens} tokens of 16 bits, packed; median of {bench.options.repeats}")
    print(f"{'':22} {'wall s':>8} {'cpu s':>8} {'system s':>8} {'finish s':>8} {'wall ns/token':>13} {'cpu ns/token':>13} {'spread of cpu':>14} {'MB':>6}")
    for name, taken in samples.items():
        cpus = [sample.cpu for sample in taken]
        cpu, wall = statistics.median(cpus), median(taken, "wall")
        spread = (max(cpus) - min(cpus)) / cpu if cpu > 0 else 0
        megabytes = f"{taken[0].bytes / 1e6:6.0f}" if taken[0].bytes else ""
        counted = tokens * (bench.options.passes if " x " in name else 1)
        print(f"{name:22} {wall:8.3f} {cpu:8.3f} {median(taken, 'system'):8.3f} {median(taken, 'finish'):8.3f} {wall / counted * 1e9:13.3f} "
              f"{cpu / counted * 1e9:13.3f} {spread:13.0%} {megabytes:>6}")
    ratios(samples)
    slopes(samples, tokens, bench.options.passes)
    agree(samples, tokens)


def ratios(samples):
    for clock in ("wall", "cpu"):
        time_of = {name: median(taken, clock) for name, taken in samples.items()}
        limit = min(time_of["histogram, 32 bits"], time_of["histogram, 64 bits"])
        for peer in ("kernel", "corpus"):
            if peer not in time_of:
                continue
            line = f"{clock:5} {peer}'s speed / histogram's {limit / time_of[peer]:.2f}"
            if "numpy" in time_of:
                line += f", / numpy's {time_of['numpy'] / time_of[peer]:.1f}"
            if clock == "wall":
                line += f", two ranks / one {time_of[peer] / time_of[peer + ', 2 ranks']:.2f}"
            print(line)
        if "corpus" in time_of:
            print(f"{clock:5} time / corpus's: " + ", ".join(f"{noise} {time_of[noise] / time_of['corpus']:.2f}" for noise in NOISE))


def slopes(samples, tokens, passes):
    """Wall time as fixed + slope * tokens, from the file once and several times."""
    if passes == 1:
        return
    for peer in ("kernel", "corpus"):
        if peer not in samples:
            continue
        fits = []
        for name in (peer, peer + ", 2 ranks"):
            once, often = median(samples[name], "wall"), median(samples[f"{name} x {passes}"], "wall")
            slope = (often - once) / (passes - 1)
            fits.append((once - slope, slope / tokens * 1e9))
        (fixed, slope), (fixed_2, slope_2) = fits
        long = median(samples[f"{peer} x {passes}"], "wall") / median(samples[f"{peer}, 2 ranks x {passes}"], "wall")
        print(f"{peer}: one rank {fixed:.3f} s + {slope:.3f} ns a token, two {fixed_2:.3f} s + {slope_2:.3f} ns; "
              f"two ranks / one: slopes {slope / slope_2:.2f}, {passes * tokens:.3g} tokens {long:.2f}")


def agree(samples, tokens):
    tables = {"kernel", "kernel, add()", "corpus", "corpus, 2 ranks", "numpy", *NOISE}
    totals = {name: {sample.checksum for sample in samples.get(name, []) if sample.checksum is not None} for name in tables}
    if len(set().union(*totals.values())) != 1:
        sys.exit(f"count.py: the tables differ: {totals}")
    for name in ("histogram, 32 bits", "histogram, 64 bits", "read and histogram"):
        if {sample.checksum for sample in samples[name]} != {tokens}:
            sys.exit(f"count.py: {name} lost tokens")
    print("all tables agree")


def main():
    options = arguments()
    bench = Bench(options)
    try:
        bench.generate()
        for length in options.lengths.split(","):
            table(bench, int(length))
    finally:
        bench.remove()


main()
