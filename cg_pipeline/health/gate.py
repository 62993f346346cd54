"""Whether an SAE fits the model that reads with it: each figure against its bound, with the likely cause.

Figures alone do not tell a wrong layer from a wrong model, so the cause is read off experiments: what
the SAE explains at every layer, at other scales of its input, without the BOS that prompts have or
with one that they lack. What explains clearly more is what is wrong; if nothing does, it is the model.

What the default bounds (`health_specs.ReaderGate`) were chosen from, on the embedded reader and suite:
it explains 0.81 of the variance at its layer, 0.76 and 0.75 at the two beside it, 0.50 six layers on,
less than nothing at the first and the last; 0.28 at half the scale. It recovers 0.97 to 0.98 of the loss at
its layer, 0.97 and 0.96 beside it, 0.78 seven layers before, 0.72 eight after. So bounds on either catch
another model and a wrong scale, and never a neighbouring layer: that takes a comparison of layers on
the same tokens, whose difference is 0.05 there, and may be 0.02 the wrong way.
"""

import math
from collections.abc import Iterator, Sequence

from cg_pipeline.health_records import GateFinding, ReaderFit
from cg_pipeline.health_specs import ReaderGate
from cg_pipeline.specs import Sae

MOST_BOS = 1
_CLEARLY = 0.1
"""How much more of the variance an experiment must explain to be the cause of a figure that misses."""


def judge_fit(fit: ReaderFit, sae: Sae) -> list[GateFinding]:
    """Every figure of the gate, in the order in which faults are worth looking at."""
    cause = likely_cause(fit, sae)
    return [
        *_sound(fit),
        *_best_use(fit, sae.gate, cause),
        *_absolute(fit, sae.gate, cause),
        *_published(fit, sae, cause),
    ]


def passes_gate(findings: Sequence[GateFinding]) -> bool:
    """Whether everything holds; nothing to look at is no pass."""
    return bool(findings) and all(finding.passed for finding in findings)


def gate_sentence(findings: Sequence[GateFinding]) -> str:
    """What misses with its likely cause, or that nothing does, in one sentence."""
    missed = [finding for finding in findings if not finding.passed]
    if not missed:
        return f"all {len(findings)} figures hold" if findings else "nothing was measured"
    causes = "; ".join(dict.fromkeys(finding.cause for finding in missed))
    return f"SAE {missed[0].sae!r}: {'; '.join(each.sentence for each in missed)} (likely cause: {causes})"


def require_gate(findings: Sequence[GateFinding], model: str, identity: str) -> None:
    """Refuse to read with an SAE that did not pass, or that is not the one that did.

    Args:
        findings: what the gate said for a model's study.
        model: name of the model.
        identity: hash of the SAE, its weights and its model, as they are now.

    Raises:
        ValueError: it did not pass, or was another one.
    """
    if not passes_gate(findings):
        raise ValueError(
            f"The reader of {model!r} did not pass its gate: {gate_sentence(findings)}. Correct the SAE's "
            "spec, or set its bounds (gate) to what you accept, and materialise reader_gate again."
        )
    if any(finding.identity != identity for finding in findings):
        raise ValueError(
            f"The reader of {model!r} is {identity}; {findings[0].identity} passed the gate. Materialise "
            "reader_fit and reader_gate again."
        )


def likely_cause(fit: ReaderFit, sae: Sae) -> str:
    """What is probably wrong, if an SAE explains too little: the experiment that explains enough, and most.

    Enough is what the gate asks for; and clearly more than without it.
    """
    if fit.n_not_finite or fit.n_negative:
        return "values that are no numbers from 0 up"
    enough = _enough(sae)
    told = [(value, cause) for value, more, cause in _experiments(fit, sae.gate) if value >= enough and more]
    if told:
        return max(told)[1]
    if _exceeds(fit.content_explained_variance, fit.explained_variance, _CLEARLY):
        return (
            f"BOS or template tokens are counted (token_mask), which it was not trained on: of the examples' "
            f"own text it explains {fit.content_explained_variance:.2f}"
        )
    return f"wrong model, if it was trained well: no other layer, scale or BOS of {fit.reader!r} fits either"


def _enough(sae: Sae) -> float:
    """Explained variance of an SAE in its place."""
    known = sae.published.explained_variance if sae.published else None
    least = sae.gate.min_explained_variance
    return least if known is None else max(least, known - sae.gate.max_shortfall)


def _experiments(fit: ReaderFit, gate: ReaderGate) -> Iterator[tuple[float, bool, str]]:
    """What each explains, whether that is clearly more than without it, and what it would mean."""
    own = fit.probed_explained_variance
    for place, value in _elsewhere(fit):
        cause = f"wrong layer, for it explains {value:.2f} at {place}"
        yield value, _exceeds(value, own, gate.max_advantage), cause
    value, other = fit.other_bos_explained_variance, "without their BOS" if fit.has_bos else "after a BOS"
    cause = f"stray or missing BOS, for it explains {value:.2f} of prompts read {other}"
    yield value, _exceeds(value, own, gate.max_advantage), cause
    for scale, value in zip(fit.scales, fit.scale_explained_variance, strict=True):
        if scale != 1:
            cause = f"wrong normalisation, for it explains {value:.2f} of states times {scale:g}"
            yield value, _exceeds(value, own, _CLEARLY), cause


def _elsewhere(fit: ReaderFit) -> Iterator[tuple[str, float]]:
    for place, value in zip(fit.hookpoints, fit.hookpoint_explained_variance, strict=True):
        if place != fit.hookpoint and not math.isnan(value):
            yield place, value


def _exceeds(value: float, own: float, margin: float) -> bool:
    """Whether a figure is larger by more than a margin; what is undefined is smaller than any number."""
    return value > margin + own or (math.isnan(own) and not math.isnan(value))


def _sound(fit: ReaderFit) -> Iterator[GateFinding]:
    n = fit.n_not_finite
    found = f"{n:,} tokens have a state, activation or reconstruction that is not finite, expected none"
    cause = "NaN in the weights, or a number too large for the model's dtype"
    yield _finding(fit, "tokens not finite", float(n), 0.0, n == 0, found, cause)
    n = fit.n_negative
    found = f"{n:,} tokens have activations below 0, expected none"
    yield _finding(fit, "tokens below 0", float(n), 0.0, n == 0, found, "an SAE of signed activations")
    n = fit.n_bos
    found = f"a prompt begins with {n} BOS tokens, expected at most {MOST_BOS}"
    cause = "stray BOS, written by both the chat template and the tokenizer"
    yield _finding(fit, "BOS tokens", float(n), float(MOST_BOS), n <= MOST_BOS, found, cause)


def _best_use(fit: ReaderFit, gate: ReaderGate, cause: str) -> Iterator[GateFinding]:
    """No other layer, nor the other BOS, is explained better: on the same tokens, so that little tells."""
    own, most = fit.probed_explained_variance, gate.max_advantage
    best, value = max(_elsewhere(fit), key=lambda found: found[1], default=("", math.nan))
    if best:
        found = f"it explains {value:.3f} of the variance at {best}, {own:.3f} at {fit.hookpoint}"
        holds = value - own <= most  # false for NaN
        yield _finding(fit, "advantage of another layer", value - own, most, holds, found, cause)
    if not math.isnan(value := fit.other_bos_explained_variance):
        other = "without their BOS" if fit.has_bos else "after a BOS, which they lack"
        found = f"it explains {value:.3f} of the variance of prompts read {other}, {own:.3f} as they are"
        holds = value - own <= most
        yield _finding(fit, "advantage of the other BOS", value - own, most, holds, found, cause)


def _absolute(fit: ReaderFit, gate: ReaderGate, cause: str) -> Iterator[GateFinding]:
    yield _at_least(fit, "explained variance", fit.explained_variance, gate.min_explained_variance, cause)
    yield _at_least(fit, "loss recovered", fit.loss_recovered, gate.min_loss_recovered, cause)
    share, most = fit.l0 / fit.d_sae, gate.max_l0_share
    found = f"{fit.l0:.1f} of {fit.d_sae:,} latents fire per token, expected some and at most {most:.0%}"
    yield _finding(fit, "share of latents that fire", share, most, 0 < share <= most, found, cause)


def _published(fit: ReaderFit, sae: Sae, cause: str) -> Iterator[GateFinding]:
    if (published := sae.published) is None:
        return
    if (known := published.explained_variance) is not None:
        told = f", for {known:g} is published ({published.source})"
        bound, figure = known - sae.gate.max_shortfall, "explained variance as published"
        yield _at_least(fit, figure, fit.explained_variance, bound, cause, told)
    if (known := published.l0) is not None:
        most = sae.gate.max_l0_ratio
        ratio = max(fit.l0 / known, known / fit.l0) if fit.l0 > 0 else math.nan
        found = (
            f"{fit.l0:.1f} latents fire per token, expected {known:g} as published ({published.source}), "
            f"or at most {most:g} times more or fewer"
        )
        yield _finding(fit, "l0 as published", ratio, most, ratio <= most, found, cause)


def _at_least(
    fit: ReaderFit, figure: str, value: float, bound: float, cause: str, told: str = ""
) -> GateFinding:
    name = figure.removesuffix(" as published")
    found = f"{name} is {value:.3f}, expected at least {bound:.3g}{told}"
    return _finding(fit, figure, value, bound, value >= bound, found, cause)


def _finding(
    fit: ReaderFit, figure: str, value: float, bound: float, holds: bool, found: str, cause: str
) -> GateFinding:
    return GateFinding(
        model=fit.model,
        sae=fit.sae,
        identity=fit.identity,
        figure=figure,
        value=value,
        bound=bound,
        passed=holds,
        sentence=found,
        cause="" if holds else cause,
    )
