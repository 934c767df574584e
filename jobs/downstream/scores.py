"""posgeom's stress of the tables that training left, at every checkpoint: `posgeom stress` on the sweep's counts and geometry, in a folder of its own."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np

MEASURES = ("raw", "scaled", "violation_rate", "min_separation")
NULL_MEASURES = ("raw", "scaled")  # against shuffled text, under null_raw and null_scaled


class ScoreError(RuntimeError):
    """What posgeom said, in one line."""


def posgeom_stress(program, folder, length, d, encodings, noise):
    words = [program, "stress", "--out", str(folder), "--lengths", str(length), "--dims", str(d), "--encodings", ",".join(encodings), "--noise", noise, "--progress", "none"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise ScoreError(f"scoring tables with {program}: {error.strerror}; name the program with --posgeom") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("posgeom: error: ")]
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise ScoreError(f"scoring tables of d = {d} in {folder}: {lines[0] if lines else f'{program} ended with {done.returncode}, and said: {last[-300:]}'}")


def safe_name(run):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", run)


def has_shuffled(counts, length):
    with h5py.File(counts, "r") as file:
        return "counts_shuffled" in file or f"length_{length}/counts_shuffled" in file


def read_scores(path, run, d):
    """A dictionary a checkpoint, steps ascending."""
    with h5py.File(path, "r") as file:
        names, column = list(file["encoding_name"].asstr()[()]), list(file["dimension"][()]).index(d)
        found = []
        for row in [k for k, name in enumerate(names) if re.fullmatch(re.escape(safe_name(run)) + r"\.step\d+", name)]:
            score = {"step": int(names[row].rpartition(".step")[2]), **{name: float(file[name][row, column]) for name in MEASURES}}
            score |= {f"null_{name}": float(file[f"shuffled/{name}"][row, column]) if "shuffled" in file else np.nan for name in NULL_MEASURES}
            found.append(score)
    return sorted(found, key=lambda score: score["step"])


def score_tables(program, sweep, trained, runs, length, folder):
    """{run: [{step, raw, scaled, violation_rate, min_separation, null_raw, null_scaled}, ...]}, steps ascending. runs: {name: d}."""
    sweep, trained, scores = Path(sweep), Path(trained), {}
    for name in ("counts.h5", f"geometry-{length}.h5"):
        if not (sweep / name).is_file():
            raise ScoreError(f"scoring tables: found no {sweep / name}, expected what `posgeom run --lengths {length}` wrote")
    noise = "shuffle" if has_shuffled(sweep / "counts.h5", length) else "none"
    for d in sorted(set(runs.values())):
        part = Path(folder) / f"d{d}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for name in ("counts.h5", f"geometry-{length}.h5"):
            os.symlink((sweep / name).resolve(), part / name)
        names = [run for run in runs if runs[run] == d]
        posgeom_stress(program, part, length, d, [f"{safe_name(run)}=file:{trained / run / 'position_table.h5'}:/position_table" for run in names], noise)
        scores |= {run: read_scores(part / f"stress-{length}.h5", run, d) for run in names}
    return scores
