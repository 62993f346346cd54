"""Sentences and titles that the report and the terminal share."""

from collections.abc import Mapping, Sequence

from cg_pipeline.gaps.findings import Findings, KindFinding
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.gaps.legible import counted, decimal, exact_percent, percent, visible
from cg_pipeline.records import GapKind
from cg_pipeline.specs import GapRules

KIND_TITLES: Mapping[GapKind, str] = {
    "missing": "Missing concepts",
    "under_represented": "Under-represented concepts",
    "over_represented": "Over-represented concepts",
    "model_gap": "Model gaps",
}

KIND_ORDERS: Mapping[GapKind, str] = {
    "missing": "highest firing rate first",
    "under_represented": "lowest coverage first",
    "over_represented": "highest coverage first",
    "model_gap": "lowest performance first",
}


REASON_WORDS: Mapping[str, str] = {
    "dead": "dead",
    "dense": "dense",
    "positional": "positional",
    "duplicate": "duplicate",
    "badly_labelled": "badly labelled",
}
"""What a reason for quarantine is called; the glossary explains each."""


def left_out(found: Findings) -> str:
    """How many concepts are left out, and why."""
    if not found.n_left_out:
        return "no concept is left out"
    reasons = ", ".join(f"{n:,} {REASON_WORDS[reason]}" for reason, n in found.left_out_by_reason.items())
    verb = "is" if found.n_left_out == 1 else "are"
    return f"{counted(found.n_left_out, 'concept')} {verb} left out ({reasons})"


def why(reasons: Sequence[str]) -> str:
    """The reasons for one concept's quarantine."""
    return ", ".join(REASON_WORDS[reason] for reason in reasons)


def statement(inputs: ReportInputs, found: Findings) -> str:
    """One paragraph of what was measured and what came out."""
    suite = found.suite
    middle = (
        f"Where the model could be measured, on {counted(found.n_supported, 'concept')} with enough "
        f"examples, its median performance is {decimal(suite.median_performance)} on a scale from 0 to 1."
        if found.n_supported
        else "No concept has enough scored examples for its performance to be ranked."
    )
    return (
        f"{visible(inputs.model.title)} answered {counted(found.n_examples, 'example')} of "
        f"{counted(len(found.headlines), 'benchmark')}; {found.n_scored:,} of the answers could be scored. "
        f"A sparse autoencoder read the same examples as {counted(suite.n_concepts, 'concept')}; "
        f"{suite.n_missing:,} of them ({percent(suite.missing_share)}) are missing: active in no example. "
        f"Besides these, {left_out(found)}. "
        f"{middle}"
    )


def shown_of(finding: KindFinding) -> str:
    """How many of a kind a list shows, and in which order."""
    shown = len(finding.rows)
    part = f"first {shown} of {finding.n:,}, " if shown < finding.n else ""
    return f"{part}{KIND_ORDERS[finding.kind]}; {counted(finding.n_left_out, 'concept')} left out"


def rule(kind: GapKind, rules: GapRules) -> str:
    """Which concepts the study calls a gap of this kind, in one sentence."""
    return {
        "missing": "Concepts that fire in broad text but in no example of the suite.",
        "under_represented": _lowest(
            "concepts that fire in the suite", "coverage", rules.under_share, rules.under_coverage
        ),
        "over_represented": f"The highest {exact_percent(rules.over_share)} by coverage: what the suite "
        "asks about again and again.",
        "model_gap": _lowest(
            "supported concepts", "performance", rules.model_gap_share, rules.model_gap_below
        ),
    }[kind]


def _lowest(concepts: str, quantity: str, share: float, bound: float | None) -> str:
    """The low end by share, or by an absolute bound where one is set."""
    if bound is None:
        return f"The lowest {exact_percent(share)} by {quantity} of the {concepts}."
    return f"The {concepts} with a {quantity} below {bound:g}."
