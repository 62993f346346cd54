"""Whether an SAE fits the model that reads with it: each figure against its bound, with the likely cause.

Figures alone do not tell a wrong layer from a wrong model, so the cause is read off experiments: what
the SAE explains at every layer, at other scales of its input, without the BOS that prompts have or
with one that they lack. What explains clearly more is what is wrong; if nothing does, it is the model.

What the default bounds (`health_specs.ReaderGate`) were chosen from, on the embedded reader and suite:
it explains 0.81 of the variance at its layer, 0.76 and 0.75 at the two beside it, 0.50 six layers on,
less than nothing at the first and the last; 0.28 at half the scale. It recovers 0.98 of the loss at its
layer, 0.97 and 0.96 beside it. So bounds on either catch another model and a wrong scale, and never a
neighbouring layer: that takes a comparison of layers on the same tokens.
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
    cause = likely_cause(fit, sae.gate)
    return [
        *_sound(fit),
        *_best_use(fit, sae.gate),
        *_absolute(fit, sae.gate, cause),
        *_published(fit, sae, cause),
    ]


def passes_gate(findings: Sequence[GateFinding]) -> bool:
    """Whether everything holds; nothing to look at is no pass."""
    return bool(findings) and all(finding.passed for finding in findings)


def gate_sentence(findings: Sequence[GateFinding]) -> str:
    """What misses, or that nothing does, in one sentence."""
    missed = [finding.sentence for finding in findings if not finding.passed]
    if missed:
        return "; ".join(missed)
    return f"all {len(findings)} figures hold" if findings else "nothing was measured"


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


def likely_cause(fit: ReaderFit, gate: ReaderGate) -> str:
    """What is probably wrong with an SAE that explains too little."""
    if fit.n_not_finite or fit.n_negative:
        return "values that are no numbers from 0 up"
    enough = max(_or_lowest(fit.probed_explained_variance) + _CLEARLY, gate.min_explained_variance)
    best = max(_experiments(fit), key=lambda found: found[0], default=(-math.inf, ""))
    if best[0] >= enough:
        return best[1]
    enough = max(_or_lowest(fit.explained_variance) + _CLEARLY, gate.min_explained_variance)
    if fit.content_explained_variance >= enough:
        return (
            f"BOS or template tokens are counted (token_mask), on which it was not trained: it explains "
            f"{fit.content_explained_variance:.2f} of the examples' own text"
        )
    return (
        f"wrong model: no other layer, scale or BOS explains enough, so it belongs to another one than "
        f"{fit.reader!r}, or was badly trained"
    )


def _experiments(fit: ReaderFit) -> Iterator[tuple[float, str]]:
    """What explains the states otherwise, and what that would mean."""
    for place, value in _elsewhere(fit):
        yield value, f"wrong layer: it explains {value:.2f} at {place}"
    if not math.isnan(value := fit.other_bos_explained_variance):
        other = "without the BOS token" if fit.has_bos else "after a BOS token"
        yield value, f"stray or missing BOS: it explains {value:.2f} of prompts read {other}"
    for scale, value in zip(fit.scales, fit.scale_explained_variance, strict=True):
        if scale != 1 and not math.isnan(value):
            yield value, f"wrong normalisation: it explains {value:.2f} of states times {scale:g}"


def _elsewhere(fit: ReaderFit) -> Iterator[tuple[str, float]]:
    for place, value in zip(fit.hookpoints, fit.hookpoint_explained_variance, strict=True):
        if place != fit.hookpoint and not math.isnan(value):
            yield place, value


def _sound(fit: ReaderFit) -> Iterator[GateFinding]:
    n = fit.n_not_finite
    found = f"{n:,} tokens have a state, activation or reconstruction that is not finite, expected none"
    yield _finding(
        fit, "tokens not finite", n, 0, n == 0, found, "NaN or overflow in the model's dtype or weights"
    )
    n = fit.n_negative
    found = f"{n:,} tokens have activations below 0, expected none"
    yield _finding(fit, "tokens below 0", n, 0, n == 0, found, "an SAE of signed activations")
    n = fit.n_bos
    found = f"a prompt begins with {n} BOS tokens, expected at most {MOST_BOS}"
    cause = "a stray BOS, written by both the chat template and the tokenizer"
    yield _finding(fit, "BOS tokens", n, MOST_BOS, n <= MOST_BOS, found, cause)


def _best_use(fit: ReaderFit, gate: ReaderGate) -> Iterator[GateFinding]:
    """No other layer, nor the other BOS, is explained better: on the same tokens, so that little tells."""
    own = fit.probed_explained_variance
    best, value = max(_elsewhere(fit), key=lambda found: found[1], default=("", math.nan))
    if best:
        found = f"it explains {value:.3f} of the variance at {best} and {own:.3f} where it reads"
        yield _no_better(fit, "advantage of another layer", value - own, gate, found, "wrong layer")
    if not math.isnan(value := fit.other_bos_explained_variance):
        other = "without their BOS token" if fit.has_bos else "after a BOS token, which they lack"
        found = f"it explains {value:.3f} of the variance of prompts read {other}, {own:.3f} as they are"
        yield _no_better(fit, "advantage of the other BOS", value - own, gate, found, "stray or missing BOS")


def _absolute(fit: ReaderFit, gate: ReaderGate, cause: str) -> Iterator[GateFinding]:
    yield _at_least(fit, "explained variance", fit.explained_variance, gate.min_explained_variance, cause)
    yield _at_least(fit, "loss recovered", fit.loss_recovered, gate.min_loss_recovered, cause)
    share = fit.l0 / fit.d_sae
    most = f"{gate.max_l0_share:.0%}"
    found = f"{fit.l0:.1f} of {fit.d_sae:,} latents fire per token, expected some and at most {most}"
    holds = 0 < share <= gate.max_l0_share
    yield _finding(fit, "share of latents that fire", share, gate.max_l0_share, holds, found, cause)


def _published(fit: ReaderFit, sae: Sae, cause: str) -> Iterator[GateFinding]:
    if (published := sae.published) is None:
        return
    if published.explained_variance is not None:
        bound = published.explained_variance - sae.gate.max_shortfall
        told = f", {published.explained_variance:g} being published ({published.source})"
        figure = "explained variance as published"
        yield _at_least(fit, figure, fit.explained_variance, bound, cause, told)
    if published.l0 is not None:
        most = sae.gate.max_l0_ratio
        ratio = max(fit.l0 / published.l0, published.l0 / fit.l0) if fit.l0 > 0 else math.nan
        found = (
            f"{fit.l0:.1f} latents fire per token, expected {published.l0:g} as published "
            f"({published.source}), or at most {most:g} times more or fewer"
        )
        yield _finding(fit, "l0 as published", ratio, most, ratio <= most, found, cause)


def _at_least(
    fit: ReaderFit, figure: str, value: float, bound: float, cause: str, told: str = ""
) -> GateFinding:
    name = figure.removesuffix(" as published")
    found = f"{name} is {value:.3f}, expected at least {bound:.3g}{told}"
    return _finding(fit, figure, value, bound, value >= bound, found, cause)


def _no_better(
    fit: ReaderFit, figure: str, advantage: float, gate: ReaderGate, found: str, cause: str
) -> GateFinding:
    holds = advantage <= gate.max_advantage  # false for NaN
    return _finding(fit, figure, advantage, gate.max_advantage, holds, found, cause)


def _finding(
    fit: ReaderFit, figure: str, value: float, bound: float, holds: bool, found: str, cause: str
) -> GateFinding:
    where = f"SAE {fit.sae!r} on {fit.reader!r} at {fit.hookpoint}: "
    return GateFinding(
        model=fit.model,
        sae=fit.sae,
        identity=fit.identity,
        figure=figure,
        value=float(value),
        bound=float(bound),
        passed=bool(holds),
        sentence=found if holds else f"{where}{found} – {cause}",
    )


def _or_lowest(value: float) -> float:
    return -math.inf if math.isnan(value) else value
