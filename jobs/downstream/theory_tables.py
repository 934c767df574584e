"""What training does to tables: Theorem 4, starts, and the minimal parametrisation."""
import contextlib
from pathlib import Path

import numpy as np

import train
from distances import min_separation
from figures import figure, save, style
from intervals import interval
from series import read_series
from training import make_optimizer, seeded_model


@contextlib.contextmanager
def shortened(reach):
    """Tasks see the first `reach` tokens of each document only; the table keeps all its rows."""
    original = train.make_task

    def make(options):
        task = original(options)
        task.tokens, task.valid = task.tokens.copy(), task.valid.copy()
        task.valid[:, reach:] = False
        task.tokens[:, reach:] = task.top + 2
        return type(task)(task.tokens, task.valid, task.top, task.seed, task.batch, len(task.test))
    train.make_task = make
    try:
        yield
    finally:
        train.make_task = original


def rows_with_decay(context, reach, steps=50):
    """The largest change of a row that no document reaches, where the table has weight decay 0.01 as everything else does by default."""
    options = train.parser().parse_args(context.arguments("separation", "--task", "masked", "--encoding", "mds", "--mode", "learned", "--steps", steps))
    train.resolve(options)
    task = train.make_task(options)
    model = seeded_model(options, task, train.initial_table(options))
    optimizer = make_optimizer(model, options)
    for group in optimizer.param_groups:
        group["weight_decay"] = 0.01
    before = model.position.table().detach().clone()
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        task.loss(model, step).backward()
        optimizer.step()
    return float((model.position.table().detach() - before)[reach:].abs().max())


def separation(context):
    """Theorem 4: trained positions stay apart; it says nothing of positions that training never reaches, which stay where they began."""
    length = train.parser().parse_args(context.arguments("separation")).length
    reach, curves, moved, trained_moved = max(2, 3 * length // 4), {}, {}, {}
    with shortened(reach):
        for name, encoding in (("from MDS", ("--encoding", "mds", "--mode", "learned")), ("from N(0, 0.02^2)", ("--encoding", "scratch"))):
            curves[name] = []
            for seed in context.seeds:
                run = train.run(context.arguments("separation", "--task", "masked", "--seed", seed, *encoding))
                steps, tables = read_series(Path(context.out) / "separation" / run["run"] / "position_table.h5")
                curves[name].append([min_separation(table[:reach]) for table in tables])
                moved[f"{name}, seed {seed}"] = float(np.abs(tables[-1][reach:] - tables[0][reach:]).max())
                trained_moved[f"{name}, seed {seed}"] = float(np.abs(tables[-1][:reach] - tables[0][:reach]).max())
        decayed = rows_with_decay(context, reach)
    fig, ax = figure()
    for k, (name, runs) in enumerate(curves.items()):
        for j, curve in enumerate(runs):
            ax.plot(steps, curve, label=name if j == 0 else None, alpha=0.8, **style(k))
    ax.set_xlabel("training step")
    ax.set_ylabel(f"least distance between two of\nthe {reach} trained positions")
    ax.set_ylim(0, None)
    ax.legend()
    save(fig, context.out, "separation")
    least = {name: min(min(curve) for curve in runs) for name, runs in curves.items()}
    claims = {f"{name}: the least distance stays above 0 (least seen: {value:.3g})": value > 0 for name, value in least.items()}
    claims[f"positions {reach} to {length - 1}, which no document reaches, keep their initial values to the bit"] = not any(moved.values())
    claims[f"while the others are trained (moved by {min(trained_moved.values()):.2g} or more)"] = min(trained_moved.values()) > 0
    findings = [f"weight decay of 0.01 on the table would have moved rows that no document reaches by up to {decayed:.2g} in 50 steps, so it is kept off the table",
                *(f"{name}: least distance {np.mean([c[0] for c in runs]):.3g} at the start, {np.mean([c[-1] for c in runs]):.3g} in the end (mean of {len(runs)} seeds)"
                  for name, runs in curves.items())]
    return {"claims": claims, "findings": findings, "steps": [int(s) for s in steps], "min_separation": curves, "moved_without_data": moved, "decayed": decayed}


def starts(context):
    """Learning curves of the same table from different starts, and frozen."""
    chosen = {"learned from MDS": ("--encoding", "mds", "--mode", "learned"), "learned from N(0, 0.02^2)": ("--encoding", "scratch"), "MDS frozen": ("--encoding", "mds"),
              "learned from sinusoids": ("--encoding", "sinusoidal", "--mode", "learned")}
    curves = {name: [train.run(context.arguments("starts", "--seed", seed, *words))["curve"] for seed in context.seeds] for name, words in chosen.items()}
    fig, ax = figure()
    findings, offset = [], 0
    for k, (name, runs) in enumerate(curves.items()):
        accuracy = np.array([[x for _, x in curve] for curve in runs])
        steps = np.array([step for step, _ in runs[0]], float)
        middle = [interval(column) for column in accuracy.T]
        ax.errorbar(steps + offset, [100 * m for m, _ in middle], [100 * np.nan_to_num(h) for _, h in middle], capsize=3, label=name, **style(k))
        offset += steps[-1] / 200  # so that intervals do not hide each other
        half = len(middle) // 2
        findings.append(f"{name}: accuracy {middle[-1][0]:.4f} +- {middle[-1][1]:.4f} after {int(steps[-1])} steps, {middle[half][0]:.4f} after {int(steps[half])}"
                        f" ({len(runs)} seeds)")
    ax.set_xlabel("training step")
    ax.set_ylabel("accuracy on held-out documents (%)")
    ax.legend(fontsize=9)
    save(fig, context.out, "starts")
    return {"claims": {}, "findings": findings, "curves": curves}


def factored(context, ranks=(1, 2, 4, 8)):
    """Accuracy with rank (n + d) parameters against n d, both trained from MDS."""
    options = train.parser().parse_args(context.arguments("factored"))
    n, d = options.length, options.d or options.width
    runs = {"n d, learned": [train.run(context.arguments("factored", "--encoding", "mds", "--mode", "learned", "--seed", seed)) for seed in context.seeds]}
    claims = {f"a learned table has n d = {n * d} parameters": runs["n d, learned"][0]["position_parameters"] == n * d}
    for rank in (r for r in ranks if r <= min(n, d)):
        runs[f"rank {rank}"] = [train.run(context.arguments("factored", "--encoding", "mds", "--mode", "factored", "--rank", rank, "--seed", seed)) for seed in context.seeds]
        claims[f"rank {rank} has r (n + d) = {rank * (n + d)}"] = runs[f"rank {rank}"][0]["position_parameters"] == rank * (n + d)
        trained = [read_series(Path(context.out) / "factored" / run["run"] / "position_table.h5")[1][-1] for run in runs[f"rank {rank}"]]
        found = [np.linalg.matrix_rank(table, tol=1e-5 * np.linalg.norm(table)) for table in trained]
        claims[f"and the trained tables are of rank {rank} at most"] = max(found) <= rank
    fig, ax = figure()
    findings, sizes = [], []
    for k, (name, results) in enumerate(runs.items()):
        mean, half = interval([r["accuracy"] for r in results])
        size = results[0]["position_parameters"]
        beside = 1.05 ** sizes.count(size)  # equal sizes do not hide each other
        sizes.append(size)
        ax.errorbar([size * beside], [100 * mean], [100 * np.nan_to_num(half)], capsize=4, label=f"{name} ({size})", **{**style(k), "linestyle": ""})
        findings.append(f"{name}: {size} parameters ({100 * size / (n * d):.0f} % of n d), accuracy {mean:.4f} +- {half:.4f} ({len(results)} seeds)")
    if max(ranks) * (n + d) >= n * d:
        findings.append(f"it saves only below rank n d / (n + d) = {n * d / (n + d):.1f}")
    ax.set_xscale("log")
    ax.set_xticks(sorted(set(sizes)), [str(size) for size in sorted(set(sizes))])
    ax.minorticks_off()
    ax.set_xlabel("parameters of the position table (log)")
    ax.set_ylabel("accuracy on held-out documents (%)")
    ax.legend(fontsize=9)
    save(fig, context.out, "factored")
    return {"claims": claims, "findings": findings, "accuracy": {name: [r["accuracy"] for r in results] for name, results in runs.items()}}
