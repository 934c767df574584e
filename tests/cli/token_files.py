"""Writes one list of documents (lists of ids) in every layout that posgeom reads, from the layouts' descriptions alone."""
import gzip
import json
import lzma
import struct
import subprocess

import h5py
import numpy as np

EOT = 50256  # GPT-2's end of text


def megatron(folder, name, documents, dtype=np.uint16):
    code = {np.uint8: 1, np.int32: 4, np.int64: 5, np.uint16: 8}[dtype]
    lengths = np.array([len(document) for document in documents], dtype=np.int32)
    offsets = (np.concatenate([[0], np.cumsum(lengths.astype(np.int64))[:-1]]) if len(documents) else np.zeros(0)) * np.dtype(dtype).itemsize
    np.concatenate([np.array(d, dtype=dtype) for d in documents] or [np.zeros(0, dtype)]).tofile(folder / f"{name}.bin")
    with open(folder / f"{name}.idx", "wb") as f:
        f.write(b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, len(documents), len(documents) + 1))
        f.write(lengths.tobytes() + offsets.astype(np.int64).tobytes() + np.arange(len(documents) + 1, dtype=np.int64).tobytes())
    return folder / f"{name}.bin"


def separated(documents, separator, dtype, before=False):
    parts = []
    for document in documents:
        parts.append(([separator] + document) if before else (document + [separator]))
    return np.array([token for part in parts for token in part], dtype=dtype)


def raw(folder, name, documents, dtype=np.uint16, separator=EOT):
    separated(documents, separator, dtype).tofile(folder / name)
    return folder / name


def llmc(folder, name, documents, llama=False):
    dtype, magic, version, separator = (np.uint32, 20240801, 7, 128000) if llama else (np.uint16, 20240520, 1, EOT)
    ids = separated(documents, separator, dtype, before=True)
    header = np.zeros(256, dtype=np.int32)
    header[:3] = magic, version, len(ids)
    (folder / name).write_bytes(header.tobytes() + ids.tobytes())
    return folder / name


def datatrove(folder, name, documents, dtype=np.uint16):
    np.array([t for d in documents for t in d], dtype=dtype).tofile(folder / name)
    np.cumsum([len(d) for d in documents]).astype(np.uint64).tofile(folder / f"{name}.index")
    tokens = sum(map(len, documents))
    (folder / f"{name}.metadata").write_text(f"gpt2|{np.dtype(dtype).itemsize}\n{tokens}\n{tokens}\n")
    return folder / name


def infinigram(folder, documents, dtype=np.uint16):
    folder.mkdir(exist_ok=True)
    ones = np.iinfo(dtype).max
    ids = separated(documents, ones, dtype, before=True)
    ids.tofile(folder / "tokenized.0")
    starts = np.concatenate([[0], np.cumsum([len(d) + 1 for d in documents])[:-1]]) * np.dtype(dtype).itemsize
    starts.astype(np.uint64).tofile(folder / "offset.0")
    return folder / "tokenized.0"


def hdf5(folder, name, documents, dtype=np.uint16):
    with h5py.File(folder / name, "w") as f:
        f.create_dataset("ids/flat", data=np.array([t for d in documents for t in d], dtype=dtype), chunks=(64,), compression="gzip")
        f["ids/offsets"] = np.concatenate([[0], np.cumsum([len(d) for d in documents])]).astype(np.int64)
    return f"{folder / name}:/ids/flat:/ids/offsets"


def every_layout(folder, documents):
    """(what, options) of each; ids below 50256."""
    lines = [" ".join(f"w{token}" for token in document) for document in documents]
    text = "".join(line + "\n" for line in lines).encode()
    (folder / "vocab.txt").write_text("".join(f"w{k}\n" for k in range(60)))
    (folder / "plain.txt").write_bytes(text)
    (folder / "plain.txt.gz").write_bytes(gzip.compress(text))
    (folder / "plain.txt.xz").write_bytes(lzma.compress(text))
    (folder / "table.tsv").write_text("id\ttext\n" + "".join(f"{k}\t{line}\n" for k, line in enumerate(lines)))
    (folder / "lines.jsonl").write_text("".join(json.dumps({"n": k, "text": line}) + "\n" for k, line in enumerate(lines)))
    np.save(folder / "flat.npy", separated(documents, 59, np.uint16))
    separated(documents, EOT, np.uint16).tofile(folder / "headerless.npy")
    words = ("--tokenizer", "whitespace", "--vocab", folder / "vocab.txt")
    ids = ("--vocab-size", 60)
    layouts = [
        ("text", ("--corpus", folder / "plain.txt", *words)),
        ("text.gz", ("--corpus", folder / "plain.txt.gz", *words)),
        ("text.xz", ("--corpus", folder / "plain.txt.xz", *words)),
        ("tsv", ("--corpus", folder / "table.tsv", "--header", "--column", "text", *words)),
        ("jsonl", ("--corpus", folder / "lines.jsonl", *words)),
        ("megatron u16", ("--corpus", megatron(folder, "m16", documents), *ids)),
        ("megatron i32", ("--corpus", megatron(folder, "m32", documents, np.int32), *ids)),
        ("megatron prefix", ("--corpus", folder / "m16", *ids)),
        ("raw16", ("--corpus", raw(folder, "r16.bin", documents), "--format", "raw16", "--separator", EOT, *ids)),
        ("raw32", ("--corpus", raw(folder, "r32.bin", documents, np.uint32), "--format", "raw32", "--separator", EOT, *ids)),
        ("llm.c GPT-2", ("--corpus", llmc(folder, "c16.bin", documents), *ids)),
        ("llm.c Llama-3", ("--corpus", llmc(folder, "c32.bin", documents, llama=True), *ids)),
        ("datatrove u16", ("--corpus", datatrove(folder, "d16.ds", documents), *ids)),
        ("datatrove u32", ("--corpus", datatrove(folder, "d32.ds", documents, np.uint32), *ids)),
        ("npy", ("--corpus", folder / "flat.npy", "--separator", 59, *ids)),
        ("npy without header", ("--corpus", folder / "headerless.npy", "--separator", EOT, *ids)),
        ("infini-gram u16", ("--corpus", infinigram(folder / "i16", documents), *ids)),
        ("infini-gram u32", ("--corpus", infinigram(folder / "i32", documents, np.uint32), *ids)),
        ("HDF5", ("--corpus", hdf5(folder, "ids.h5", documents), *ids)),
    ]
    if subprocess.run(["zstd", "--version"], capture_output=True, check=False).returncode == 0:
        subprocess.run(["zstd", "-q", "-k", folder / "plain.txt"], check=True)
        layouts.append(("text.zst", ("--corpus", folder / "plain.txt.zst", *words)))
    return layouts
