"""One training run: seeded, resumable, the same bits on the same number of threads."""
import math
import signal
import sys
import time

import torch

from encoder import Encoder
from posgeom_torch import PositionEncoding
from series import write_result, write_series, write_state


class Stopped(Exception):
    """A signal asked for the end; what is finished is kept."""


class Refused(ValueError):
    """A folder holds a run of other options, in one line."""


class Progress:
    """A bar on a terminal, a line every tenth elsewhere, nothing with `none`. On stderr: stdout carries the result."""

    def __init__(self, kind, steps, name):
        self.kind = kind if kind != "auto" else "bar" if sys.stderr.isatty() else "log"
        self.steps, self.name, self.began, self.first, self.said = steps, name, time.monotonic(), None, -1

    def show(self, step, loss):
        if self.first is None:
            self.first = step
        left = (time.monotonic() - self.began) / max(1, step - self.first) * (self.steps - step)
        text = f"{self.name} step {step}/{self.steps} loss {loss:.4f} {left:.0f} s left"
        if self.kind == "bar":
            filled = 24 * step // self.steps
            print(f"\r[{'#' * filled}{'.' * (24 - filled)}] {text}\033[K", end="" if step < self.steps else "\n", file=sys.stderr, flush=True)
        elif self.kind == "log" and 10 * step // self.steps > self.said:
            self.said = 10 * step // self.steps
            print(text, file=sys.stderr, flush=True)


def seeded_model(options, task, table):
    """All weights but the table are drawn from the seed alone, so runs of one seed differ in nothing else."""
    generator = torch.Generator().manual_seed(options.seed)
    position = PositionEncoding(options.mode, options.length, options.width, heads=options.heads, d=options.d, init=table, rank=options.rank,
                                generator=generator)
    torch.manual_seed(options.seed)
    return Encoder(task.top + 3, task.classes, position, options.layers, options.heads, options.feed, options.causal)


def make_optimizer(model, options):
    """Weight decay on matrices only, and never on the position table: it would move rows that training does not reach."""
    table = {id(p) for p in model.position.table_parameters()}
    decayed = [p for p in model.parameters() if p.ndim > 1 and id(p) not in table]
    others = [p for p in model.parameters() if p.ndim <= 1 or id(p) in table]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=options.lr)


def learning_rate(step, options):
    """Linear warm-up over a tenth, then linear decay to a twentieth."""
    warm = max(1, options.steps // 10)
    return options.lr * min((step + 1) / warm, max(0.05, 1 - step / options.steps))


def refuse_other_options(found, wanted, folder):
    for key in sorted(set(found) | set(wanted)):
        if found.get(key) != wanted.get(key):
            raise Refused(f"resuming in {folder}: found a run with {key} = {found.get(key)}, expected {wanted.get(key)}; give another --out or --force")


def train(options, task, table, folder, described, stopping):
    """Trains until options.steps, or until `stopping()`; the result as a dictionary. `described`: what the run is, to be found again in its files."""
    torch.use_deterministic_algorithms(True)
    model = seeded_model(options, task, table)
    optimizer = make_optimizer(model, options)
    state_file, series_file = folder / "state.pt", folder / "position_table.h5"
    step, steps, tables, curve, seconds = 0, [], [], [], 0.0
    if state_file.is_file():
        state = torch.load(state_file)
        refuse_other_options(state["described"], described, folder)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, steps, curve, seconds = (state[key] for key in ("step", "steps", "curve", "seconds"))
        tables = [table.numpy() for table in state["tables"]]
    began, loss = time.monotonic(), math.nan
    progress = Progress(options.progress, options.steps, folder.name)
    every = max(1, options.steps // options.checkpoints)

    def keep():
        if tables:
            write_series(series_file, steps, tables, described)
        write_state(state_file, {"described": described, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "steps": steps,
                                 "tables": [torch.from_numpy(table) for table in tables], "curve": curve, "seconds": seconds + time.monotonic() - began})

    while True:
        if (step % every == 0 or step == options.steps) and (not curve or curve[-1]["step"] < step):
            with torch.no_grad():
                curve.append({"step": step, **task.evaluate(model)})
                now = model.position.table()
                if now is not None:
                    steps.append(step)
                    tables.append(now.detach().clone().numpy())
            if step == options.steps:
                break
            if time.monotonic() - began > options.keep_every:
                keep()
                seconds, began = seconds + time.monotonic() - began, time.monotonic()
        if stopping():
            keep()
            raise Stopped(f"stopped at step {step} of {options.steps}; it is kept in {state_file}: start again to go on")
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options)
        optimizer.zero_grad(set_to_none=True)
        value = task.loss(model, step)
        value.backward()
        optimizer.step()
        step, loss = step + 1, value.item()
        if not math.isfinite(loss):
            raise Refused(f"training in {folder}: the loss became {loss} at step {step}, expected a finite one; lower --lr or --norm")
        progress.show(step, loss)
    seconds += time.monotonic() - began
    if tables:
        write_series(series_file, steps, tables, described)
    result = {**described, **{k: v for k, v in curve[-1].items() if k != "step"}, "loss": curve[-1].get("loss", loss),
              "parameters": sum(p.numel() for p in model.parameters()), "position_parameters": sum(p.numel() for p in model.position.parameters()),
              "table_rank": model.position.rank, "table_norm": math.sqrt(float((tables[-1].astype(float) ** 2).sum(1).mean())) if tables else None,
              "seconds": round(seconds, 1), "threads": torch.get_num_threads(), "curve": [[c["step"], c["accuracy"]] for c in curve]}
    if options.keep_model:
        torch.save(model.state_dict(), folder / "model.pt")
    write_result(folder / "result.json", result)
    state_file.unlink(missing_ok=True)
    return result


def signalled():
    """SIGTERM, SIGUSR1 and ctrl-C from now on only ask: returns what tells whether one came."""
    came = []
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
        signal.signal(number, lambda *_: came.append(1))
    return lambda: bool(came)
