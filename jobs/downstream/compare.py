#!/usr/bin/python3
"""The open question: does an encoding that fits the corpus's distances train better? Accuracy of finished runs against raw stress, scaled stress and
the stress against shuffled text, with intervals and a rank correlation, reported as it comes out.

    compare.py TRAINED --sweep SWEEP [--posgeom PROGRAM] [--out DIR]

TRAINED holds the runs of train.py (of one task and length), SWEEP what `posgeom run --noise all` wrote. In DIR (default TRAINED): runs.csv, a line a run;
accuracy.csv, a line an encoding and d; checkpoints.csv, a line a run and step; accuracy.png and .svg. posgeom scores the table at every checkpoint,
and accuracy stands beside the last; null_*: the same table against the distances of shuffled text. Encodings that act inside attention (rope, alibi)
or not at all have no table: they are shown, and left out of the correlations.
"""
import argparse
import csv
import sys
from pathlib import Path

import h5py
import numpy as np
from scipy import stats

from intervals import interval
from scores import MEASURES, NULL_MEASURES, ScoreError, score_tables
from series import read_results, replace

SAME = ("task", "length", "steps", "batch", "lr", "causal", "adjacent", "top", "held", "documents", "tokens", "width", "layers", "heads", "feed")
CORRELATED = {"raw": "raw stress", "scaled": "scaled stress", "null_raw": "raw stress against shuffled text", "null_scaled": "scaled stress against shuffled text",
              "violation_rate": "violation rate", "table_norm": "norm of the table's rows, which raw stress follows"}
COLUMNS = ("raw", "scaled", "null_raw", "null_scaled", "violation_rate", "min_separation")


def refuse_mixtures(results, trained):
    """Runs that differ in more than their table and seed are no answer to one question."""
    for key in SAME:
        found = sorted({str(r.get(key)) for r in results})
        if len(found) > 1:
            raise ScoreError(f"comparing the runs of {trained}: found {key} = {' and '.join(found)}, expected one; give the runs of one grid")


def add_stress(results, sweep, trained, program, folder):
    """Adds the COLUMNS, of the table at the last step, to the runs that have a table; {run: the scores of its checkpoints}."""
    tables = {r["run"]: r["d"] for r in results if (Path(trained) / r["run"] / "position_table.h5").is_file()}
    scores = score_tables(program, sweep, trained, tables, results[0]["length"], folder)
    for r in results:
        last = scores[r["run"]][-1] if r["run"] in tables else dict.fromkeys(COLUMNS, np.nan)
        r.update({name: last[name] for name in COLUMNS})
    return scores


def moved(table, scores):
    """Sentences on the stress that training changed, a cell each."""
    sentences = []
    for c in table:
        curves = [[score["scaled"] for score in scores[r["run"]]] for r in c["runs"] if r["run"] in scores]
        if curves and any(curve[0] != curve[-1] for curve in curves):
            first, last = (np.mean([curve[k] for curve in curves]) for k in (0, -1))
            least = min(score["min_separation"] for r in c["runs"] for score in scores[r["run"]])
            sentences.append(f"training moved {c['label']} d={c['d']} from scaled stress {first:.4g} to {last:.4g} ({len(curves)} seed{'s' * (len(curves) > 1)});"
                             f" least distance of two positions at any checkpoint {least:.3g}")
    return sentences


def cells(results):
    """One for each encoding, mode, d, norm and rank: the means over its seeds."""
    groups = {}
    for r in results:
        groups.setdefault(tuple(r[k] for k in ("encoding", "mode", "d", "norm", "rank")), []).append(r)
    table = []
    for (encoding, mode, d, norm, rank), runs in groups.items():
        label = encoding if mode in ("frozen", encoding) else f"{encoding}:{mode}"
        mean, half = interval([r["accuracy"] for r in runs])
        table.append({"label": label, "d": d, "norm": norm, "rank": rank or runs[0].get("table_rank"), "seeds": len(runs), "accuracy": mean, "half": half, "runs": runs,
                      "parameters": runs[0]["position_parameters"], "table_norm": np.mean([r.get("table_norm") or np.nan for r in runs]),
                      **{name: np.mean([r[name] for r in runs]) for name in COLUMNS}})
    return sorted(table, key=lambda c: -c["accuracy"])


def distinct(table):
    """Without the cells that train the same table as one before: every accuracy equal, and the stress to rounding (mds and smacof at full rank)."""
    kept, twins = {}, []
    for c in table:
        key = (*(r["accuracy"] for r in c["runs"]), *(f"{c[name] + 1e-9:.5g}" for name in ("raw", "violation_rate")))
        if key in kept:
            twins.append((c, kept[key]))
        kept.setdefault(key, c)
    return list(kept.values()), twins


def rank_correlation(table, name, draws=2000):
    """(Spearman's rho of accuracy with a column over the cells, 95 % interval, two-sided p, cells). The interval is the bootstrap's over cells and, within
    each, over seeds; p is by permutations of the cells. The same table under two names counts once."""
    chosen = [c for c in distinct(table)[0] if np.isfinite(c[name])]
    x, y = np.array([c[name] for c in chosen]), np.array([c["accuracy"] for c in chosen])
    if len(chosen) < 4 or len(set(x)) < 2:
        return np.nan, np.nan, np.nan, np.nan, len(chosen)
    rho = stats.spearmanr(x, y)[0]
    random, boot, null = np.random.default_rng(1), [], []
    for _ in range(draws):
        picked = random.integers(0, len(chosen), len(chosen))
        means = [np.mean(random.choice([r["accuracy"] for r in chosen[i]["runs"]], len(chosen[i]["runs"]))) for i in picked]
        if len(set(x[picked])) > 1 and len(set(means)) > 1:
            boot.append(stats.spearmanr(x[picked], means)[0])
        null.append(stats.spearmanr(x, random.permutation(y))[0])
    return rho, *np.quantile(boot, (0.025, 0.975)), (1 + np.sum(np.abs(null) >= abs(rho) - 1e-12)) / (1 + draws), len(chosen)


def verdict(name, rho, low, high, p, count):
    if not np.isfinite(rho):
        return f"{name}: too few encodings with a table ({count}) for a rank correlation"
    said = "no rank correlation is shown" if low <= 0 <= high or p > 0.05 else f"{'higher' if rho < 0 else 'lower'} accuracy goes with lower values"
    return f"{name}: Spearman's rho {rho:+.2f} (95 % {low:+.2f} to {high:+.2f}, p = {p:.3f}, {count} encodings): {said}"


def write_csv(path, names, rows):
    def write(partial):
        with open(partial, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    replace(path, write)


def text_table(table):
    """Lines as they are printed."""
    head = f"{'encoding':<20} {'d':>4} {'seeds':>5} {'accuracy':>9} {'+-95%':>7} {'raw':>9} {'scaled':>8} {'raw null':>9} {'sc. null':>8} {'violate':>8}"
    lines = [head]
    for c in table:
        label = c["label"] + (f" norm {c['norm']:g}" if c["norm"] else "") + (f" r={c['rank']}" if c["rank"] else "")
        widths = (("raw", 9), ("scaled", 8), ("null_raw", 9), ("null_scaled", 8), ("violation_rate", 8))
        half = "-" if np.isnan(c["half"]) else f"{c['half']:.4f}"
        numbers = (f"{c[k]:>{w}.4g}" if np.isfinite(c[k]) else f"{'-':>{w}}" for k, w in widths)
        lines.append(f"{label:<20} {c['d'] or '-':>4} {c['seeds']:>5} {c['accuracy']:>9.4f} {half:>7} " + " ".join(numbers))
    return lines


def draw(table, correlations, baseline, folder):
    from figures import figure, save, style
    fig, axes = figure(2, 2, sharey=True)
    axes, corner = axes.flat[:3], axes.flat[3]
    labels = sorted({c["label"] for c in table})
    shown = (("raw", "raw stress (log; below 1e-6 at 1e-6)"), ("scaled", "scaled stress"), ("null_scaled", "scaled stress against shuffled text"))
    for ax, (name, words) in zip(axes, shown):
        for k, label in enumerate(labels):
            mine = [c for c in table if c["label"] == label and np.isfinite(c[name])]
            if mine:
                x, y = [max(c[name], 1e-6) for c in mine], [100 * c["accuracy"] for c in mine]
                ax.errorbar(x, y, [100 * np.nan_to_num(c["half"]) for c in mine], linestyle="", capsize=3, label=label, **style(k))
            elif name == "raw":
                level = 100 * np.mean([c["accuracy"] for c in table if c["label"] == label])
                ax.axhline(level, linestyle="--", color=style(k)["color"], label=f"{label} (no table)")
        if name == "raw":
            ax.set_xscale("log")
        rho = correlations[name]
        ax.set_title(f"Spearman {rho[0]:+.2f} ({rho[1]:+.2f} to {rho[2]:+.2f})" if np.isfinite(rho[0]) else "too few for a rank correlation", fontsize=11)
        ax.set_xlabel(words)
    if baseline is not None:
        axes[1].axvline(baseline, color="#8C8C8C", linestyle=":", label="all distances equal")
    for ax in axes[::2]:
        ax.set_ylabel("accuracy on held-out documents (%)")
    handles = {text: handle for ax in axes for handle, text in zip(*ax.get_legend_handles_labels())}
    corner.axis("off")
    corner.legend(handles.values(), handles.keys(), loc="center left")
    save(fig, folder, "accuracy")


def compare(trained, sweep, program, out):
    results = read_results(trained)
    if not results:
        raise ScoreError(f"comparing the runs of {trained}: found no result.json, expected finished runs of train.py")
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    refuse_mixtures(results, trained)
    scores = add_stress(results, sweep, trained, program, out / "scores")
    table = cells(results)
    for r in results:
        r.pop("curve", None)
    write_csv(out / "runs.csv", list(results[0]), results)
    write_csv(out / "checkpoints.csv", ["run", "step", *MEASURES, *(f"null_{name}" for name in NULL_MEASURES)],
              [{"run": run, **score} for run in sorted(scores) for score in scores[run]])
    write_csv(out / "accuracy.csv", ["label", "d", "norm", "rank", "seeds", "accuracy", "half", "parameters", "table_norm", *COLUMNS], table)
    first = results[0]
    with h5py.File(Path(sweep) / f"stress-{first['length']}.h5") as file:
        baseline = float(file.attrs["constant_baseline"])
    correlations = {name: rank_correlation(table, name) for name in CORRELATED}
    print(f"task {first['task']}, {first['length']} positions, {first['steps']} steps; {first['judged']} judged, chance {first['chance']:.3f}; +-95% is over seeds")
    print("\n".join(text_table(table)))
    print(f"an encoding with all distances equal has scaled stress {baseline:.4g}")
    for one, other in distinct(table)[1]:
        print(f"{one['label']} d={one['d']} is the same table as {other['label']} d={other['d']}: counted once")
    for sentence in moved(table, scores):
        print(sentence)
    for name, words in CORRELATED.items():
        print(verdict(words, *correlations[name]))
    draw(table, correlations, baseline, out)
    return table, correlations


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("trained")
    p.add_argument("--sweep", required=True)
    p.add_argument("--posgeom", default="build/posgeom", help="the program (default: build/posgeom)")
    p.add_argument("--out")
    options = p.parse_args()
    compare(options.trained, options.sweep, options.posgeom, options.out or options.trained)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ScoreError, OSError) as error:
        print(f"compare: error: {error}", file=sys.stderr)
        sys.exit(1)
