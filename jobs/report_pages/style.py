"""How the figures look: sizes that can be read at half a page's width, and colours that the colour-blind can tell apart."""
import numpy as np
import matplotlib

matplotlib.use("Agg")
from matplotlib import ticker
from matplotlib.figure import Figure

WIDTH = 3.3  # inches: one column of a two-column page, with nothing below 7 points
DOTS = 200   # per inch
matplotlib.rcParams.update({
    "font.size": 7.5, "axes.titlesize": 8, "axes.labelsize": 7.5, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7,
    "font.family": "DejaVu Sans", "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6, "axes.titlelocation": "left",
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "lines.linewidth": 1.3, "lines.markersize": 3.5, "legend.frameon": False,
    "legend.handlelength": 2.2, "legend.columnspacing": 1.2, "legend.handletextpad": 0.5, "legend.borderpad": 0.1, "legend.labelspacing": 0.3,
    "svg.hashsalt": "posgeom", "figure.facecolor": "white"})

# Okabe and Ito's palette without its yellow, which white paper swallows. Lines that may coincide differ in dashes and markers too.
BLACK, ORANGE, SKY, GREEN, BLUE = "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2"
VERMILION, PURPLE, GREY, DARK = "#D55E00", "#CC79A7", "#767676", "#004D40"
ENCODINGS = {"mds": (BLUE, "o", "-"), "smacof": (SKY, "v", "--"), "signal": (DARK, "*", (0, (3, 1))), "sinusoidal": (VERMILION, "s", "-"),
             "rope": (ORANGE, "x", (0, (2, 2.5))), "alibi": (GREEN, "^", "-"), "linear": (PURPLE, "+", (0, (2, 2.5))), "random": (GREY, "D", ":")}
OTHERS = [(colour, marker, dashes) for dashes, marker in (("-.", "h"), ((0, (1, 1)), "<"), ((0, (6, 1, 1, 1)), ">"))
          for colour in (SKY, VERMILION, PURPLE, GREEN, ORANGE, BLUE)]


def looks(names):
    """name -> keywords of plot(); the same encoding looks the same in all figures of a report."""
    others = iter(OTHERS * (1 + len(names) // len(OTHERS)))
    result = {}
    for name in names:
        colour, marker, dashes = ENCODINGS.get(name) or next(others)
        result[name] = {"color": colour, "marker": marker, "linestyle": dashes, "markerfacecolor": "none", "markeredgewidth": 0.9}
    return result


def shortened(name, most=18):
    return name if len(name) <= most else name[:most - 6] + "…" + name[-5:]


def panel(title, legend_entries=0, columns=3, height=1.8, left=0.62, right=0.1):
    """A figure with one axis of a fixed size in inches and room for a legend of so many entries below."""
    rows = -(-legend_entries // columns)
    bottom, top = 0.42 + 0.155 * rows, 0.27
    total = bottom + height + top
    figure = Figure(figsize=(WIDTH, total))
    axis = figure.add_axes((left / WIDTH, bottom / total, 1 - (left + right) / WIDTH, height / total))
    axis.set_title(title)
    return figure, axis


def legend(figure, axis, columns=3):
    handles, labels = axis.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="lower center", ncol=min(columns, len(handles)), bbox_to_anchor=(0.5, 0.0))


def powers_axis(axis, values):
    """A horizontal axis of base 2 with labels where they do not meet: at the powers of two among the values, or at all where few."""
    values = sorted({int(v) for v in values})
    shown = values if len(values) <= 5 else [v for v in values if v & (v - 1) == 0] or values
    shown = thinned(shown, 10 if shown[-1] < 1000 else 8)
    axis.set_xscale("log", base=2)
    axis.set_xticks(shown, [str(v) for v in shown])
    axis.xaxis.set_minor_locator(ticker.NullLocator())


def thinned(values, most):
    """At most so many of the values, in even steps, the last among them."""
    step = -(-len(values) // most)
    return values[::-1][::step][::-1]


def log_axis(axis, low, high):
    """A logarithmic vertical axis with at least two numbers on it."""
    axis.set_yscale("log", nonpositive="clip")
    axis.set_ylim(low, high)
    decades = np.log10(high / low)
    subs = (1.0,) if decades > 2.5 else (1.0, 3.0) if decades > 1.6 else (1.0, 2.0, 5.0) if decades > 0.8 else None
    if subs is None:
        axis.yaxis.set_major_locator(ticker.MaxNLocator(5))
        axis.yaxis.set_minor_locator(ticker.NullLocator())
    else:
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=subs, numticks=7))
    axis.yaxis.set_major_formatter(ticker.FuncFormatter(plain))
    axis.yaxis.set_minor_formatter(ticker.NullFormatter())


def plain(value, _=None):
    """0.01, 1, 300; powers of ten beyond."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:g}"
    exponent = int(np.floor(np.log10(abs(value)) + 1e-9))
    mantissa = value / 10.0**exponent
    return f"$10^{{{exponent}}}$" if abs(mantissa - 1) < 1e-6 else f"${mantissa:g}·10^{{{exponent}}}$"


def save(figure, folder, name):
    """NAME.png and NAME.svg; the path of the latter."""
    figure.savefig(folder / f"{name}.png", dpi=DOTS)
    figure.savefig(folder / f"{name}.svg", dpi=DOTS, metadata={"Date": None})
    return folder / f"{name}.svg"
