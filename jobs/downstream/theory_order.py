"""Theorem 1: attention without a mask and without positional signal commutes with permutations of its input."""
import numpy as np
import torch

import train
from intervals import interval
from figures import COLOURS, figure, save
from training import seeded_model

SETTINGS = {"no positions": ("--encoding", "none"), "no positions, causal mask": ("--encoding", "none", "--causal"), "sinusoidal positions": ("--encoding", "sinusoidal")}
LIMIT = 1e-5


def deviation(arguments, permutations=20):
    """The largest |f(x pi) - f(x) pi| over documents of full length and random permutations pi, where f is the encoder with random weights."""
    options = train.parser().parse_args(arguments)
    train.resolve(options)
    task = train.make_task(options)
    model = seeded_model(options, task, train.initial_table(options))
    full = task.test[task.valid[task.test].all(1)][:32]
    tokens, valid = task.tensors(task.tokens[full], task.valid[full])
    random, worst = np.random.default_rng(1), 0.0
    with torch.no_grad():
        before = model.hidden(tokens, valid)
        for _ in range(permutations):
            pi = torch.from_numpy(random.permutation(tokens.shape[1]))
            worst = max(worst, float((model.hidden(tokens[:, pi], valid) - before[:, pi]).abs().max()))
    return worst


def permutation(context):
    """Deviations from equivariance, and what the order task reaches, in three settings."""
    worst, reached, paired, judged = {}, {}, {}, 0
    for name, chosen in SETTINGS.items():
        worst[name] = deviation(context.arguments("permutation", *chosen))
        runs = [train.run(context.arguments("permutation", *chosen, "--task", "order", "--seed", seed)) for seed in context.seeds]
        reached[name], paired[name], judged = [r["accuracy"] for r in runs], [r["paired_accuracy"] for r in runs], runs[0]["judged"]
    draw(context.out, worst, reached)
    blind, causal, seeing = SETTINGS
    claims = {f"without positions the output is permutation-equivariant: largest deviation {worst[blind]:.2g}, limit {LIMIT:g}": worst[blind] < LIMIT,
              f"and the order task is at chance: {', '.join(f'{x:.4f}' for x in paired[blind])} of the pairs": all(abs(x - 0.5) < 0.005 for x in paired[blind]),
              f"with a causal mask it is not equivariant: deviation {worst[causal]:.2g}": worst[causal] > 100 * LIMIT,
              f"with positions neither: {worst[seeing]:.2g}": worst[seeing] > 100 * LIMIT}
    findings = [f"order task, {name}: accuracy {interval(x)[0]:.4f} +- {interval(x)[1]:.4f}, pairs {np.mean(paired[name]):.4f} ({judged} judged, {len(x)} seeds)"
                for name, x in reached.items()]
    return {"claims": claims, "findings": findings, "deviation": worst, "accuracy": reached, "paired_accuracy": paired}


def draw(folder, worst, reached):
    fig, (left, right) = figure(2)
    labels = [name.replace(", ", ",\n").replace("sinusoidal ", "sinusoidal\n").replace("no positions", "no\npositions") for name in worst]
    left.bar(labels, [max(x, 1e-9) for x in worst.values()], color=COLOURS[:3])
    left.axhline(LIMIT, color="black", linestyle="--")
    left.text(-0.45, LIMIT * 1.2, "limit 1e-5", va="bottom")
    left.set_yscale("log")
    left.set_ylabel("largest deviation from\nequivariance (hidden units, log)")
    means = [interval(x) for x in reached.values()]
    right.bar(labels, [100 * m for m, _ in means], yerr=[100 * np.nan_to_num(h) for _, h in means], capsize=4, color=COLOURS[:3])
    right.axhline(50, color="black", linestyle="--")
    right.text(-0.45, 50.3, "chance", va="bottom")
    right.set_ylim(45, 100)
    right.set_ylabel("order task: accuracy (%)")
    save(fig, folder, "permutation")
