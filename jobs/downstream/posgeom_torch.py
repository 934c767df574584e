"""posgeom's encodings in PyTorch: load one, and put it into a Transformer.

    from posgeom_torch import PositionEncoding, load_encoding
    table = load_encoding("out/geometry-512.h5", 512, 64)              # [512, 64] float32; zero columns beyond the rank
    position = PositionEncoding("learned", 512, width=768, init=table)  # or frozen, factored, sinusoidal, rope, alibi, none
    x = position(token_embedding)                                       # [batch, n, width]
    q, k = position.rotate(q, k)                                        # rope; otherwise as they came ([batch, heads, n, d_head])
    scores = q @ k.mT * scale + position.bias(n)                        # alibi; otherwise 0

This file stands alone (torch, h5py): copy it into a trainer.
"""
import contextlib
import math
import operator
import re
import warnings
from pathlib import Path

import h5py
import numpy as np
import torch
from torch import nn

MODES = ("none", "frozen", "learned", "factored", "sinusoidal", "rope", "alibi")


class EncodingError(ValueError):
    """What was read, what was found, what was expected and what to do, in one line."""


def load_encoding(path, length, d, dtype=torch.float32, norm=None, name=None):
    """[length, d]: row = position 0 .. length-1, column = component in eigenvalue order.

    path    geometry-<n>.h5 (name: mds, the default, or signal: what stands above sampling noise) or
            stress-<n>.h5 (name: an encoding that it holds, smacof by default; others with `posgeom ... --write-encodings`)
    length  at most n: then the first positions of it
    norm    None, or the root mean square of the rows' norms that the table is scaled to (over the positions with data)
    Rows are put at their true positions; positions without data get zeros, and a warning says how many. Columns beyond the rank are zero.
    """
    path, length, d = Path(path), _whole("positions", length, path), _whole("columns", d, path)
    with _opened(path) as file:
        kind = _text(file.attrs.get("format", "none"))
        stored = int(file.attrs.get("length", 0))
        if kind == "posgeom-geometry":
            rows, position = _from_geometry(file, path, name or "mds", d)
        elif kind == "posgeom-stress":
            rows, position = _from_stress(file, path, name or "smacof", d, stored)
        else:
            raise EncodingError(f"reading an encoding from {path}: found a file of format '{kind}', expected geometry-<n>.h5 or stress-<n>.h5 of posgeom")
    if length > stored:
        raise EncodingError(f"reading an encoding from {path}: {length} positions are wanted, found {stored}; run posgeom with --lengths {length}")
    if not np.isfinite(rows).all():
        raise EncodingError(f"reading an encoding from {path}: found {int((~np.isfinite(rows)).sum())} entries that are not finite; make the file again")
    here = position < length
    rows, position = rows[here], position[here]
    if norm is not None:
        rows = rows * (norm / _rms_norm(rows, path, norm))
    table = np.zeros((length, d))
    table[position] = rows
    if len(position) < length:
        first = np.setdiff1d(np.arange(length), position)[0]
        warnings.warn(f"{path}: {length - len(position)} of {length} positions have no data (the first is {first}); their rows are zero", stacklevel=2)
    return torch.tensor(table, dtype=dtype)


def positions_with_data(path, length):
    """Boolean [length]: which rows of load_encoding(path, length, ...) come from the corpus. path is geometry-<n>.h5."""
    with _opened(Path(path)) as file:
        position = file["position"][()]
    reached = torch.zeros(length, dtype=torch.bool)
    reached[torch.as_tensor(position[position < length], dtype=torch.int64)] = True
    return reached


@contextlib.contextmanager
def _opened(path):
    """An HDF5 file to read; what is not there or damaged is an EncodingError."""
    if not path.is_file():
        raise EncodingError(f"reading an encoding from {path}: found {'a folder' if path.is_dir() else 'no such file'}, expected a file that `posgeom run` wrote")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, KeyError) as error:
        reason = str(error).strip("'\"").splitlines()[0]
        raise EncodingError(f"reading an encoding from {path}: {reason}; expected a whole file that `posgeom run` wrote: make it again") from None


def _whole(what, number, path):
    try:
        if operator.index(number) >= 1:
            return operator.index(number)
    except TypeError:
        pass
    raise EncodingError(f"reading an encoding from {path}: {number} {what} are wanted, expected a whole number above 0")


def _from_geometry(file, path, name, d):
    if name == "signal":
        if "noise/signal_encoding" not in file:
            raise EncodingError(f"reading the signal encoding from {path}: found no noise analysis; run posgeom with --noise split or all")
        rows, position = file["noise/signal_encoding"], file["noise/position"][()]
        rows = rows[:, :d]  # every component above the noise is stored: columns beyond are zero by definition
        return np.pad(rows, ((0, 0), (0, d - rows.shape[1]))), position
    if name != "mds":
        raise EncodingError(f"reading an encoding from {path}: found mds and signal, expected one of them, not '{name}' (others: stress-<n>.h5)")
    stored, rank = file["encoding"].shape[1], int(file.attrs["rank"])
    if d > stored and not 0 <= rank <= stored:
        raise EncodingError(f"reading {d} components from {path}: found {stored} of rank {rank if rank >= 0 else 'unknown'};"
                            f" run posgeom with --components {d}, or use at most {stored}")
    rows = file["encoding"][:, :d]
    return np.pad(rows, ((0, 0), (0, d - rows.shape[1]))), file["position"][()]


def _from_stress(file, path, name, d, length):
    if f"encodings/{name}" not in file:
        found = ", ".join(file["encodings"]) if "encodings" in file else "none"
        raise EncodingError(f"reading the encoding {name} from {path}: found {found}; run posgeom with --encodings {name} --write-encodings --dims {d}")
    group = file[f"encodings/{name}"]
    if str(d) not in group:
        found = ", ".join(sorted(group, key=int))
        raise EncodingError(f"reading the encoding {name} at d = {d} from {path}: found d = {found}; run posgeom with --dims {d} --write-encodings")
    rows = group[str(d)][()]
    # A kernel of the distance alone (alibi, linear) has fewer columns than d: the same distances with zeros behind.
    if rows.shape[1] > d:
        raise EncodingError(f"reading the encoding {name} at d = {d} from {path}: found {rows.shape[1]} columns; it needs d = {rows.shape[1]} or more")
    rows = np.pad(rows, ((0, 0), (0, d - rows.shape[1])))
    if len(rows) == length:
        return rows, np.arange(length)
    geometry = path.with_name(re.sub("^stress", "geometry", path.name))
    if not geometry.is_file():
        raise EncodingError(f"reading the encoding {name} from {path}: found {len(rows)} rows for {length} positions, and no {geometry} to say which; keep them together")
    with _opened(geometry) as beside:
        position = beside["position"][()]
    if len(position) != len(rows):
        raise EncodingError(f"reading the encoding {name} from {path}: found {len(rows)} rows and {len(position)} positions in {geometry}; make both again")
    return rows, position


def _rms_norm(rows, path, norm):
    size = math.sqrt((rows ** 2).sum() / max(1, len(rows)))
    if not (size > 0 and norm > 0):
        raise EncodingError(f"scaling the encoding of {path} to norm {norm}: found rows of norm {size:g}; expected both above 0; leave norm out")
    return size


def _text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def rotary_angles(length, d, base=10000.0):
    """[length, d/2]: position i times the k-th frequency base^(-2k/d)."""
    if d % 2:
        raise EncodingError(f"sinusoids and rotary pairs at d = {d}: found an odd number, expected an even one")
    frequency = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.arange(length, dtype=torch.float64)[:, None] * frequency


def sinusoidal_table(length, d, base=10000.0):
    """[length, d]: sine and cosine by turns, |row|^2 = d/2."""
    angles = rotary_angles(length, d, base)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


class PositionEncoding(nn.Module):
    """Where a token stands, for a Transformer of `width` with `heads`.

    frozen      init [length, d <= width] is added and never trained          learned    the same as parameters; without init N(0, std^2)
    factored    A B', A [length, rank], B [d, rank]: rank (length + d) parameters, at the start the best approximation of init
    sinusoidal  the fixed table of d columns                                  none       nothing
    rope        rotates queries and keys by their position                    alibi      adds -|i-j| m_k to the scores of head k
    Sequences may be shorter than `length`, not longer. A table narrower than `width` is added to the first d coordinates, so its distances are those that posgeom scores.
    Keep weight decay off these parameters (`table_parameters`): it would move rows that no token ever trains.
    """

    def __init__(self, mode, length, width, heads=1, d=None, init=None, rank=None, std=0.02, base=10000.0, generator=None):
        super().__init__()
        if mode not in MODES:
            raise EncodingError(f"position encoding: found mode '{mode}', expected one of {', '.join(MODES)}")
        self.mode, self.length, self.width = mode, length, width
        self.d = init.shape[1] if init is not None else width if d is None else d
        self.rank = None
        if init is not None and (tuple(init.shape) != (length, self.d) or mode in ("none", "sinusoidal", "rope", "alibi")):
            raise EncodingError(f"position encoding '{mode}' of {length} positions: found an initial table of shape {tuple(init.shape)}, expected"
                                + (f" [{length}, d]" if mode in ("frozen", "learned", "factored") else " none"))
        if not 1 <= self.d <= width:
            raise EncodingError(f"position encoding '{mode}': found {self.d} columns, expected 1 to the model's width, {width}; use fewer components")
        if mode == "frozen" and init is None:
            raise EncodingError("position encoding 'frozen': found no table, expected one in init")
        start = init
        if mode == "sinusoidal":
            start = sinusoidal_table(length, self.d, base).to(torch.get_default_dtype())
        elif start is None and mode in ("learned", "factored"):
            start = torch.randn(length, self.d, generator=generator) * std
        if mode in ("frozen", "sinusoidal"):
            self.register_buffer("fixed", start.clone())
        elif mode == "learned":
            self.weight = nn.Parameter(start.clone())
        elif mode == "factored":
            self._factor(start, rank)
        elif mode == "rope":
            if width % heads:
                raise EncodingError(f"rope: found width {width} and {heads} heads, expected a multiple")
            angles = rotary_angles(length, width // heads, base).repeat_interleave(2, 1)
            self.register_buffer("cosine", angles.cos().to(torch.get_default_dtype()), persistent=False)
            self.register_buffer("sine", angles.sin().to(torch.get_default_dtype()), persistent=False)
        elif mode == "alibi":
            i = torch.arange(length, dtype=torch.get_default_dtype())
            slope = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
            self.register_buffer("slopes_by_lag", -slope[:, None, None] * (i[:, None] - i).abs(), persistent=False)

    def _factor(self, start, rank):
        u, s, v = torch.linalg.svd(start.double(), full_matrices=False)
        own = max(1, int((s > 1e-6 * s[0]).sum()))  # in float32 the rank is not seen more sharply
        self.rank = own if rank is None else rank
        if not 1 <= self.rank <= len(s):
            raise EncodingError(f"position encoding 'factored': found rank {self.rank}, expected 1 to {len(s)}")
        root = s[:self.rank].sqrt()
        # Beyond the table's own rank A begins at 0 and B does not: were both 0, neither would ever have a gradient.
        idle = s[:self.rank] <= 1e-6 * s[0]
        self.a = nn.Parameter((u[:, :self.rank] * root.masked_fill(idle, 0.0)).to(start.dtype))
        self.b = nn.Parameter((v[:self.rank].T * root.masked_fill(idle, float(root[0]) or 1.0)).to(start.dtype))

    def _check(self, n):
        if n > self.length:
            raise EncodingError(f"position encoding '{self.mode}' of {self.length} positions: found a sequence of {n}; cut it, or take a table of more positions")

    def table(self):
        """[length, d], or None where positions do not enter as vectors."""
        if self.mode in ("frozen", "sinusoidal"):
            return self.fixed
        if self.mode == "learned":
            return self.weight
        return self.a @ self.b.T if self.mode == "factored" else None

    def table_parameters(self):
        return list(self.parameters())

    def forward(self, x):
        table = self.table()
        if table is None:
            return x
        self._check(x.shape[1])
        return x + nn.functional.pad(table[:x.shape[1]], (0, self.width - self.d))

    def rotate(self, q, k):
        if self.mode != "rope":
            return q, k
        self._check(q.shape[-2])
        cosine, sine = self.cosine[:q.shape[-2]], self.sine[:q.shape[-2]]

        def turn(x):
            return x * cosine + torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2) * sine
        return turn(q), turn(k)

    def bias(self, n):
        if self.mode != "alibi":
            return 0.0
        self._check(n)
        return self.slopes_by_lag[:, :n, :n]
