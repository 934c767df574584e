"""Files that training leaves: the series of position tables (HDF5), the state that a stopped run goes on from, and the line of results.
Each is written beside its name and renamed, so that a file that exists is complete."""
import json
import os
from pathlib import Path

import h5py
import numpy as np
import torch


def replace(path, write):
    """write(partial path), then the rename."""
    partial = Path(f"{path}.partial")
    write(partial)
    with open(partial, "rb") as file:
        os.fsync(file.fileno())
    os.replace(partial, path)


def write_series(path, steps, tables, attributes):
    """/position_table [steps, n, d], a chunk a step, with /step [steps] and /position [n] as its dimension scales: xarray has named axes, and
    `posgeom stress --encodings NAME=file:PATH:/position_table` reads it."""
    tables = np.asarray(tables)

    def write(partial):
        with h5py.File(partial, "w") as file:
            table = file.create_dataset("position_table", data=tables, chunks=(1, *tables.shape[1:]))
            scales = {"step": np.asarray(steps, np.int64), "position": np.arange(tables.shape[1], dtype=np.int32)}
            for axis, (name, values) in enumerate(scales.items()):
                file.create_dataset(name, data=values).make_scale(name)
                table.dims[axis].attach_scale(file[name])
                table.dims[axis].label = name
            file.create_dataset("component", data=np.arange(tables.shape[2], dtype=np.int32)).make_scale("component")
            table.dims[2].attach_scale(file["component"])
            table.dims[2].label = "component"
            file.attrs["format"] = "posgeom-training"
            for name, value in attributes.items():
                file.attrs[name] = "none" if value is None else value
    replace(path, write)


def read_series(path):
    """(steps [s], tables [s, n, d])."""
    with h5py.File(path, "r") as file:
        return file["step"][()], file["position_table"][()]


def write_state(path, state):
    replace(path, lambda partial: torch.save(state, partial))


def write_result(path, result):
    """One line of JSON; what is not a number becomes null, which JSON can say."""
    clean = {name: None if isinstance(value, float) and not np.isfinite(value) else value for name, value in result.items()}
    replace(path, lambda partial: partial.write_text(json.dumps(clean) + "\n"))


def read_results(folder):
    """The results of all finished runs below `folder`, in order of their names."""
    return [json.loads(path.read_text()) for path in sorted(Path(folder).glob("**/result.json"))]
