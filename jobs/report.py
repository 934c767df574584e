#!/usr/bin/env python3
"""Figures and one HTML page of a posgeom run or sweep, finished or not.

  jobs/report.py OUT [-o FILE.html]     OUT: the --out of posgeom; writes OUT/report/*.png, *.svg and index.html

Needs numpy, h5py and matplotlib (Debian: python3-numpy python3-h5py python3-matplotlib). Exit 0: written; 1: one line on stderr that
starts `report: error: `; 2: usage.
"""
import argparse
import os
import sys
from pathlib import Path

try:
    import numpy as np
    from report_pages import figures, page, series, words
    from report_pages.distances import hellinger
    from report_pages.files import ReportError, read_run
    from report_pages.style import save
except ImportError as error:
    print(f"report: error: {sys.executable} has no module {error.name}; install numpy, h5py and matplotlib for it (Debian: apt-get install "
          f"python3-h5py python3-matplotlib, then /usr/bin/python3 jobs/report.py ...)", file=sys.stderr)
    sys.exit(1)

LAG = "Mean distance of positions by their lag, each encoding at the dimension of its least scaled stress and times its best scale"


def edge_note(s):
    """Says so where a curve goes below the figure."""
    low, _ = figures.limits(s)
    below = any((y < low).any() for _, y in (*s.curves.values(), *s.shuffled.values()))
    return ". What is below the lower edge is drawn on it" if below else ""


def draw_length(run, n, names, folder):
    """The figures of one length: (path, caption), in the order of the page."""
    drawn = []

    def add(figure, name, caption):
        if figure is not None:
            drawn.append((save(figure, folder, f"{name}-{n}"), caption))

    geometry, stress = run.geometry.get(n), run.collected.get(n)
    if geometry:
        s = series.spectrum(geometry)
        caption = "Eigenvalues of the Gram matrix of the Hellinger distances"
        if "shuffled" in s.curves:
            caption += "; of the corpus shuffled within its sequences, which has no order"
        if "halves" in s.curves:
            caption += "; across rarefied halves, where above the threshold (shaded) they are not sampling noise"
        add(figures.spectrum(s, n), "spectrum", ". ".join([caption, *s.notes]) + ".")
        add(figures.components(geometry), "components", "Coordinates of the positions along the leading MDS components.")
        h = hellinger(run, n)
        if h:
            add(figures.heat_map(h, n), "hellinger", f"Hellinger distances between the positions' token distributions ({h.source}).")
    if stress:
        for measure in ("raw", "scaled"):
            s = series.against_dimension(stress, measure)
            caption = {"raw": "Raw stress: mostly the encoding's scale", "scaled": "Scaled stress: at the best scale; an encoding above the "
                       "constant baseline fits worse than one with all distances equal"}[measure]
            if s.shuffled:
                caption += ". Thin: the same encodings on shuffled text"
                if measure == "scaled" and np.isfinite(stress.shuffled_baseline):
                    caption += (f", whose constant baseline is {words.g(stress.shuffled_baseline)}: a curve is compared with the baseline of its own text, "
                                "not with the other text's curve")
            caption += edge_note(s)
            if s.undefined:
                caption += f". Undefined, left out: {'; '.join(f'{k} at d = ' + ', '.join(map(str, v)) for k, v in s.undefined.items())}"
            add(figures.against_dimension(s, names, n, measure), f"stress_{measure}", caption + ".")
    s = series.against_lag(run, n)
    if s is not None:
        caption = LAG + (f"; H: what the corpus has ({s.h_source})" if s.h_source else "")
        caption += "; above noise: the signal encoding, unscaled" if s.signal else ""
        caption += f". Distances of {', '.join(s.sources['definition'])} from their definitions" if "definition" in s.sources else ""
        caption += ". random: the root of the expected square" if "expected square" in s.sources else ""
        caption += f". Not drawn: {'; '.join(s.not_drawn)}" if s.not_drawn else ""
        add(figures.against_lag(s, names, n), "lag", caption + ".")
    return drawn


def draw_overview(run, names, folder, d):
    """The figures over all lengths: (path, caption)."""
    if not run.collected:
        return []
    drawn = []
    if d is None:
        d = series.common_dimension(run.collected, [g.rank for g in run.geometry.values() if g.rank > 0])
    if d is not None and len(run.collected) > 1:
        for measure in ("scaled", "raw"):
            s = series.against_length(run.collected, measure, d)
            figure = figures.against_length(s, names, d, measure)
            if figure is not None:
                drawn.append((save(figure, folder, f"length_{measure}"),
                              f"{measure.capitalize()} stress at d = {d} against the number of positions{edge_note(s)}."))
    figure = figures.sweep(series.relative_to_baseline(run.collected))
    if figure is not None:
        drawn.append((save(figure, folder, "sweep"),
                      "Scaled stress of every encoding at every length and dimension, over the constant baseline of the length: above 1 (orange) an "
                      "encoding fits no better than equal distances would."))
    return drawn


def write_report(out, html=None, lengths=(), dimension=None):
    """Writes figures and page; the page's path."""
    run = read_run(out, lengths)
    folder = Path(out) / "report"
    html = Path(html) if html else folder / "index.html"
    try:
        folder.mkdir(exist_ok=True)
        names = list(dict.fromkeys(name for n in sorted(run.collected) for name in run.collected[n].names))
        overview = draw_overview(run, names, folder, dimension)
        sections = [(n, words.findings(run, n), draw_length(run, n, names, folder), run.collected.get(n)) for n in run.lengths]
        text = page.page(run, [(n, words.verdict(run, n)) for n in run.lengths], sections, overview)
        partial = html.with_name(html.name + ".partial")
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, html)
    except OSError as error:
        raise ReportError(f"writing the report to {error.filename or html}: {error.strerror}") from error
    for text in (*run.warnings, *run.missing):
        print(f"report: {text}")
    return html


def main(arguments):
    parser = argparse.ArgumentParser(prog="jobs/report.py", description="Figures and one HTML page of a posgeom run or sweep, finished or not.")
    parser.add_argument("out", metavar="OUT", help="the folder that was posgeom's --out")
    parser.add_argument("-o", "--output", metavar="FILE.html", help="the page (OUT/report/index.html)")
    parser.add_argument("--lengths", metavar="N,...", default="", help="only these lengths (all)")
    parser.add_argument("--dimension", metavar="D", type=int, help="of the figures against length (one at which all encodings are defined)")
    options = parser.parse_args(arguments)
    try:
        lengths = [int(n) for n in options.lengths.split(",") if n]
    except ValueError:
        parser.error(f"--lengths is {options.lengths!r}, expected numbers with commas between")
    try:
        html = write_report(options.out, options.output, lengths, options.dimension)
    except ReportError as error:
        print(f"report: error: {error}", file=sys.stderr)
        return 1
    print(f"report: {html}, figures in {Path(options.out) / 'report'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
