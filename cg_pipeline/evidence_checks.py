"""What must hold of evidence, as `checks` has it for other stages."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.checks import Finding, finding_of
from cg_pipeline.evidence.strongest import sides_of
from cg_pipeline.evidence_records import SIDES, ConceptEvidence

LARGEST_OFF_SHARE = 0.01
"""Share of rows whose saliency may be off: equal activations may fall the other way in other batches."""

TOLERANCE = {"float32": 1e-3, "float16": 0.05, "bfloat16": 0.05}
"""Of the saliency: what rounding may move it by when a text is read in another batch."""


def examples_exist(found: ConceptEvidence, example_ids: set[str]) -> Finding:
    """Every example named is one of the benchmark's."""
    strangers = [name for name in found.example_ids if name not in example_ids]
    return finding_of(
        found.concept_ids, not strangers, f"{len(strangers)} examples that do not exist", strangers[:1]
    )


def sides_agree(found: ConceptEvidence, scores: dict[str, float]) -> Finding:
    """Every row is on the side of its example's score, with that score; ranks rise as saliency falls.

    Args:
        found: the evidence.
        scores: s(x) by example; NaN when unscored.
    """
    given = np.array([scores.get(name, -1.0) for name in found.example_ids], np.float64)
    wrong = (found.sides != sides_of(given)[found.examples]) | ~_equal(given, found.scores)[found.examples]
    new = np.diff(found.concept_ids * len(SIDES) + found.sides, prepend=-1) != 0
    risen = ~new & (np.diff(found.saliency, prepend=0) > 0)
    astray = found.ranks != np.where(new, 1, np.roll(found.ranks, 1) + 1)
    faults = wrong | risen | astray
    first = [f"concept {found.concept_ids[row]}" for row in np.flatnonzero(faults)[:1]]
    sentence = (
        f"{int(wrong.sum())} rows not on the side of their example's score, "
        f"{int((risen | astray).sum())} out of order"
    )
    return finding_of(found.concept_ids, not faults.any(), sentence, first)


def tokens_make_the_saliency(found: ConceptEvidence, *, tolerance: float) -> Finding:
    """The mean of a row's token activations over the counted tokens is its saliency.

    Both come from reading the same text, at different times: another mask, hookpoint or model shows here.

    Args:
        found: the evidence.
        tolerance: largest difference, as a share of the saliency; few rows may be off by more.
    """
    off = ~(np.abs(token_means(found) - found.saliency) <= tolerance * found.saliency)  # NaN is off
    share = float(off.mean()) if len(off) else 0.0
    first = [f"concept {found.concept_ids[row]}" for row in np.flatnonzero(off)[:1]]
    sentence = (
        f"{int(off.sum())} of {len(off):,} rows whose tokens do not make their saliency within "
        f"{tolerance:g} of it; at most {LARGEST_OFF_SHARE:.0%} may. Were they read by the same reader, "
        "with the same hookpoint and token mask?"
        if share > LARGEST_OFF_SHARE
        else f"{int(off.sum())} rows off by more than {tolerance:g} of their saliency"
    )
    return finding_of(found.concept_ids, share <= LARGEST_OFF_SHARE, sentence, first)


def token_means(found: ConceptEvidence) -> Float[np.ndarray, " n_rows"]:
    """(1/|x|) Σ_t z_c(x_t) of every row, from its tokens."""
    sums = np.concatenate([[0.0], np.cumsum(found.activations.astype(np.float64))])
    return np.diff(sums[found.edges]) / np.maximum(found.n_tokens[found.examples], 1)


def _equal(one: Float[np.ndarray, " n"], other: Float[np.ndarray, " n"]) -> np.ndarray:
    return (one == other) | (np.isnan(one) & np.isnan(other))
