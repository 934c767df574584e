#!/usr/bin/env python3
"""The count benchmark: one run, one token file in the page cache, one table.

    count.py COUNT_BENCH DIRECTORY [--tokens 409600000] [--lengths 64,1024,16384] [--repeats 5] [--mpirun mpirun]

kernel      PositionTable end to end from the file: reads of 1 MiB, range check, count, flush
corpus      count_corpus: the corpus's reader, the kernel, and the hand-over of the rows between ranks
histogram   one histogram of 65536 counters of the same ids, already in memory: the practical limit of one core
numpy       one np.bincount over position * V + id a block of sequences, ids in memory (positions in parts where a table would be too large)
read        the reads alone
Times are medians; the peers take turns, since a shared machine is not the same from one minute to the next. Spread: (max - min) / median.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

V = 50257


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("directory", nargs="?", default=os.environ.get("TMPDIR", "/tmp"))
    parser.add_argument("--tokens", type=int, default=409600000)
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


class Bench:
    def __init__(self, options):
        self.options = options
        self.path = os.path.join(options.directory, "count_bench_tokens.bin")
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")

    def generate(self):
        subprocess.run([self.options.bench, self.path, "generate", str(self.options.tokens)], check=True, env=self.environment)
        self.ids = np.fromfile(self.path, dtype=np.uint16)

    def run(self, peer, length, ranks=1):
        """wall, cpu, checksum, bytes."""
        buffer = self.options.buffer or (128 if length < 4096 else 512)
        launcher = [self.options.mpirun, "-np", str(ranks)] if ranks > 1 else []
        command = launcher + [self.options.bench, self.path, peer, str(length), str(buffer)]
        answer = subprocess.run(command, check=True, env=self.environment, capture_output=True, text=True).stdout.split()
        return float(answer[0]), float(answer[1]), int(answer[2]), int(float(answer[3]))

    def numpy(self, length):
        tokens = min(self.options.numpy_tokens, len(self.ids))
        wall, cpu, total = numpy_count(self.ids[:tokens], length, 1 << 25)
        scale = len(self.ids) / tokens
        return wall * scale, cpu * scale, total if tokens == len(self.ids) else None, 0


def median(samples, k):
    return statistics.median(sample[k] for sample in samples)


def table(bench, length):
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
        "numpy": lambda: bench.numpy(length),
    }
    peers = {name: measure for name, measure in peers.items() if not name.startswith(bench.options.skip)}
    samples = {name: [] for name in peers}
    for _ in range(bench.options.repeats):
        for name, measure in peers.items():
            samples[name].append(measure())
    tokens = len(bench.ids)
    print(f"\nn = {length}, V = {V}, {tokens} tokens of 16 bits, packed; median of {bench.options.repeats}")
    print(f"{'':20} {'wall s':>8} {'cpu s':>8} {'cpu ns/token':>13} {'spread of cpu':>14} {'MB':>6}")
    for name, taken in samples.items():
        cpus = [sample[1] for sample in taken]
        cpu = statistics.median(cpus)
        spread = (max(cpus) - min(cpus)) / cpu if cpu > 0 else 0
        megabytes = f"{taken[0][3] / 1e6:6.0f}" if taken[0][3] else ""
        print(f"{name:20} {median(taken, 0):8.3f} {cpu:8.3f} {cpu / tokens * 1e9:13.3f} {spread:13.0%} {megabytes:>6}")
    ratios(samples)
    agree(samples, tokens)


def ratios(samples):
    for k, clock in ((0, "wall"), (1, "cpu")):
        time_of = {name: median(taken, k) for name, taken in samples.items()}
        limit = min(time_of["histogram, 32 bits"], time_of["histogram, 64 bits"])
        for peer in ("kernel", "corpus"):
            if peer not in time_of:
                continue
            line = f"{clock:5} {peer}'s speed / histogram's {limit / time_of[peer]:.2f}"
            if "numpy" in time_of:
                line += f", / numpy's {time_of['numpy'] / time_of[peer]:.1f}"
            if k == 0:
                line += f", two ranks / one {time_of[peer] / time_of[peer + ', 2 ranks']:.2f}"
            print(line)


def agree(samples, tokens):
    tables = {"kernel", "kernel, add()", "corpus", "corpus, 2 ranks", "numpy"}
    totals = {name: {sample[2] for sample in samples.get(name, []) if sample[2] is not None} for name in tables}
    if len(set().union(*totals.values())) != 1:
        sys.exit(f"count.py: the tables differ: {totals}")
    for name in ("histogram, 32 bits", "histogram, 64 bits", "read and histogram"):
        if {sample[2] for sample in samples[name]} != {tokens}:
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
        if os.path.exists(bench.path):
            os.remove(bench.path)


main()
