#!/usr/bin/python3
"""The theory, demonstrated on trained models: each sub-command trains what it needs, checks, prints what was measured and draws a figure.

    theory.py permutation   Theorem 1: without positional signal the encoder is permutation-equivariant and order cannot be learned; a causal mask breaks it
    theory.py separation    Theorem 4: the least distance between positions over training; positions without data stay where they began
    theory.py monotone      Conjecture 5 in the linearised regime: gradient flow with fixed attention against its closed form, violations by step
    theory.py starts        learned tables from scratch against tables that start at MDS
    theory.py factored      A B' with rank (n + d) parameters against n d
    theory.py all           every one
The open question, accuracy against stress, is compare.py's.

Options of train.py are passed on: --tokens FILE --posgeom DIR --length N [--steps 600 --batch 32 ...] --out DIR; --seeds 1,2,3 makes intervals.
Figures and <name>.json go to DIR. Exit 1: something that the theory proves was found violated.
"""
import argparse
import json
import sys

import blas  # before torch
import torch

import theory_monotone
import theory_order
import theory_tables
from posgeom_torch import EncodingError
from series import replace
from token_files import DataError
from training import Refused

COMMANDS = {"permutation": theory_order.permutation, "separation": theory_tables.separation, "monotone": theory_monotone.monotone, "starts": theory_tables.starts,
            "factored": theory_tables.factored}


class Context:
    """What the sub-commands share: where runs go, which seeds, and the options of train.py that were given."""

    def __init__(self, out, seeds, given):
        self.out, self.seeds, self.given = out, seeds, list(given)

    def arguments(self, name, *more):
        return [*self.given, "--out", f"{self.out}/{name}", *map(str, more)]


def demonstrate(name, context):
    """Whether all that is proved was found so."""
    measured = COMMANDS[name](context)
    replace(f"{context.out}/{name}.json", lambda partial: partial.write_text(json.dumps(measured, indent=1, default=lambda number: number.item()) + "\n"))
    for claim, held in measured["claims"].items():
        print(f"{name}: {'holds' if held else 'VIOLATED'}: {claim}")
    for line in measured.get("findings", []):
        print(f"{name}: measured: {line}")
    return all(measured["claims"].values())


def numbers(text):
    return [int(word) for word in text.split(",")]


def main(arguments=None):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=[*COMMANDS, "all"])
    p.add_argument("--out", default="theory", metavar="DIR", help="of figures, numbers and runs (theory)")
    p.add_argument("--seeds", type=numbers, default="1,2,3", metavar="N,...", help="of the runs, whose intervals are over them (1,2,3)")
    options, given = p.parse_known_args(arguments)
    torch.set_num_threads(blas.threads())
    context = Context(options.out, options.seeds, given)
    held = [demonstrate(name, context) for name in (COMMANDS if options.what == "all" else [options.what])]
    return 0 if all(held) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Refused, EncodingError, DataError, OSError) as error:
        print(f"theory: error: {error}", file=sys.stderr)
        sys.exit(1)
