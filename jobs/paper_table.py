#!/usr/bin/env python3
"""The paper's claims beside what posgeom measured: reads the directories that jobs/paper.sh filled.

    paper_table.py OUT      prints a table: claim, published value, measured value, null, verdict; and writes it to OUT/paper.csv

Published: Cirrincione, arXiv:2604.05217 (2026). Null: the same quantity of the corpus whose tokens are shuffled within each document, which keeps
lengths, position totals and every document's words, and destroys order. A number that the null has too says nothing about order.
"""
import csv
import math
import sys
from pathlib import Path

import h5py

MISSING = "not run"


class Run:
    """What one output directory of `posgeom run` holds at one length."""

    def __init__(self, folder, length):
        self.attributes, self.noise, self.stress = {}, {}, {}
        with h5py.File(folder / f"geometry-{length}.h5") as file:
            self.attributes = dict(file.attrs)
            if "noise" in file:
                self.noise = dict(file["noise"].attrs)
        with h5py.File(folder / f"stress-{length}.h5") as file:
            names = [name.decode() if isinstance(name, bytes) else name for name in file["encoding_name"][()]]
            dimensions = [int(d) for d in file["dimension"][()]]
            for table in ("raw", "violation_rate", "shuffled/raw"):
                if table in file:
                    self.stress[table] = {(name, d): float(file[table][e, k]) for e, name in enumerate(names) for k, d in enumerate(dimensions)}

    def raw(self, name, d, table="raw"):
        return self.stress.get(table, {}).get((name, d), math.nan)

    def shuffled(self, name, d):
        return self.raw(name, d, "shuffled/raw")


def close(measured, published, relative):
    return abs(measured - published) <= relative * abs(published)


def number(value):
    if isinstance(value, str):
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.6g}"


def verdict(good, null, measured, caveat="shuffled text has the same"):
    """Reproduced or not; and whether the null says the same within a tenth."""
    words = "reproduced" if good else "NOT reproduced"
    known = isinstance(null, (int, float)) and not math.isnan(null) and isinstance(measured, (int, float))
    if known and abs(null - measured) <= 0.1 * abs(measured):
        words += f"; {caveat}: no sign of order"
    return words


def synthetic(exact, sampled):
    rank, noisy = int(exact.attributes["rank"]), int(sampled.attributes["rank"])
    signal = int(sampled.noise.get("signal_rank", -1))
    mds, sinusoidal = exact.raw("mds", 128), exact.raw("sinusoidal", 128)
    full, factored = 32 * 128, rank * (32 + 128)
    return [
        ("synthetic, 3 components: rank", "3", rank, int(exact.noise.get("shuffled_rank", -1)), verdict(rank == 3, math.nan, rank)),
        ("  the same, 1000 tokens a component: rank", "3", noisy, int(sampled.noise.get("shuffled_rank", -1)),
         f"{verdict(noisy == 3, math.nan, noisy)}: sampling noise makes every position independent; signal rank {signal}"),
        ("  parameters of A B', of n d", "480 of 4096 (-88 %)", f"{factored} of {full} ({100 * (factored / full - 1):.0f} %)", "-",
         verdict(factored == 480, math.nan, factored)),
        ("  MDS stress below sinusoidal, d = 128", "99.8 %", f"{100 * (1 - mds / sinusoidal):.4g} %", "-",
         verdict(mds / sinusoidal <= 0.002, math.nan, mds) + "; with d >= rank MDS is exact, so this holds for any corpus"),
    ]


def sst2(run):
    rank, violations = int(run.attributes["rank"]), float(run.attributes["corpus_violation_rate"])
    null_rank = int(run.noise.get("shuffled_rank", -1))
    null_violations = float(run.noise.get("shuffled_violation_rate", math.nan))
    rows = [
        ("SST-2: rank", "64", rank, null_rank, verdict(rank == 64, null_rank, rank, "shuffled text has the same rank (the longest sentence has 64 tokens)")),
        ("  trace of B (n times it: sum H^2)", "-", float(run.attributes["trace"]), float(run.noise.get("shuffled_trace", math.nan)),
         "the null's share: " + number(100 * float(run.noise.get("shuffled_trace", math.nan)) / float(run.attributes["trace"])) + " %"),
    ]
    for name, published in (("sinusoidal", 272), ("rope", 279), ("alibi", 0.563)):
        value = run.raw(name, 768)
        rows.append((f"  {name} raw stress, d = 768", number(published), value, run.shuffled(name, 768),
                     verdict(close(value, published, 0.01), run.shuffled(name, 768), value)))
    rows += [
        ("  MDS raw stress at d = 64", "-> 0", run.raw("mds", 64), run.shuffled("mds", 64),
         verdict(run.raw("mds", 64) < 1e-9, math.nan, 0.0) + "; exact for any corpus at d >= rank"),
        ("  MDS monotonicity violations", "22 %", 100 * run.raw("mds", 64, "violation_rate"), 100 * null_violations,
         verdict(close(100 * run.raw("mds", 64, "violation_rate"), 22, 0.03), 100 * null_violations, 100 * violations)),
        ("  random encoding's violations", "50 %", 100 * run.raw("random", 768, "violation_rate"), "-",
         verdict(close(100 * run.raw("random", 768, "violation_rate"), 50, 0.05), math.nan, 50) + "; 50 % is the mean over seeds"),
        ("  premise of Conjecture 5: H grows with |i - j|", "assumed", f"fails on {100 * violations:.4g} % of triples", f"{100 * null_violations:.4g} %",
         "the premise does not hold" if violations > 0 else "holds"),
        ("  signal rank above sampling noise", "-", int(run.noise.get("signal_rank", -1)), "-", "of it above shuffled text: "
         + number(int(run.noise.get("signal_rank_order", -1)))),
    ]
    return rows


def imdb(run):
    rank, null_rank = int(run.attributes["rank"]), int(run.noise.get("shuffled_rank", -1))
    violations, null_violations = float(run.attributes["corpus_violation_rate"]), float(run.noise.get("shuffled_violation_rate", math.nan))
    trace, null_trace = float(run.attributes["trace"]), float(run.noise.get("shuffled_trace", math.nan))
    rows = [
        ("IMDB: rank", "254", rank, null_rank, verdict(rank == 254, null_rank, rank, "shuffled text has the same rank (as many positions are reached)")),
        ("  trace of B", "-", trace, null_trace, f"the null's share: {number(100 * null_trace / trace)} %"),
    ]
    for name, d in (("mds", 2), ("mds", 8), ("mds", 254), ("sinusoidal", 768), ("rope", 768), ("alibi", 768), ("linear", 768), ("random", 768)):
        rows.append((f"  {name} raw stress, d = {d}", "-", run.raw(name, d), run.shuffled(name, d), ""))
    rows += [
        ("  premise of Conjecture 5: H grows with |i - j|", "assumed", f"fails on {100 * violations:.4g} % of triples", f"{100 * null_violations:.4g} %",
         "the premise does not hold" if violations > 0 else "holds"),
        ("  signal rank above sampling noise", "-", int(run.noise.get("signal_rank", -1)), "-", "of it above shuffled text: "
         + number(int(run.noise.get("signal_rank_order", -1)))),
    ]
    return rows


def main(out):
    out = Path(out)
    if not out.is_dir():
        sys.exit(f"paper_table.py: there is no directory '{out}'; jobs/paper.sh fills one")
    rows = []
    for title, folders, length, table in (("synthetic", ("synthetic-3", "synthetic-3000"), 32, synthetic), ("SST-2", ("sst2",), 128, sst2),
                                          ("IMDB", ("imdb",), 256, imdb)):
        if all((out / folder / f"stress-{length}.h5").exists() for folder in folders):
            rows += table(*(Run(out / folder, length) for folder in folders))
        else:
            rows.append((title, MISSING, "-", "-", "jobs/paper.sh --help says which data it needs"))
    heading = ("claim", "published", "measured", "null (shuffled)", "verdict")
    cells = [heading] + [tuple(number(cell) for cell in row) for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(4)]
    for row in cells:
        print("  ".join([cell.ljust(width) for cell, width in zip(row, widths)] + [row[4]]).rstrip())
    with open(out / "paper.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[cell.strip() for cell in row] for row in cells])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main(sys.argv[1])
