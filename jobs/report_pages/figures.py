"""Draws what series.py returns. Every function returns a figure, or None where there is nothing to draw."""
import numpy as np
from matplotlib import ticker
from matplotlib.figure import Figure

from . import style
from .series import SMALLEST
from .style import BLACK, BLUE, DARK, GREY, ORANGE, VERMILION, WIDTH, legend, log_axis, looks, panel, powers_axis, shortened

LOWEST = 1e-6  # of the corpus's largest stress: the least that a panel goes down to


def spectrum(s, length):
    if not any(len(x) for x, _ in s.curves.values()):
        return None
    drawn = {"corpus": ("corpus", {"color": BLACK, "marker": "."}), "shuffled": ("shuffled text", {"color": ORANGE, "linestyle": "--"}),
             "halves": ("across halves (noise averages to 0)", {"color": BLUE, "marker": "x", "linestyle": "none"})}
    figure, axis = panel(f"Eigenvalues of B, n = {length}", len(s.curves) + (s.threshold is not None), columns=2)
    most = max(int(x[-1]) for x, _ in s.curves.values() if len(x))
    for name, (x, y) in s.curves.items():
        label, look = drawn[name]
        axis.plot(x, y, label=label, markersize=3 if most <= 100 else 2, linewidth=1.1, zorder=3 if name == "halves" else 2,
                  **look)
    low = min(y.min() for _, y in s.curves.values() if len(y))
    high = max(y.max() for _, y in s.curves.values() if len(y))
    if s.threshold is not None:
        axis.axhline(s.threshold, color=VERMILION, linewidth=0.9, linestyle=":", label="noise threshold")
        if s.signal_rank:
            axis.axvspan(0.8, s.signal_rank + 0.5, color="#000000", alpha=0.07, linewidth=0)
        low, high = min(low, s.threshold), max(high, s.threshold)
    log_axis(axis, max(low / 1.5, high * 1e-8), high * 1.6)
    axis.set_xscale("log")
    axis.set_xlim(0.8, most * 1.2)
    axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if most <= 200 else (1,), numticks=10))
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(style.plain))
    axis.xaxis.set_minor_formatter(ticker.NullFormatter())
    axis.set_xlabel("component")
    axis.set_ylabel("eigenvalue")
    legend(figure, axis, columns=2)
    return figure


def limits(s):
    """Of a vertical axis; what is below is drawn on the lower edge, since zero to rounding must not squeeze all the rest. Shuffled text may
    be far above the corpus, and does not decide what is small."""
    own = [np.asarray(y, float) for _, y in s.curves.values()]
    baseline = [] if s.baseline is None else [np.ravel(s.baseline[1] if np.ndim(s.baseline) else s.baseline)]
    values = np.concatenate([*own, *baseline, *(np.asarray(y, float) for _, y in s.shuffled.values()), []])
    values, largest = values[values > SMALLEST], max((y.max() for y in own if len(y)), default=0.0)
    return (max(values.min() / 1.6, largest * LOWEST), values.max() * 1.4) if len(values) else (0.1, 1)


def stress_figure(title, s, names, x_label, y_label):
    look = looks(names)
    if not s.curves:
        return None
    shuffled = bool(s.shuffled)
    with_baseline = s.baseline is not None
    longest = max(len(shortened(name)) for name in s.curves)
    columns = 3 if longest <= 12 else 2
    figure, axis = panel(title, len(s.curves) + with_baseline + shuffled, columns)
    low, high = limits(s)
    for name, (x, y) in s.curves.items():
        axis.plot(x, np.maximum(y, low), label=shortened(name), clip_on=False, **look[name])
    for name, (x, y) in s.shuffled.items():
        axis.plot(x, np.maximum(y, low), color=look[name]["color"], linewidth=0.6, linestyle=(0, (2, 2)), zorder=1.5)
    if with_baseline:
        style_of_baseline = {"color": BLACK, "linewidth": 1, "linestyle": (0, (5, 2)), "label": "constant baseline", "zorder": 1}
        if np.ndim(s.baseline) == 0:
            axis.axhline(s.baseline, **style_of_baseline)
        else:
            axis.plot(*s.baseline, **style_of_baseline)
    if shuffled:
        axis.plot([], [], color=GREY, linewidth=0.6, linestyle=(0, (2, 2)), label="on shuffled text")
    powers_axis(axis, np.concatenate([x for x, _ in s.curves.values()]))
    log_axis(axis, low, high)
    axis.set_xlabel(x_label)
    axis.set_ylabel(y_label)
    legend(figure, axis, columns)
    return figure


def against_dimension(s, names, length, measure):
    return stress_figure(f"{measure.capitalize()} stress against dimension, n = {length}", s, names, "dimension d", f"{measure} stress")


def against_length(s, names, d, measure):
    return stress_figure(f"{measure.capitalize()} stress against length, d = {d}", s, names, "length n (positions)", f"{measure} stress")


def edges_of(values):
    values = np.asarray(values, float)
    if len(values) < 2:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate(([values[0] - (middle[0] - values[0])], middle, [values[-1] + (values[-1] - middle[-1])]))


def heat_map(h, length):
    """H between the anchors; positions that were dropped between kept ones stay grey where all are drawn."""
    square, position = h.rows[:, h.anchors], h.position[h.anchors]
    if len(position) < 2:
        return None
    if len(position) == len(h.position) and position[-1] - position[0] < 2 * len(position):
        whole = np.full((position[-1] - position[0] + 1,) * 2, np.nan)
        whole[np.ix_(position - position[0], position - position[0])] = square
        square, position = whole, np.arange(position[0], position[-1] + 1)
    figure = Figure(figsize=(WIDTH, 2.75))
    axis = figure.add_axes((0.175, 0.155, 0.6, 0.6 * WIDTH / 2.75))
    off = square[~np.eye(len(square), dtype=bool)]
    low, high = np.nanmin(off), np.nanmax(off)
    axis.set_facecolor("#bbbbbb")
    image = axis.pcolormesh(edges_of(position), edges_of(position), square, cmap="cividis", vmin=low, vmax=high if high > low else low + 1,
                            rasterized=True)
    axis.invert_yaxis()
    axis.set_aspect("equal")
    for ruler in (axis.xaxis, axis.yaxis):
        ruler.set_major_locator(ticker.MaxNLocator(4, integer=True))
    axis.set_title(f"Hellinger distance H, n = {length}")
    axis.set_xlabel("position j")
    axis.set_ylabel("position i")
    bar = figure.colorbar(image, cax=figure.add_axes((0.81, 0.155, 0.035, 0.6 * WIDTH / 2.75)))
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_locator(ticker.MaxNLocator(5))
    bar.ax.set_title("$H_{ij}$", fontsize=7, loc="left", pad=3)
    return figure


def components(geometry):
    leading = [k for k in range(geometry.leading.shape[1]) if np.any(geometry.leading[:, k])]
    if not leading or len(geometry.position) < 2:
        return None
    height = 0.45 + 0.62 * len(leading) + 0.27
    figure = Figure(figsize=(WIDTH, height))
    grid = figure.subplots(len(leading), 1, sharex=True, squeeze=False)[:, 0]
    figure.subplots_adjust(left=0.6 / WIDTH, right=1 - 0.1 / WIDTH, bottom=0.4 / height, top=1 - 0.27 / height, hspace=0.32)
    for axis, k in zip(grid, leading):
        values = geometry.leading[:, k]
        axis.axhline(0, color="#bbbbbb", linewidth=0.6)
        axis.plot(geometry.position, values, color=BLUE, linewidth=1 if len(values) <= 512 else 0.5, rasterized=len(values) > 2000)
        share = geometry.eigenvalues[k] / geometry.trace if geometry.trace > 0 else np.nan
        axis.text(0.99, 0.97, f"component {k + 1}: {100 * share:.1f} % of trace", transform=axis.transAxes, ha="right", va="top", fontsize=7,
                  bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8})
        axis.yaxis.set_major_locator(ticker.MaxNLocator(3))
        low, high = min(values.min(), 0), max(values.max(), 0)
        axis.set_ylim(low - 0.08 * (high - low), high + 0.45 * (high - low))
    grid[0].set_title(f"Leading MDS components, n = {geometry.length}")
    figure.text(0.02, 0.5, "coordinate (unit of H)", rotation=90, va="center", fontsize=7.5)
    grid[-1].set_xlabel("position")
    grid[-1].xaxis.set_major_locator(ticker.MaxNLocator(6, integer=True))
    return figure


def against_lag(s, names, length):
    """The encodings times their best scale, so that they can be compared with H."""
    if s is None:
        return None
    curves = [(x, y) for _, x, y in s.curves.values()] + [x for x in (s.hellinger, s.signal[1:] if s.signal else None) if x]
    labels = [shortened(f"{name}, d = {d}", 24) for name, (d, _, _) in s.curves.items()]
    columns = 2
    figure, axis = panel(f"Distance against lag, n = {length}", len(curves), columns, height=2.0)
    look = looks(names)
    for label, (name, (_, x, y)) in zip(labels, s.curves.items()):
        axis.plot(x, y, label=label, markevery=max(1, len(x) // 8), **look[name])
    if s.hellinger:
        axis.plot(*s.hellinger, color=BLACK, linewidth=2.4, alpha=0.45, label="H (corpus)", zorder=1)
    if s.signal:
        axis.plot(*s.signal[1:], color=DARK, linewidth=1.6, linestyle=(0, (3, 1)), label=f"above noise, d = {s.signal[0]}")
    far = max(x.max() for x, _ in curves)
    if far >= 48:
        axis.set_xscale("log")
        axis.set_xlim(0.85, 1.15 * far)
        axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if far <= 200 else (1,), numticks=10))
        axis.xaxis.set_major_formatter(ticker.FuncFormatter(style.plain))
        axis.xaxis.set_minor_formatter(ticker.NullFormatter())
    else:
        axis.xaxis.set_major_locator(ticker.MaxNLocator(8, integer=True))
    axis.set_ylim(0, 1.05 * max(y.max() for _, y in curves) or 1)
    axis.set_xlabel("lag |i − j|")
    axis.set_ylabel("mean distance × best scale")
    legend(figure, axis, columns)
    return figure


def sweep(s):
    """A panel for each encoding: lengths by dimensions, coloured by the scaled stress over that of the constant baseline. Nothing of one
    length, which the figure against dimension shows."""
    if not np.isfinite(s.cells).any() or len(s.lengths) < 2:
        return None
    columns = 2
    rows = -(-len(s.names) // columns)
    each = min(max(0.14 * len(s.lengths), 0.5), 2.4)
    height = 0.3 + rows * (each + 0.27) + 0.85
    figure = Figure(figsize=(WIDTH, height))
    top = 1 - 0.42 / height
    grid = figure.subplots(rows, columns, squeeze=False)
    figure.subplots_adjust(left=0.52 / WIDTH, right=1 - 0.08 / WIDTH, top=top, bottom=0.87 / height, hspace=0.27 / each, wspace=0.08)
    figure.text(0.02, 1 - 0.14 / height, "Scaled stress over length and dimension", fontsize=8, va="center")
    with np.errstate(divide="ignore"):
        colour = np.log2(s.cells)
    image = None
    for k, axis in enumerate(grid.flat):
        if k >= len(s.names):
            axis.set_visible(False)
            continue
        axis.set_facecolor("#d9d9d9")
        image = axis.pcolormesh(np.arange(len(s.dimensions) + 1), np.arange(len(s.lengths) + 1), colour[k], cmap="PuOr_r", vmin=-2, vmax=2,
                                edgecolors="white", linewidth=0.5)
        axis.set_title(shortened(s.names[k]), fontsize=7.5, pad=2.5)
        for ruler, values, most_labels in ((axis.xaxis, s.dimensions, 6), (axis.yaxis, s.lengths, 12)):
            shown = style.thinned(list(range(len(values))), most_labels)
            ruler.set_ticks([i + 0.5 for i in shown], [str(values[i]) for i in shown])
        axis.tick_params(length=1.5, pad=1.5)
        if k % columns:
            axis.set_yticklabels([])
        else:
            axis.set_ylabel("length n")
        if k + columns < len(s.names):
            axis.set_xticklabels([])
        else:
            axis.set_xlabel("dimension d", labelpad=1)
    bar = figure.colorbar(image, cax=figure.add_axes((0.22, 0.4 / height, 0.56, 0.07 / height)), orientation="horizontal", extend="both")
    bar.set_ticks([-2, -1, 0, 1, 2], labels=["¼", "½", "1", "2", "4"])
    bar.outline.set_visible(False)
    bar.set_label("÷ constant baseline: below 1 fits better (grey: undefined)", labelpad=1.5)
    return figure
