#!/usr/bin/env python3
"""posgeom plan against what the stages take: memory and time of count, embed, stress and bootstrap, case by case.

    plan.py POSGEOM DIRECTORY [--cases NAME,...] [--case "NAME=OPTIONS"]... [--ranks 1,2] [--synth-documents N] [--novels PATH] [--reviews PATH]
            [--vocab FILE] [--csv FILE] [--stored]

For each case and rank count `posgeom plan --calibrate` (--stored: without) is asked, then the stages run as commands of their own with the same
options, in DIRECTORY. A line a stage: MiB predicted and measured (the peak of the fullest rank), seconds predicted and measured. Measured
seconds are the CPU seconds of all ranks by the ranks: on a machine with other work the wall time says little; it stands in the CSV. A ratio is
predicted / measured. "ok": memory within 15 % or 20 MiB, time within a factor of 2 or 0.5 s.

kjv-*     the King James text, n = 32: all defaults; smacof; --noise none; --bootstrap 20
synth-*   a synthetic corpus, packed: n = 2048 and 4096, d up to 64, without noise; smacof; krylov; the noise analysis; --write-encodings
novels-*  with --novels and --vocab: text in WordPieces, packed, n = 1024 and 2048; the noise analysis at 1024
reviews-* with --reviews, a TSV with a column `text`, and --vocab: documents of WordPieces, n = 64 and 254, all defaults, the latter also without
          noise; packed, n = 1024. No constant of the plan was fitted to these
--case    one more: the options of `posgeom run` as the shell would split them
"""
import argparse
import csv
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
STAGES = ("count", "embed", "stress", "bootstrap")
NAMES = ["case", "stage", "ranks", "predicted_mib", "measured_mib", "memory_ratio", "predicted_s", "cpu_s", "wall_s", "time_ratio", "verdict"]
MEMORY = 8 << 30


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posgeom")
    parser.add_argument("directory")
    parser.add_argument("--cases", help="names, or their beginnings", type=lambda text: text.split(","))
    parser.add_argument("--ranks", default="1,2", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--synth-documents", type=int, default=4000, help="of about 2000 tokens")
    parser.add_argument("--novels", help="long documents, one a line")
    parser.add_argument("--reviews", help="TSV with a header line and a column `text`")
    parser.add_argument("--vocab", help="BERT vocab.txt for them")
    parser.add_argument("--case", action="append", default=[], help="NAME=OPTIONS")
    parser.add_argument("--csv")
    parser.add_argument("--stored", action="store_true", help="stored figures, no --calibrate")
    parser.add_argument("--mpirun", default="mpirun")
    return parser.parse_args()


def cases(options):
    kjv = ["--corpus", os.path.join(SOURCE, "tests/data/kjv.txt.xz"), "--lengths", "32"]
    four = ["--encodings", "mds,sinusoidal,alibi,random"]
    smacof = ["--encodings", "mds,sinusoidal,alibi,random,smacof", "--dims", "2,16"]
    synth = ["--corpus", os.path.join(options.directory, "synth/tokens.bin"), "--format", "megatron", "--vocab-size", "30000"]
    synth += ["--sequences", "packed"]
    dims = ["--dims", "1,2,4,8,16,32,64"]
    quiet = ["--noise", "none"]
    found = {
        "kjv-default": kjv,
        "kjv-quiet": kjv + four + quiet,
        "kjv-smacof": kjv + smacof,
        "kjv-bootstrap": kjv + four + quiet + ["--bootstrap", "20", "--bootstrap-alpha", "0.1"],
        "synth-2048": synth + four + dims + quiet + ["--lengths", "2048"],
        "synth-4096": synth + four + dims + quiet + ["--lengths", "4096"],
        "synth-2048-noise": synth + four + dims + ["--noise", "all", "--lengths", "2048"],
        "synth-2048-smacof": synth + smacof + quiet + ["--lengths", "2048"],
        "synth-2048-krylov": synth + four + dims + quiet + ["--lengths", "2048", "--solver", "krylov", "--spectrum", "leading"],
        "synth-2048-stored": synth + four + dims + quiet + ["--lengths", "2048", "--write-encodings"],
        "synth-2048-all": synth + four + quiet + ["--lengths", "2048"],
        "synth-1024-bootstrap": synth + four + dims + quiet + ["--lengths", "1024", "--bootstrap", "20", "--bootstrap-alpha", "0.1"],
    }
    if options.novels:
        novels = ["--corpus", options.novels, "--tokenizer", "wordpiece", "--vocab", options.vocab, "--sequences", "packed"]
        for length in ("1024", "2048"):
            found[f"novels-{length}"] = novels + four + dims + quiet + ["--lengths", length]
        found["novels-1024-noise"] = novels + four + dims + ["--noise", "all", "--lengths", "1024"]
    if options.reviews:
        reviews = ["--corpus", options.reviews, "--format", "tsv", "--header", "--column", "text", "--max-tokens", "254"]
        reviews += ["--tokenizer", "wordpiece", "--vocab", options.vocab]
        found["reviews-64"] = reviews + ["--lengths", "64"]
        found["reviews-254"] = reviews + ["--lengths", "254"]
        found["reviews-254-quiet"] = reviews + quiet + ["--lengths", "254"]
        found["reviews-packed"] = reviews + four + dims + ["--sequences", "packed", "--lengths", "1024"]
    for case in options.case:
        name, _, words = case.partition("=")
        found[name] = shlex.split(words)
    if options.cases:
        found = {name: case for name, case in found.items() if any(name.startswith(wanted) for wanted in options.cases)}
    return found


def seconds(text):
    value, unit = text.split()
    return float(value) * {"s": 1, "min": 60, "h": 3600}[unit]


class Bench:
    def __init__(self, options):
        self.options = options
        os.makedirs(options.directory, exist_ok=True)
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
                                OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none")
        self.rows = []

    def command(self, ranks, *words):
        """What it printed, the CPU seconds of a rank, wall seconds."""
        launcher = [self.options.mpirun, "-np", str(ranks)] if ranks > 1 else []
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(launcher + [self.options.posgeom, *words], env=self.environment, capture_output=True, text=True)
        wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"plan.py: {' '.join(words)}: {(done.stderr.strip() or done.stdout.strip())[-600:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done.stdout, cpu / ranks, wall

    def predicted(self, case, ranks):
        how = [] if self.options.stored else ["--calibrate"]
        text, cpu, _ = self.command(1, "plan", *case, "--ranks", str(ranks), *how)
        need = {}
        for line in text.splitlines():
            if line.startswith("count, "):
                need["count"] = re.search(r": (\d+) MiB, ([\d.e+]+ \w+)", line).groups()
            if re.match(r"n=\d+ ", line):
                need.update({stage: (mib, time) for stage, mib, time in re.findall(r"(\w+) (\d+) MiB ([\d.e+]+ \w+)", line)})
        return {stage: (int(mib), seconds(time)) for stage, (mib, time) in need.items()}, cpu, text

    def measure(self, name, case, ranks):
        case = case + ["--memory", str(MEMORY), "--threads", "1"]
        need, cpu, said = self.predicted(case, ranks)
        print(f"{name}, {ranks} rank{'s' if ranks > 1 else ''}: plan took {cpu:.2g} s", flush=True)
        if not {"count", "embed", "stress"} <= set(need):
            sys.exit(f"plan.py: cannot read what posgeom plan printed:\n{said}")
        out = os.path.join(self.options.directory, "out")
        shutil.rmtree(out, ignore_errors=True)
        for stage in STAGES:
            if stage == "bootstrap" and "--bootstrap" not in case:
                continue
            # The bootstrap is the part of `run` that is left where everything else is there.
            text, cpu, wall = self.command(ranks, "run" if stage == "bootstrap" else stage, *case, "--out", out)
            peak = int(re.search(r"peak memory (\d+) MiB", text).group(1))
            mib, planned = need.get(stage, (0, 0.0))
            memory_ok = abs(mib - peak) <= max(0.15 * peak, 20)
            time_ok = abs(planned - cpu) <= 0.5 or 0.5 <= planned / cpu <= 2
            verdict = "ok" if memory_ok and time_ok else " ".join(["memory"] * (not memory_ok) + ["time"] * (not time_ok))
            row = [name, stage, ranks, mib, peak, round(mib / peak, 2), planned, round(cpu, 2), round(wall, 2), round(planned / cpu, 2), verdict]
            self.rows.append(row)
            print(f"  {stage:10} {mib:7} MiB predicted {peak:7} measured {mib / peak:6.2f}   {planned:8.2f} s predicted {cpu:8.2f} measured "
                  f"{planned / cpu:6.2f}   {verdict}", flush=True)
        shutil.rmtree(out, ignore_errors=True)


def main():
    options = arguments()
    wanted = cases(options)
    bench = Bench(options)
    if any(name.startswith("synth") for name in wanted):
        bench.command(1, "synth", "--force", "--synth-kind", "drift", "--synth-positions", "4096", "--synth-vocab", "30000", "--synth-documents",
                      str(options.synth_documents), "--synth-lengths", "uniform:1:4096", "--out", os.path.join(options.directory, "synth"))
    for name, case in wanted.items():
        for ranks in options.ranks:
            bench.measure(name, case, ranks)
    good = sum(row[-1] == "ok" for row in bench.rows)
    print(f"{good} of {len(bench.rows)} stages within the bounds")
    if options.csv:
        with open(options.csv, "w", newline="") as f:
            csv.writer(f).writerows([NAMES, *bench.rows])


if __name__ == "__main__":
    main()
