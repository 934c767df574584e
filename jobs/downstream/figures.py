"""One look for all figures: Okabe and Ito's colours, which the colour-blind tell apart, with markers of their own; PNG and SVG."""
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C8C")
MARKERS = "osD^vPX*"
plt.rcParams.update({"font.size": 11, "axes.grid": True, "grid.color": "#dddddd", "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
                     "figure.constrained_layout.use": True, "svg.hashsalt": "posgeom", "legend.frameon": False, "lines.linewidth": 1.8})


def style(k):
    """The k-th colour and marker, for plot() and errorbar()."""
    return {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}


def figure(columns=1, rows=1, **options):
    return plt.subplots(rows, columns, figsize=(5.6 * columns, 4.2 * rows), **options)


def save(fig, folder, name):
    """NAME.png and NAME.svg in `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    fig.savefig(folder / f"{name}.png", dpi=150)
    fig.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(fig)
    print(f"figure {folder / name}.png, .svg")
