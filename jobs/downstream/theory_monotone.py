"""Conjecture 5 (training makes an encoding's distances grow with |i-j|) where it can be computed: the linearised regime.

One layer with the attention matrix A [n, n] held fixed, values and output W [d, d], and a squared loss towards the embedding of the token itself:
    loss(P) = 1/2 mean over documents of |A (E_t + P) W - U_t|^2,    E_t, U_t [n, d]: rows of two fixed embeddings at the document's tokens.
It is quadratic in P, and the documents enter through their means alone, mean E_t = mu E and mean U_t = mu U, with mu [n, V] the corpus's position
distributions. So the gradient flow dP/dt = -A' (A (mu E + P) W - mu U) W' = G - M P K is linear, with
    M = A' A,    K = W W',    G = A' (mu U - A mu E W) W'.
In the eigenbases M = Q diag(l) Q', K = R diag(g) R' each entry p of Q' P R has a rate l g of its own:
    p(t) = exp(-l g t) p(0) + G~ (1 - exp(-l g t)) / (l g),    G~ = (Q' G R)_entry,    and p(0) + t G~ where l g = 0.
To first order P(t) = P(0) + t G: the distances that appear first are those of the rows of A' (mu U - A mu E W) W', differences of the distributions mu_i
smoothed by A, so the corpus's own triples decide what becomes monotone.
"""
import numpy as np
import torch

import train
from distances import distances, hellinger, read_distributions, violation_rate
from figures import figure, save, style


def attentions(n):
    """Fixed attention matrices, rows summing to 1."""
    lag = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    local = np.exp(-lag / 2.0)
    return {"own position": np.eye(n), "local, exp(-|i-j|/2)": local / local.sum(1, keepdims=True), "half own, half uniform": 0.5 * np.eye(n) + 0.5 / n}


def closed_form(p0, g, m, k, t):
    l, q = np.linalg.eigh(m)
    r, basis = np.linalg.eigh(k)
    rate = np.maximum(l, 0)[:, None] * np.maximum(r, 0)[None]
    x = rate * t
    grown = np.where(x > 1e-12, -np.expm1(-x) / np.where(x > 1e-12, rate, 1.0), t)
    return q @ (np.exp(-x) * (q.T @ p0 @ basis) + grown * (q.T @ g @ basis)) @ basis.T


def simulate(tokens, e, u, a, w, p0, times, step):
    """Gradient descent by autograd over the documents themselves, the table at each of `times` (multiples of step)."""
    e, u, a, w = (torch.from_numpy(x) for x in (e, u, a, w))
    p = torch.from_numpy(p0.copy()).requires_grad_()
    inputs, targets, tables = e[tokens], u[tokens], []
    for k in range(round(times[-1] / step) + 1):
        if any(abs(k * step - t) < step / 2 for t in times):
            tables.append(p.detach().numpy().copy())
        loss = 0.5 * ((a @ (inputs + p) @ w - targets) ** 2).sum((1, 2)).mean()
        p.data -= step * torch.autograd.grad(loss, p)[0]
    return tables


def monotone(context, d=16, documents=256, limit=0.02):
    options = train.parser().parse_args(context.arguments("monotone", "--encoding", "none"))
    train.resolve(options)
    task = train.make_task(options)
    full = np.flatnonzero(task.valid.all(1))
    tokens, n, vocabulary = task.tokens[full], options.length, task.top + 1
    mu = np.stack([np.bincount(tokens[:, i], minlength=vocabulary) for i in range(n)]) / len(tokens)
    premise = violation_rate(hellinger(mu))
    random = np.random.default_rng(1)
    e, u = (random.normal(size=(vocabulary, d)) / np.sqrt(d) for _ in range(2))
    w = np.linalg.qr(random.normal(size=(d, d)))[0] * np.linspace(0.5, 1.5, d)
    p0 = 1e-3 * random.normal(size=(n, d))
    few = tokens[random.permutation(len(tokens))[:documents]]
    mu_few = np.stack([np.bincount(few[:, i], minlength=vocabulary) for i in range(n)]) / len(few)
    errors, rates, descent, times = {}, {}, {}, np.concatenate(([0.0], np.geomspace(0.001, 100, 26)))
    for name, a in attentions(n).items():
        m, k = a.T @ a, w @ w.T

        def force(distribution):
            return a.T @ (distribution @ u - a @ distribution @ e @ w) @ w.T
        checked = [0.0, 0.08, 0.4, 0.8, 1.6]
        exact = [closed_form(p0, force(mu_few), m, k, t) for t in checked]
        errors[name] = []
        for step in (0.04, 0.02, 0.01):
            found = simulate(torch.from_numpy(few), e, u, a, w, p0, checked, step)
            errors[name].append(max(np.abs(x - y).max() / np.abs(y).max() for x, y in zip(found, exact)))
        descent[name] = {"step": [round(t / step) for t in checked], "simulated": [violation_rate(distances(x)) for x in found],
                         "closed_form": [violation_rate(distances(y)) for y in exact]}
        rates[name] = [violation_rate(distances(closed_form(p0, force(mu), m, k, t))) for t in times]
    of_h = read_rate(options)
    draw(context.out, times, rates, premise, errors)
    claims = {}
    for name, error in errors.items():
        told = ", ".join(f"{x:.2g}" for x in error)
        halves = all(1.6 < coarse / fine < 2.5 for coarse, fine in zip(error, error[1:]))
        claims[f"attention '{name}': descent against the closed form, relative error {told} at steps 0.04, 0.02, 0.01 (first order: halves)"] = error[-1] < limit and halves
    findings = [f"the premise, H monotone in |i-j|, fails in {100 * premise:.1f} % of the triples of these {len(tokens)} documents"
                + (f" ({100 * of_h:.1f} % in the counts of the whole corpus)" if of_h is not None else "")]
    findings += [f"attention '{name}': violations {100 * x[0]:.1f} % at the random start, {100 * min(x[1:]):.1f} % at best, {100 * x[-1]:.1f} % in the end"
                 for name, x in rates.items()]
    for name, x in descent.items():
        told = ", ".join(f"{100 * rate:.1f} % at step {k}" for k, rate in zip(x["step"], x["simulated"]))
        apart = max(abs(one - other) for one, other in zip(x["simulated"], x["closed_form"]))
        findings.append(f"attention '{name}', violations along the simulated descent ({documents} documents): {told}; the closed form's differ by"
                        f" {100 * apart:.1f} points at most")
    return {"claims": claims, "findings": findings, "descent": descent, "time": list(times), "violation_rate": rates, "premise": premise, "errors": errors}


def read_rate(options):
    if not options.posgeom:
        return None
    mu, _ = read_distributions(f"{options.posgeom}/counts.h5", options.length)
    return violation_rate(hellinger(mu)) if mu is not None else None


def draw(folder, times, rates, premise, errors):
    fig, (left, right) = figure(2)
    for k, (name, rate) in enumerate(rates.items()):
        left.plot(times, 100 * np.array(rate), label=name, markersize=4, **style(k))
        right.plot([0.04, 0.02, 0.01], errors[name], label=name, **style(k))
    left.axhline(100 * premise, color="black", linestyle="--", label="the corpus's own H")
    left.axhline(50, color="#8C8C8C", linestyle=":", label="no order")
    left.set_xscale("symlog", linthresh=1e-3)
    left.set_xlabel("time of the gradient flow (steps x step size)")
    left.set_ylabel("monotonicity violations (% of triples)")
    left.set_xlim(0, 1.2 * times[-1])
    left.set_xticks([0, 1e-2, 1, 100], ["0", "0.01", "1", "100"])
    left.set_ylim(0, None)
    left.legend(fontsize=9)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xticks([0.01, 0.02, 0.04], ["0.01", "0.02", "0.04"])
    right.set_yticks([0.0025, 0.005, 0.01, 0.02, 0.04], ["0.25 %", "0.5 %", "1 %", "2 %", "4 %"])
    right.minorticks_off()
    right.set_xlabel("step size of the simulation (unit of time)")
    right.set_ylabel("largest relative error against\nthe closed form")
    right.legend(fontsize=9)
    save(fig, folder, "monotone")
