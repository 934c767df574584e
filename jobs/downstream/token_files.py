"""Reads what `posgeom tokenize` writes: Megatron PREFIX.bin with PREFIX.idx, or raw ids."""
from pathlib import Path

import numpy as np

MAGIC = b"MMIDIDX\0\0"
DTYPES = {1: np.uint8, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 8: np.uint16}


class DataError(ValueError):
    """What was read, what was found, what was expected and what to do, in one line."""


def read_documents(path, raw_bits=None, separator=None):
    """(ids int64 [T], start int64 [documents + 1]). path: .bin or .idx of a Megatron file; with raw_bits (16, 32) ids without header,
    where `separator` ends a document."""
    path = Path(path)
    if raw_bits:
        return _read_raw(path, raw_bits, separator)
    index, data = path.with_suffix(".idx"), path.with_suffix(".bin")
    for file in (index, data):
        if not file.is_file():
            raise DataError(f"reading tokens from {path}: found no {file}, expected the .bin and .idx of `posgeom tokenize` (ids without an index need --raw-bits)")
    head = index.read_bytes()
    if head[:9] != MAGIC or len(head) < 34:
        raise DataError(f"reading tokens from {index}: found {head[:9]!r}, expected the magic MMIDIDX of a Megatron index; write it with `posgeom tokenize`")
    version, kind = int.from_bytes(head[9:17], "little"), head[17]
    sequences, bounds = (int.from_bytes(head[at:at + 8], "little") for at in (18, 26))
    if version != 1 or kind not in DTYPES:
        raise DataError(f"reading tokens from {index}: found version {version} and dtype {kind}, expected version 1 and an integer dtype; write it again")
    expected = 34 + 12 * sequences + 8 * bounds
    if len(head) not in (expected, expected + sequences):
        raise DataError(f"reading tokens from {index}: found {len(head)} bytes, expected {expected} for {sequences} sequences; the file is truncated: write it again")
    lengths = np.frombuffer(head, "<i4", sequences, 34).astype(np.int64)
    documents = np.frombuffer(head, "<i8", bounds, 34 + 12 * sequences)
    ids = np.fromfile(data, DTYPES[kind]).astype(np.int64)
    start = np.concatenate(([0], np.cumsum(lengths)))
    if start[-1] != len(ids) or len(documents) == 0 or documents[0] != 0 or documents[-1] != sequences or (np.diff(documents) < 0).any():
        raise DataError(f"reading tokens from {data}: found {len(ids)} ids, expected the {start[-1]} of {index}; write both again")
    return ids, start[documents]


def _read_raw(path, bits, separator):
    if not path.is_file():
        raise DataError(f"reading tokens from {path}: found no such file, expected ids of {bits} bits")
    size = path.stat().st_size
    if bits not in (16, 32) or size % (bits // 8):
        raise DataError(f"reading tokens from {path}: found {size} bytes, expected a multiple of {bits // 8}; --raw-bits is 16 or 32")
    if separator is None:
        raise DataError(f"reading tokens from {path}: found no --separator, expected the id that ends a document (`posgeom tokenize --end-of-text`)")
    ids = np.fromfile(path, f"<u{bits // 8}").astype(np.int64)
    ends = np.flatnonzero(ids == separator)
    keep = ids != separator
    start = np.concatenate(([0], np.cumsum(keep)[ends]))
    if start[-1] != keep.sum():  # text after the last separator
        start = np.append(start, keep.sum())
    return ids[keep], start


def read_labels(path, column):
    """The labels of a TSV whose first line names the columns: a line a document, as `posgeom tokenize --format tsv --header` read it."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"reading labels from {path}: found no such file, expected the TSV that was tokenised")
    lines = path.read_text(encoding="utf-8").split("\n")
    names = lines[0].rstrip("\r").split("\t")
    if column not in names:
        raise DataError(f"reading labels from {path}: found the columns {', '.join(names)}, expected '{column}'; name another with --label-column")
    labels = []
    for number, line in enumerate(lines[1:], 2):
        if not line and number == len(lines):
            break
        fields = line.rstrip("\r").split("\t")
        if len(fields) != len(names):
            raise DataError(f"reading labels from {path}: line {number} has {len(fields)} fields, expected {len(names)}")
        labels.append(fields[names.index(column)])
    return labels


def pad_documents(ids, start, length, top, shortest=2, most=None):
    """(tokens [documents, length], valid the same, boolean, which documents): the first `length` ids of every document of at least `shortest`; ids of `top` and
    above become `top`, one common token (posgeom's whitespace vocabulary is in order of frequency), and what is not valid is top + 2."""
    size = np.minimum(np.diff(start), length)
    kept = np.flatnonzero(size >= shortest)[:most]
    column = np.arange(length)
    valid = column < size[kept, None]
    at = np.where(valid, start[kept, None] + column, 0)
    tokens = np.minimum(ids[at], top)
    return np.where(valid, tokens, top + 2), valid, kept
