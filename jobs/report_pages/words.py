"""The findings in sentences. Where posgeom's own summary says the same thing (noise_sentences, report_length), in its words."""
import numpy as np

from .series import SMALLEST, best_dimension

OF_THE_CORPUS = ("mds", "smacof")  # against shuffled text they are the shuffled corpus's own


def g(value, digits=4):
    return f"{value:.{digits}g}" if np.isfinite(value) else "undefined"


def percent(value):
    return f"{g(100 * value)} %" if np.isfinite(value) else "undefined"


def number_of(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def components_stand(count):
    return "no component stands" if count == 0 else f"{count} component{' stands' if count == 1 else 's stand'}"


def participants(noise, length):
    mn, total = len(noise.position), noise.rarefied_total
    if mn == 0:
        what = "has tokens" if total == 0 else f"holds M = {total} tokens"
        return f"none of {length} positions {what} in both halves: nothing can be said about sampling noise"
    text = f"{mn} of {length} positions hold{'s' if mn == 1 else ''} at least M = {total} tokens in each half and take part"
    fewer, unreached = noise.reached - mn, length - noise.reached
    text += f"; {fewer} hold{'s' if fewer == 1 else ''} fewer" if fewer > 0 else ""
    return text + (f"; {unreached} {'is' if unreached == 1 else 'are'} not reached" if unreached > 0 else "")


def above_noise(noise):
    if len(noise.position) == 1:
        return "one position alone has no distances: nothing can be said about sampling noise"
    text = (f"{components_stand(noise.signal_rank)} above sampling noise (M = {noise.rarefied_total} tokens a half at {number_of(len(noise.position), 'position')}; "
            f"threshold {g(noise.threshold)}, at most {g(100 * noise.alpha, 6)} % false alarms by {number_of(len(noise.null_largest), 'replicate')})")
    if noise.signal_rank == 0:
        return text + ": the positions are indistinguishable from draws of one common distribution"
    return text + f", with a trace of {g(noise.signal_trace)}"


def above_order(noise):
    text = (f"{components_stand(noise.signal_rank_order)} above what the tokens show without their order (largest eigenvalue "
            f"{g(noise.shuffled_split_largest)} of the shuffled corpus's halves)")
    if noise.signal_rank_order == 0:
        return text + ": the order of the tokens is indistinguishable from shuffled text"
    if noise.signal_rank_order > noise.signal_rank:
        text += f"; only the {noise.signal_rank} above sampling noise count{'s' if noise.signal_rank == 1 else ''}"
    if min(noise.signal_rank_order, noise.signal_rank) == 1 and noise.split_eigenvalues[0] < 2 * noise.shuffled_split_largest:
        text += "; one alone, and by less than twice: where order plays no part, that happens about every other time"
    others = noise.signal_rank - noise.signal_rank_order
    if others > 0:
        text += f"; the other {others} above sampling noise {'is' if others == 1 else 'are'} no larger than order-free text shows"
    return text


def noise_sentences(noise, length):
    """As `posgeom inspect` words them."""
    sentences = []
    if noise.position is not None:
        if len(noise.position):
            sentences.append(above_noise(noise))
        if len(noise.position) > 1 and noise.signal_rank_order >= 0:
            sentences.append(above_order(noise))
        sentences.append(participants(noise, length))
        if np.isfinite(noise.reliability):
            sentences.append(f"the two halves' distances correlate at {g(noise.reliability)} ({g(noise.reliability_of_whole)} for both together)")
    if noise.shuffled_eigenvalues is not None:
        if np.isfinite(noise.shuffled_share):
            keeps = f"keeps {percent(noise.shuffled_share)} of the sum of squared distances"
        else:
            keeps = "has distances, the corpus has none" if noise.shuffled_trace > 0 else "has no distances either"
        rate = noise.shuffled_violation_rate
        violations = f"{percent(rate)} monotonicity violations" if np.isfinite(rate) else "too few positions for monotonicity violations"
        over = (f" (over {number_of(len(noise.shuffled_eigenvalues), 'position')} with the tokens that the geometry has, not M: thinner positions keep more, so that "
                "other lengths and corpora are not comparable)")
        sentences.append(f"the corpus shuffled within its sequences {keeps}: rank {noise.shuffled_rank}, trace {g(noise.shuffled_trace, 6)}, "
                         f"{violations}{over if np.isfinite(noise.shuffled_share) else ''}")
    return sentences


def judged(names, scaled, baseline):
    """Names of the encodings whose least scaled stress [E, D] beats the constant baseline, and of those whose does not."""
    least = {name: np.nanmin(row) for name, row in zip(names, scaled) if np.isfinite(row).any()}
    better = [name for name, value in least.items() if value < baseline]
    return better, [name for name in least if name not in better]


def listed(parts, most=12):
    return ", ".join(parts[:most]) + (f" and {len(parts) - most} more" if len(parts) > most else "")


def fitted_noise(stress):
    """mds and smacof at dimensions where their de-noised stress is larger again than its least."""
    sentences = []
    for name, row in zip(stress.names, stress.denoised.get("scaled", ())):
        if name not in OF_THE_CORPUS or not np.isfinite(row).any():
            continue
        best = int(np.nanargmin(row))
        worst = best + int(np.nanargmax(row[best:]))
        if row[worst] > 1.05 * row[best]:
            sentences.append(f"{name}: beyond d = {stress.dimension[best]} it fits sampling noise: the de-noised stress is least there ({g(row[best])}), and "
                             f"{g(row[worst])} at d = {stress.dimension[worst]}")
    return sentences


def beyond_signal(stress, noise, rank):
    """mds and smacof where they are wider than what stands above sampling noise, and nothing tells how they fare there."""
    names = [name for name in OF_THE_CORPUS if name in stress.names]
    scored = np.isfinite([stress.tables["raw"][stress.names.index(name)] for name in names]).any(axis=0) if names else []
    beyond = [str(d) for d, there in zip(stress.dimension, scored) if there and d > noise.signal_rank]
    if not beyond or 0 <= rank <= noise.signal_rank:
        return []
    above = "no component stands above sampling noise" if noise.signal_rank == 0 else f"only {components_stand(noise.signal_rank)} above sampling noise"
    return [f"{' and '.join(names)} at d = {listed(beyond)}: {above}; what {'it gains' if len(names) == 1 else 'they gain'} beyond may be fitted noise"]


def denoised_sentences(stress, noise):
    best = []
    for name, row in zip(stress.names, stress.denoised.get("scaled", ())):
        if np.isfinite(row).any():
            best.append(f"{name} {g(np.nanmin(row))} (d = {stress.dimension[np.nanargmin(row)]})")
    if not best:
        return []
    sentences = [f"against the de-noised distances the least scaled stress is: {listed(best)}; {g(stress.denoised_baseline)} with all distances equal"]
    if "signal" in stress.names:
        sentences.append("judge signal by its de-noised stress, though it comes from the same halves: H, which the other tables are against, has the noise that "
                         "signal leaves out" + (f" (here at the {number_of(len(noise.position), 'position')} of the noise analysis)" if noise else ""))
    elif noise and noise.signal_rank > 0:
        sentences.append(f"the signal encoding (/noise/signal_encoding, {number_of(noise.signal_rank, 'column')}) is to be judged by de-noised stress, not "
                         "against H: --encodings mds,signal,... scores it")
    return sentences


def constant_sentence(stress):
    if not np.isfinite(stress.constant_baseline):
        return "the constant baseline is undefined: all distances are zero, or there is no pair of positions"
    _, worse = judged(stress.names, stress.tables["scaled"], stress.constant_baseline)
    return (f"an encoding with all distances equal has scaled stress {g(stress.constant_baseline, 6)} (constant baseline)"
            + (f"; no better than that at any d: {listed(worse)} (for order, see the violation rate)" if worse else ""))


def exact_from(stress, name):
    """The least dimension at which the scaled stress is zero to rounding."""
    return int(stress.dimension[np.flatnonzero(stress.tables["scaled"][stress.names.index(name)] <= SMALLEST)].min())


def fit_sentences(stress):
    """What the figures alone leave out: at which d an encoding is best, and where it reproduces H."""
    better = judged(stress.names, stress.tables["scaled"], stress.constant_baseline)[0]
    best = [(name, *best_dimension(stress, name)[:2]) for name in better]
    fitted = [f"{name} ({g(scaled)} at d = {d})" for name, d, scaled in best if scaled > SMALLEST]
    exact = [f"{name} (from d = {exact_from(stress, name)})" for name, _, scaled in best if scaled <= SMALLEST]
    sentences = [f"better than with all distances equal, at their best d: {', '.join(fitted)}"] if fitted else []
    if exact:
        sentences.append(f"these reproduce all distances, sampling noise included: {', '.join(exact)}; what is fitted to H does so at its rank, or shortly before")
    return sentences


def shuffled_sentences(stress):
    """Scaled stresses of two corpora cannot be compared with each other, since the nearer H is to a constant the less any fit leaves: each is
    judged by its own baseline."""
    if "scaled" not in stress.shuffled or not np.isfinite(stress.shuffled_baseline):
        return []
    raw = [f"{name} {g(value)}" for name, value in zip(stress.names, stress.shuffled["raw"][:, -1]) if not np.isnan(value)]
    if not raw:
        return []
    here, _ = judged(stress.names, stress.tables["scaled"], stress.constant_baseline)
    there, _ = judged(stress.names, stress.shuffled["scaled"], stress.shuffled_baseline)
    return [f"against shuffled text, which has no order, better in scaled stress than all distances equal ({g(stress.shuffled_baseline)}): "
                 f"{listed(there) or 'none'}; against the text itself ({g(stress.constant_baseline)}): {listed(here) or 'none'}; raw stress against shuffled text at d = "
                 f"{stress.dimension[-1]}, which mostly follows an encoding's scale: {listed(raw)}"]


def stress_sentences(stress, geometry=None):
    """Without what the program says of noise and geometry."""
    noise = geometry.noise if geometry else None
    analysed = noise if noise and noise.position is not None and len(noise.position) > 1 else None
    sentences = fitted_noise(stress)
    if analysed and not stress.denoised:
        sentences += beyond_signal(stress, analysed, geometry.rank)
    sentences += denoised_sentences(stress, analysed) + [constant_sentence(stress)] + fit_sentences(stress) + shuffled_sentences(stress)
    if np.isfinite(stress.corpus_violation_rate):
        sentences.append(f"in {100 * stress.corpus_violation_rate:.2f} % of the triples the nearer position is the one farther away in H (violation "
                         "rate of the corpus itself; the conjecture that training makes an encoding monotone presumes 0 %)")
    undefined = [f"{name} at d = {', '.join(str(d) for d, x in zip(stress.dimension, row) if np.isnan(x))}"
                 for name, row in zip(stress.names, stress.tables["raw"]) if np.isnan(row).any()]
    if undefined:
        sentences.append(f"undefined, and left out of the figures: {'; '.join(undefined)}")
    return sentences


def geometry_sentences(x):
    m, known = len(x.position), lambda k: "not known" if k < 0 else str(k)
    sentences = [f"{m} position{'' if m == 1 else 's'} kept ({x.unreached}), rank {known(x.rank)}, trace {g(x.trace, 8)}, mean H "
                 f"{g(x.mean_hellinger, 8)}",
                 f"entropy rank {g(x.entropy_rank)}, participation ratio {g(x.participation_ratio)}, dimensions for 90/95/99 %: "
                 f"{known(x.dims_90)}/{known(x.dims_95)}/{known(x.dims_99)}"]
    fewest, most = getattr(x, "fewest_tokens", 0), getattr(x, "most_tokens", 0)
    if m > 1 and fewest > 0 and most >= 2 * fewest:
        sentences.append(f"positions hold {fewest} to {most} tokens ({g(most / fewest, 3)} times as many): few tokens alone make distances larger, so that they "
                         "grow towards the thinly counted positions, mostly the tail; --rarefy-geometry M or auto brings all to as many")
    if 0 < x.rank == m - 1:
        sentences.append("the rank is the largest possible: finite counts alone make every position look independent, so it is no evidence of order")
    if x.rank > 0 and x.parameters_full > 0:
        saves = x.parameters_factored < x.parameters_full
        sentences.append(f"factored by its rank the encoding takes {x.parameters_factored} parameters, in full {x.parameters_full}"
                         + ("" if saves else ": factoring saves nothing here"))
    return sentences


def findings(run, length):
    """All sentences on a length, without full stops."""
    sentences, geometry = [], run.geometry.get(length)
    if geometry:
        sentences += geometry_sentences(geometry)
        sentences += [f"noise: {s}" for s in noise_sentences(geometry.noise, length)] if geometry.noise else []
    if length in run.collected:
        sentences += stress_sentences(run.collected[length], geometry)
    return sentences


def verdict(run, length):
    """The one sentence to read first."""
    geometry = run.geometry.get(length)
    if geometry is None:
        return "no geometry file: nothing can be said about noise"
    noise, rank = geometry.noise, geometry.rank if geometry.rank >= 0 else "not known"
    if noise is None:
        return f"rank {rank}; how much of it stands above sampling noise was not analysed"
    kept = f"; shuffled text keeps {percent(noise.shuffled_share)} of the sum of squared distances" if np.isfinite(noise.shuffled_share) else ""
    if noise.position is None:
        return f"rank {rank}, signal rank not known (no halves){kept}"
    if len(noise.position) < 2:
        return f"rank {rank}; nothing can be said about sampling noise{kept}"
    if noise.signal_rank == 0:  # then what is above one shuffled corpus is chance
        return f"rank {rank}, but the positions are indistinguishable from draws of one common distribution, and so from shuffled text{kept}"
    text = f"rank {rank}; {components_stand(noise.signal_rank)} above sampling noise"
    if noise.signal_rank_order == 0:
        text += "; the order of the tokens is indistinguishable from shuffled text"
    elif noise.signal_rank_order > 0:
        text += f", {noise.signal_rank_order} above shuffled text"
    return text + kept
