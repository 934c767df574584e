"""One HTML page with everything in it: no other file and no network is needed to read it."""
import base64
from html import escape

import numpy as np

CSS = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 0 auto; padding: 1.2rem; max-width: 68rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-top: 1px solid #ccc; padding-top: 0.8rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1.2rem; align-items: start; }
figure { margin: 0; } figure img { width: 100%; height: auto; } figcaption { font-size: 0.85rem; color: #444; }
table { border-collapse: collapse; font-size: 0.85rem; } 
td, th { text-align: left; padding: 0.15rem 0.7rem 0.15rem 0; vertical-align: top; overflow-wrap: anywhere; }
.numbers td, .numbers th { text-align: right; } .numbers td:first-child, .numbers th:first-child { text-align: left; }
.missing { background: #fff4dd; border-left: 4px solid #E69F00; padding: 0.3rem 1rem; }
.wrong { background: #fde7df; border-left: 4px solid #D55E00; padding: 0.3rem 1rem; }
li { margin: 0.25rem 0; } .scroll { overflow-x: auto; } @media print { figure, tr { break-inside: avoid; } }
"""


def sentence(text):
    """With a capital, unless it begins with the name of a file or an encoding, and a full stop."""
    first = text.partition(" ")[0]
    is_name = ".h5" in first or first in ("mds", "smacof")
    return escape(text if is_name else text[:1].upper() + text[1:]) + ("" if text.endswith((".", "!", "?")) else ".")


def items(texts):
    return "<ul>" + "".join(f"<li>{sentence(text)}</li>" for text in texts) + "</ul>"


def figure(path, caption):
    data = base64.b64encode(path.read_bytes()).decode()
    return (f'<figure><img alt="{escape(caption)}" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>")


def figures(drawn):
    return '<div class="figures">' + "".join(figure(path, caption) for path, caption in drawn) + "</div>" if drawn else ""


def table(stress):
    """Raw and scaled stress and the violation rate as numbers."""
    parts = []
    for title, name in (("raw stress", "raw"), ("scaled stress", "scaled"), ("violation rate", "violation_rate")):
        head = "".join(f"<th>d = {d}</th>" for d in stress.dimension)
        rows = "".join("<tr><td>" + escape(e) + "</td>" + "".join(f"<td>{'–' if np.isnan(x) else f'{x:.4g}'}</td>" for x in row) + "</tr>"
                       for e, row in zip(stress.names, stress.tables[name]))
        parts.append(f'<div class="scroll"><table class="numbers"><tr><th>{title}</th>{head}</tr>{rows}</table></div>')
    return "<details><summary>The numbers</summary>" + "".join(parts) + "</details>"


def provenance(run):
    """What made the files: what is common to all once, then what differs, file by file."""
    files = [x for x in (run.counts, *run.geometry.values(), *run.stress.values(), run.sweep) if x]
    keys = list(files[0].provenance)
    same = [key for key in keys if len({x.provenance[key] for x in files}) == 1 and key != "format"]
    rows = "".join(f"<tr><td>{key}</td><td>{escape(str(files[0].provenance[key]))}</td></tr>" for key in same)
    differing = [key for key in keys if key not in same]
    head = "".join(f"<th>{key}</th>" for key in ["file", *differing])
    body = "".join("<tr>" + "".join(f"<td>{escape(str(v))}</td>" for v in [x.path.name, *(x.provenance[k] for k in differing)]) + "</tr>"
                   for x in files)
    counts = ""
    if run.counts:
        c = run.counts
        counts = (f"<p>{c.document_count} documents, {c.token_count} tokens, V = {c.vocab_size}, sequences: {escape(str(c.sequences))}, "
                  f"the longest document has {c.longest_document} tokens.</p>")
    config = escape("\n".join(f"{k} = {v}" for k, v in files[-1].options.items()))
    return (f'{counts}<table>{rows}</table><h3>By file</h3><div class="scroll"><table><tr>{head}</tr>{body}</table></div>'
            f"<details><summary>All options</summary><pre>{config}</pre></details>")


def page(run, verdicts, sections, overview):
    """`verdicts`: (n, sentence); `sections`: (n, findings, figures, stress or None); `overview`: figures over all lengths."""
    name = run.folder.resolve().name
    corpus = next((x.options.get("corpus", "") for x in (run.counts, *run.geometry.values(), *run.collected.values()) if x), "")
    parts = ['<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
             f"<title>posgeom: {escape(name)}</title><style>{CSS}</style></head><body>",
             f"<h1>Positional geometry of {escape(corpus or name)}</h1><p>A report of the posgeom run in <code>{escape(str(run.folder))}</code>.</p>"]
    if run.warnings:
        parts.append(f'<div class="wrong"><strong>Does not fit together</strong>{items(run.warnings)}</div>')
    if verdicts:
        parts.append("<h2>In short</h2>" + items(f"length {n}: {text}" for n, text in verdicts))
    if run.missing:
        parts.append(f'<div class="missing"><strong>Missing</strong>{items(run.missing)}</div>')
    if overview:
        parts.append("<h2>Over lengths and dimensions</h2>" + figures(overview))
    for n, findings, drawn, stress in sections:
        parts.append(f'<h2 id="n{n}">Length {n}</h2>{items(findings)}{figures(drawn)}{table(stress) if stress else ""}')
    parts.append(f"<h2>Where this comes from</h2>{provenance(run)}</body></html>\n")
    return "\n".join(parts)
