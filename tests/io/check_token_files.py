"""Parses with struct and numpy what token_file_writer_test.cpp wrote: check_token_files.py FOLDER. Exits with 1 at the first difference."""
import os
import struct
import sys

import numpy as np

folder = sys.argv[1]


def check(condition, what):
    if not condition:
        sys.exit(f"{folder}: {what}")


def known_documents(count, vocab_size):
    """The rule of token_files.hpp."""
    lengths = [0 if d == count - 1 else d * 7 % 11 for d in range(count)]
    return [[(1000003 * d + 101 * t) % vocab_size for t in range(n)] for d, n in enumerate(lengths)]


def megatron(name, vocab_size, dtype):
    with open(f"{folder}/{name}.idx", "rb") as f:
        check(f.read(9) == b"MMIDIDX\x00\x00", f"{name}: magic")
        check(struct.unpack("<Q", f.read(8)) == (1,), f"{name}: version")
        check({8: np.uint16, 4: np.int32}[f.read(1)[0]] == dtype, f"{name}: dtype")
        sequences, boundaries = struct.unpack("<QQ", f.read(16))
        lengths = np.frombuffer(f.read(4 * sequences), "<i4")
        offsets = np.frombuffer(f.read(8 * sequences), "<i8")
        documents = np.frombuffer(f.read(8 * boundaries), "<i8")
        check(f.read() == b"", f"{name}: nothing follows the boundaries")
    expected = known_documents(50, vocab_size)
    check(sequences == len(expected) and boundaries == sequences + 1, f"{name}: {sequences} sequences, {boundaries} boundaries")
    check(list(documents) == list(range(boundaries)), f"{name}: boundaries")
    ids = np.fromfile(f"{folder}/{name}.bin", np.dtype(dtype).newbyteorder("<"))
    check(os.path.getsize(f"{folder}/{name}.bin") == ids.nbytes == lengths.sum() * ids.itemsize, f"{name}: size of .bin")
    for d, document in enumerate(expected):
        begin = offsets[d] // ids.itemsize
        check(list(ids[begin:begin + lengths[d]]) == document, f"{name}: document {d}")


def raw(name, vocab_size, dtype, separator):
    ids = np.fromfile(f"{folder}/{name}.bin", dtype)
    end = [] if separator is None else [separator]
    check(list(ids) == [t for document in known_documents(50, vocab_size) for t in document + end], f"{name}: ids")
    check(os.path.getsize(f"{folder}/{name}.bin") == ids.nbytes, f"{name}: size")


megatron("megatron16", 50257, np.uint16)
megatron("megatron32", 128256, np.int32)
raw("raw16", 50257, "<u2", 50256)
raw("raw32", 128256, "<u4", 128001)
raw("bare16", 300, "<u2", None)
check(sorted(os.listdir(folder)) == sorted(["megatron16.bin", "megatron16.idx", "megatron32.bin", "megatron32.idx", "raw16.bin", "raw32.bin",
                                            "bare16.bin"]), "the files")
