#!/usr/bin/python3
"""The runs of a grid: encodings x dimensions x seeds, from an INI file (configs/downstream-kjv.ini has every key).

    grid.py CONFIG list              a line a run: its number and its options
    grid.py CONFIG count             how many
    grid.py CONFIG run I             the I-th, as a task of a Slurm array does (jobs/downstream/train.sbatch)
    grid.py CONFIG all [--jobs 2]    every one, so many beside each other, each on its share of the cores
    --set KEY=VALUE                  beats the file's key; repeatable
Exit codes as train.py: with `all` that of the first run that failed, 75 where runs were stopped. Runs that are finished are not repeated.
"""
import argparse
import configparser
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TRAIN = Path(__file__).with_name("train.py")
LISTS = ("encodings", "d", "seeds", "norm", "rank")
SWITCHES = ("adjacent", "causal", "keep-model")
VALUES = ("tokens", "posgeom", "raw-bits", "separator", "length", "shortest", "documents", "top", "held", "task", "labels", "label-column", "steps", "batch", "lr",
          "width", "layers", "heads", "feed", "checkpoints", "keep-every", "out", "progress")
ALONE = ("none", "rope", "alibi")


class GridError(ValueError):
    """Which key of which file, what was found, what was expected, in one line."""


def read_grid(path, overrides=()):
    """The keys of section [grid]."""
    reader = configparser.ConfigParser(inline_comment_prefixes=None, interpolation=None)
    if not reader.read(path, encoding="utf-8"):
        raise GridError(f"reading a grid from {path}: found no such file, expected an INI file as configs/downstream-kjv.ini")
    if not reader.has_section("grid"):
        raise GridError(f"reading a grid from {path}: found the sections {', '.join(reader.sections()) or 'none'}, expected [grid]")
    keys = dict(reader["grid"])
    for pair in overrides:
        key, _, value = pair.partition("=")
        keys[key] = value
    for key in keys:
        if key not in LISTS + SWITCHES + VALUES:
            raise GridError(f"reading a grid from {path}: found the key '{key}', expected one of {', '.join(LISTS + SWITCHES + VALUES)}")
    for key in ("tokens", "length", "encodings"):
        if not keys.get(key):
            raise GridError(f"reading a grid from {path}: found no '{key}', expected it in [grid]")
    return keys


def listed(keys, name):
    return [word.strip() for word in keys.get(name, "").split(",") if word.strip()]


def runs_of(keys):
    """The command lines of all runs, in a fixed order. An encoding is NAME or NAME:MODE; what has no table takes no d, norm or rank, `factored`
    alone takes a rank, and sinusoids skip odd dimensions."""
    common = [word for key in VALUES if keys.get(key) for word in (f"--{key}", keys[key])]
    common += [f"--{key}" for key in SWITCHES if keys.get(key, "off") in ("on", "true", "yes", "1")]
    runs = []
    for entry in listed(keys, "encodings"):
        name, _, mode = entry.partition(":")
        for d in [None] if name in ALONE else listed(keys, "d") or [None]:
            if name == "sinusoidal" and d and int(d) % 2:
                continue
            for norm in [None] if name in ALONE else listed(keys, "norm") or [None]:
                for rank in listed(keys, "rank") or [None] if mode == "factored" else [None]:
                    for seed in listed(keys, "seeds") or ["1"]:
                        chosen = {"encoding": name, "mode": mode, "d": d, "norm": None if norm == "own" else norm, "rank": rank, "seed": seed}
                        runs.append(common + [word for key, value in chosen.items() if value for word in (f"--{key}", value)])
    return runs


def run_all(runs, jobs):
    """Every run in a process of its own; what stops this program (ctrl-C too, which reaches them by itself) stops them, and is waited for."""
    waiting, working, worst, stopped = list(enumerate(runs)), {}, 0, []
    cores = int(os.environ.get("SLURM_CPUS_PER_TASK") or os.cpu_count() or 1)
    environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS") or str(max(1, cores // jobs))}
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.append(1))
    while waiting or working:
        while waiting and len(working) < jobs and not stopped:
            number, arguments = waiting.pop(0)
            lines = [] if "--progress" in arguments or jobs == 1 else ["--progress", "log"]  # bars would overwrite each other
            working[number] = subprocess.Popen([sys.executable, str(TRAIN), *arguments, *lines], env=environment)
        if stopped:
            waiting = []
            for process in working.values():
                process.send_signal(signal.SIGTERM)
            stopped.clear()
            worst = worst or 75
        for number in [n for n, process in working.items() if process.poll() is not None]:
            status = working.pop(number).returncode
            if status:
                print(f"grid: run {number} ended with {status}: train.py {' '.join(runs[number])}", file=sys.stderr)
                worst = worst or status
        time.sleep(0.1)
    return worst


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("config")
    p.add_argument("what", choices=("list", "count", "run", "all"))
    p.add_argument("number", nargs="?", type=int)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    options = p.parse_args()
    runs = runs_of(read_grid(options.config, options.set))
    if options.what == "list":
        for number, arguments in enumerate(runs):
            print(number, *arguments)
    elif options.what == "count":
        print(len(runs))
    elif options.what == "all":
        return run_all(runs, max(1, options.jobs))
    else:
        if options.number is None or not 0 <= options.number < len(runs):
            raise GridError(f"run of {options.config}: found the number {options.number}, expected 0 to {len(runs) - 1}")
        os.execv(sys.executable, [sys.executable, str(TRAIN), *runs[options.number]])  # signals reach the trainer itself
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except GridError as error:
        print(f"grid: error: {error}", file=sys.stderr)
        sys.exit(1)
