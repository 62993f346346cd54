"""What must hold of a reader and of the verdicts on its concepts, as `checks` has it for other stages."""

import math
from collections.abc import Sequence

from cg_pipeline.checks import Finding
from cg_pipeline.health.gate import gate_sentence, passes_gate
from cg_pipeline.health.quarantine import count_quarantined, count_reasons
from cg_pipeline.health_records import ConceptHealth, GateFinding


def reader_fits(findings: Sequence[GateFinding]) -> Finding:
    """Every figure of the gate holds; its numbers are what was measured."""
    return Finding(
        passed=passes_gate(findings),
        sentence=gate_sentence(findings),
        numbers={each.figure: each.value for each in findings if not math.isnan(each.value)},
    )


def verdicts_complete(health: Sequence[ConceptHealth], d_sae: int) -> Finding:
    """One verdict per latent, in order, with a reason exactly where it is quarantined."""
    ids = [each.concept_id for each in health]
    unfounded = sum((each.verdict == "quarantined") != bool(each.reasons) for each in health)
    sentence = f"{len(ids)} verdicts for {d_sae} latents, {unfounded} that do not fit their reasons"
    passed = ids == list(range(d_sae)) and unfounded == 0
    return Finding(passed=passed, sentence=sentence, numbers={"n": len(ids)})


def mostly_fine(health: Sequence[ConceptHealth], *, largest_share: float) -> Finding:
    """Few concepts are quarantined; its numbers are how many, by reason."""
    n = count_quarantined(health)
    reasons = count_reasons(health)
    told = ", ".join(f"{count} {reason}" for reason, count in reasons.items()) or "none"
    share = n / max(len(health), 1)
    return Finding(
        passed=bool(health) and share <= largest_share,
        sentence=f"{share:.1%} of the concepts quarantined ({told}), at most {largest_share:.0%} expected",
        numbers={"n": len(health), "n_quarantined": n, **reasons},
    )
