"""posgeom's stress of the tables that training left: `posgeom stress` on the sweep's counts and geometry, in a folder of its own."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np

from series import read_series

MEASURES = ("raw", "scaled", "violation_rate", "min_separation")


class ScoreError(RuntimeError):
    """What posgeom said, in one line."""


def posgeom_stress(program, folder, length, d, encodings):
    """None, or posgeom's error line."""
    words = [program, "stress", "--out", str(folder), "--lengths", str(length), "--dims", str(d), "--encodings", ",".join(encodings), "--noise", "none", "--progress", "none"]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.startswith("posgeom: error: ")]
    return lines[0] if lines else f"{program} ended with {done.returncode}: {done.stderr.strip()[-300:]}"


def as_series(runs, trained):
    return [f"{safe_name(run)}=file:{Path(trained) / run / 'position_table.h5'}:/position_table" for run in runs]


def as_slices(runs, trained, folder, steps):
    """The same steps as matrices in .npy files, under the names that a series has: RUN.step000100."""
    names = []
    for run in runs:
        at, tables = read_series(Path(trained) / run / "position_table.h5")
        for step, table in zip(at, tables):
            if steps == "all" or step == at[-1]:
                name = f"{safe_name(run)}.step{step:06d}"
                np.save(folder / f"{name}.npy", table.astype(np.float64))
                names.append(f"{name}=file:{folder / name}.npy")
    return names


def safe_name(run):
    return re.sub(r"[^A-Za-z0-9_.-]", "_", run)


def score_tables(program, sweep, trained, runs, length, folder, steps="last"):
    """{run: [{step, raw, scaled, violation_rate, min_separation}, ...]}, steps ascending. runs: {name: d}.

    steps: last, or all: as a series where this posgeom reads one, else cut into matrices here."""
    scores, folder = {}, Path(folder)
    for d in sorted(set(runs.values())):
        part = folder / f"d{d}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for name in ("counts.h5", f"geometry-{length}.h5"):
            if not (Path(sweep) / name).is_file():
                raise ScoreError(f"scoring tables: found no {Path(sweep) / name}, expected what `posgeom run --lengths {length}` wrote")
            os.symlink((Path(sweep) / name).resolve(), part / name)
        names = [run for run in runs if runs[run] == d]
        # The first alone: does this posgeom read a series?
        if steps != "all" or posgeom_stress(program, part, length, d, as_series(names[:1], trained)):
            failed = posgeom_stress(program, part, length, d, as_slices(names, trained, part, steps))
        else:
            failed = posgeom_stress(program, part, length, d, as_series(names, trained))
        if failed:
            raise ScoreError(f"scoring tables of d = {d} in {part}: {failed}")
        with h5py.File(part / f"stress-{length}.h5") as file:
            rows = {name.decode(): row for row, name in enumerate(file["encoding_name"][()])}
            column = list(file["dimension"][()]).index(d)
            for run in names:
                prefix = safe_name(run) + ".step"
                found = sorted((int(name[len(prefix):]), row) for name, row in rows.items() if name.startswith(prefix))
                scores[run] = [{"step": step, **{measure: float(file[measure][row, column]) for measure in MEASURES}} for step, row in found]
    return scores
