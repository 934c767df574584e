#!/usr/bin/python3
"""Trains a small BERT-style encoder with one positional encoding on one task, and prints one line of JSON: accuracy, steps, seed, encoding, d.

    posgeom tokenize --corpus text.xz --out tokens
    posgeom run --corpus tokens/tokens.bin --format megatron --vocab-size V --lengths 32 --out sweep
    python3 jobs/downstream/train.py --tokens tokens/tokens.bin --posgeom sweep --length 32 --encoding mds --d 16 --out trained

In OUT/<run>/: result.json (the line), position_table.h5 (the table at every checkpoint, which `posgeom stress` reads), and, of an unfinished run, state.pt.
Called again, a finished run is not repeated and a stopped one goes on. Exit codes: 0 done, 1 error (one line), 2 usage, 75 stopped by SIGTERM or
SIGUSR1 with everything so far kept.
"""
import argparse
import json
import math
import sys
import warnings
from pathlib import Path

import blas  # before torch
import numpy as np
import torch

from posgeom_torch import EncodingError, load_encoding, sinusoidal_table
from tasks import Classify, Masked, Order
from token_files import DataError, pad_documents, read_documents, read_labels
from training import Refused, Stopped, refuse_other_options, signalled, train

WITHOUT_TABLE = ("none", "rope", "alibi")
# What changes a run's numbers; the rest (where files are, how progress is told) does not.
DESCRIBES = ("task", "encoding", "mode", "d", "norm", "rank", "length", "seed", "steps", "batch", "lr", "causal", "adjacent", "top", "held", "documents",
             "width", "layers", "heads", "feed", "checkpoints")


class Help(argparse.ArgumentDefaultsHelpFormatter):
    """Says a default where there is one, and the text does not."""

    def _get_help_string(self, action):
        plain = action.default in (None, False) or "(default" in (action.help or "")
        return action.help if plain else super()._get_help_string(action)


def parser():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=Help)
    data = p.add_argument_group("data")
    data.add_argument("--tokens", required=True, metavar="FILE", help="what `posgeom tokenize` wrote: .bin with .idx, or raw ids with --raw-bits")
    data.add_argument("--raw-bits", type=int, choices=(16, 32), help="ids without header, of so many bits")
    data.add_argument("--separator", type=int, metavar="ID", help="raw ids: what ends a document")
    data.add_argument("--length", type=int, required=True, help="positions: the first so many tokens of each document")
    data.add_argument("--shortest", type=int, default=4, help="documents with fewer tokens are left out")
    data.add_argument("--documents", type=int, help="only the first so many (default: all)")
    data.add_argument("--top", type=int, default=2000, help="ids from here on are one common token")
    data.add_argument("--held", type=int, default=1000, help="documents that are judged and never trained on")
    data.add_argument("--labels", metavar="TSV", help="classify: the file that was tokenised, whose first line names its columns")
    data.add_argument("--label-column", default="label")
    position = p.add_argument_group("positions")
    position.add_argument("--encoding", default="mds", help="none, rope, alibi, sinusoidal, random N(0,1),"
                          " scratch N(0,0.02^2), mds, signal, smacof, or another one of stress-<n>.h5")
    position.add_argument("--mode", choices=("frozen", "learned", "factored"), help="what becomes of the table (scratch: learned, else frozen)")
    position.add_argument("--posgeom", metavar="DIR", help="--out of `posgeom run`: geometry-<n>.h5, stress-<n>.h5")
    position.add_argument("--d", type=int, help="columns of the table (default: the width)")
    position.add_argument("--norm", type=float, help="scale the table so that the root mean square of its rows' norms is this (default: as it is)")
    position.add_argument("--rank", type=int, help="factored: r of A B' (default: the table's own)")
    training = p.add_argument_group("training")
    training.add_argument("--task", choices=("order", "masked", "classify"), default="order",
                          help="order: is this a document, or one with two tokens exchanged; masked: the token behind a mask; classify: --labels")
    training.add_argument("--adjacent", action="store_true", help="order: the two tokens exchanged are neighbours")
    training.add_argument("--causal", action="store_true", help="position i sees 0 .. i only")
    for name, value, text in (("seed", 1, "of weights, order of the data and exchanges"), ("steps", 1000, "of the optimiser"), ("batch", 64, "documents a step"),
                              ("width", 128, "of the encoder"), ("layers", 2, "of the encoder"), ("heads", 4, "of a layer"), ("feed", 256, "width of the feed-forward part"),
                              ("checkpoints", 10, "of the position table, spread over the steps")):
        training.add_argument(f"--{name}", type=int, default=value, help=text)
    training.add_argument("--lr", type=float, default=2e-3, help="learning rate")
    output = p.add_argument_group("output")
    output.add_argument("--out", default="trained", help="folder of the runs")
    output.add_argument("--name", help="the run's folder in it (default: made of task, encoding, mode, d and seed)")
    output.add_argument("--force", action="store_true", help="train again what is there")
    output.add_argument("--keep-model", action="store_true", help="model.pt beside the result")
    output.add_argument("--keep-every", type=float, default=600, help="seconds between kept states (a signal keeps one at once)")
    output.add_argument("--progress", choices=("auto", "bar", "log", "none"), default="auto")
    return p


def resolve(options):
    """Fills in what depends on other options."""
    least = dict.fromkeys(("length", "steps", "batch", "width", "layers", "heads", "feed", "checkpoints", "held", "top", "documents", "d", "rank"), 1)
    least |= {"seed": 0, "shortest": 2 if options.task == "order" else 1}
    for name, number in least.items():
        found = getattr(options, name)
        if found is not None and found < number:
            raise Refused(f"option --{name}: found {found}, expected at least {number}")
    for name in ("lr", "norm"):
        found = getattr(options, name)
        if found is not None and not 0 < found < math.inf:
            raise Refused(f"option --{name}: found {found}, expected a number above 0")
    if options.width % (2 * options.heads):
        raise Refused(f"option --width: found {options.width}, expected a multiple of 2 * heads = {2 * options.heads}")
    if options.encoding in WITHOUT_TABLE:
        if options.mode:
            raise Refused(f"option --mode: found {options.mode} with --encoding {options.encoding}, which has no table; leave it out")
        options.mode, options.d, options.norm, options.rank = options.encoding, None, None, None
        return
    options.mode = options.mode or ("learned" if options.encoding == "scratch" else "frozen")
    options.d = options.d or options.width
    if options.d > options.width:
        raise Refused(f"option --d: found {options.d}, expected 1 to the model's width, {options.width}")
    if options.rank and options.mode != "factored":
        raise Refused(f"option --rank: found {options.rank} with --mode {options.mode}, expected it with --mode factored")
    if options.encoding == "scratch" and options.mode == "frozen":
        raise Refused("option --mode: found frozen with --encoding scratch, expected learned or factored; random is the frozen one")


def initial_table(options):
    """[length, d], or None where there is none."""
    name, length, d = options.encoding, options.length, options.d
    if name in WITHOUT_TABLE:
        return None
    if name in ("sinusoidal", "random", "scratch"):
        generator = torch.Generator().manual_seed(1000003 * options.seed + 17)
        table = sinusoidal_table(length, d).float() if name == "sinusoidal" else torch.randn(length, d, generator=generator) * (0.02 if name == "scratch" else 1)
        return table if options.norm is None else table * (options.norm / table.norm(dim=1).pow(2).mean().sqrt())
    if not options.posgeom:
        raise Refused(f"option --encoding {name}: found no --posgeom, expected the folder with geometry-{length}.h5")
    kind = "geometry" if name in ("mds", "signal") else "stress"
    return load_encoding(Path(options.posgeom) / f"{kind}-{length}.h5", length, d, norm=options.norm, name=name)


def make_task(options):
    ids, start = read_documents(options.tokens, options.raw_bits, options.separator)
    tokens, valid, kept = pad_documents(ids, start, options.length, options.top, options.shortest, options.documents)
    if len(kept) <= options.held:
        raise Refused(f"reading tokens from {options.tokens}: found {len(kept)} documents of {options.shortest} tokens or more, expected more than --held {options.held}")
    options.top = min(options.top, int(ids.max()) + 1)
    tokens = np.where(valid, np.minimum(tokens, options.top), options.top + 2)
    common = {"tokens": tokens, "valid": valid, "top": options.top, "seed": options.seed, "batch": options.batch, "held": options.held}
    if options.task == "order":
        task = Order(**common, adjacent=options.adjacent)
        if len(task.test) == 0:
            raise Refused(f"reading tokens from {options.tokens}: found no held-out document of two different tokens, expected some to exchange; raise --top, or"
                          " take --task masked")
        return task
    if options.task == "masked":
        return Masked(**common)
    if not options.labels:
        raise Refused("option --task classify: found no --labels, expected the TSV that was tokenised")
    labels = read_labels(options.labels, options.label_column)
    if len(labels) != len(start) - 1:
        raise Refused(f"reading labels from {options.labels}: found {len(labels)}, expected {len(start) - 1}, one for each document of {options.tokens}; tokenise that file again")
    return Classify(**common, labels=[labels[i] for i in kept])


def run_name(options):
    parts = [options.task, options.encoding, options.mode if options.mode != options.encoding else "", f"d{options.d}" if options.d else "",
             f"norm{options.norm:g}" if options.norm else "", f"r{options.rank}" if options.rank else "", "causal" if options.causal else "", f"seed{options.seed}"]
    return "-".join(part for part in parts if part)


def run(arguments, stopping=lambda: False):
    """One run, trained or found finished: its result."""
    options = parser().parse_args([str(argument) for argument in arguments])
    torch.set_num_threads(blas.threads())
    warnings.showwarning = lambda message, *_, **__: print(f"train: {message}", file=sys.stderr)
    resolve(options)
    folder = Path(options.out) / (options.name or run_name(options))
    task = make_task(options)
    described = {name: getattr(options, name) for name in DESCRIBES} | {"run": folder.name, "tokens": len(task.tokens)}
    result_file = folder / "result.json"
    if options.force:
        for file in (result_file, folder / "state.pt"):
            file.unlink(missing_ok=True)
    if result_file.is_file():
        result = json.loads(result_file.read_text())
        refuse_other_options({name: result.get(name) for name in described}, described, folder)
        return result
    table = initial_table(options)
    folder.mkdir(parents=True, exist_ok=True)
    return train(options, task, table, folder, described, stopping)


def main(arguments=None):
    print(json.dumps(run(sys.argv[1:] if arguments is None else arguments, signalled())))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Stopped as stopped:
        print(f"train: {stopped}", file=sys.stderr)
        sys.exit(75)
    except (Refused, EncodingError, DataError, OSError) as error:
        print(f"train: error: {error}", file=sys.stderr)
        sys.exit(1)
