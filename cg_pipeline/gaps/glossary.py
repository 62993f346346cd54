"""The words of a report: each explained once, with the range of its values and which end is the bad one."""

from collections.abc import Iterator
from dataclasses import dataclass

from cg_pipeline.specs import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word with its meaning."""

    key: str
    """Letters and hyphens, to refer to it."""
    word: str
    symbol: tuple[str, str] = ("", "")
    """A letter and its index; empty for none."""
    span: str = ""
    """Unit or range of its values, and what they are good for; empty for a word that has no value."""
    meaning: str


def glossary(study: Study) -> Iterator[Term]:
    """Every word of a report of the study, in the order in which they build on each other."""
    yield Term(
        key="concept",
        word="concept",
        meaning="One entry of the sparse autoencoder’s dictionary. It fires (is active) on some tokens and "
        "is silent on others. Its label is a guess from where it fires most, the number after # its place in "
        "the dictionary; “low score” stands before a label that did badly when it was tested.",
    )
    yield Term(
        key="broad-text",
        word="broad text",
        meaning="The sample of ordinary text on which the dictionary was described.",
    )
    yield Term(
        key="firing-rate",
        word="firing rate",
        span="0% to 100% of tokens",
        meaning="Share of the tokens of broad text on which a concept fires.",
    )
    yield Term(
        key="left-out",
        word="left out",
        meaning="Quarantined: no gap and part of no figure. Dead: never fires on broad text, so a suite "
        "cannot be blamed for missing it. Dense: fires on a large share of the tokens, of broad text or of "
        "the examples, and so is about everything. Positional: fires nearly only on first, BOS or template "
        "tokens. Duplicate: points the same way as a concept that fires more. Badly labelled: its label did "
        "badly when it was tested.",
    )
    yield Term(
        key="saliency",
        word="saliency",
        symbol=("a", ""),
        span="0 or more, in the autoencoder’s own unit",
        meaning="How active a concept is in one example: its mean activation over the example’s tokens.",
    )
    yield Term(
        key="accuracy",
        word="accuracy",
        span="0 to 1, low is bad",
        meaning="Mean score of the answers that could be scored, each between 0 (wrong) and 1 (right). An "
        "answer that could not be read is unscored: set aside with its reason, never counted as wrong.",
    )
    yield Term(
        key="coverage",
        word="coverage",
        symbol=("χ", "bench"),
        span=_COVERAGE_SPANS[study.normaliser],
        meaning=f"How much a benchmark exercises a concept: mean saliency over all its examples"
        f"{_DIVISORS[study.normaliser]}. For the suite, the mean over its benchmarks.",
    )
    yield Term(
        key="missing-share",
        word="missing share",
        span="0% to 100% of concepts, high is bad",
        meaning="Share of the concepts that are missing: coverage 0, active in no example.",
    )
    yield Term(
        key="skew",
        word="skew",
        span="any number, far above 0 is uneven",
        meaning="How lopsided coverage is over the concepts (third standardised moment): 0 is even, the "
        "larger, the more a few concepts take most of the attention.",
    )
    yield Term(
        key="top-share",
        word="held by top 1%",
        span="1% (even) to 100% of all coverage",
        meaning="Part of all coverage that falls to the most covered hundredth of the concepts.",
    )
    yield Term(
        key="overlap",
        word="overlap",
        span="0 to 1",
        meaning="Of the concepts active in either of two benchmarks, the share active in both (Jaccard).",
    )
    yield Term(
        key="performance",
        word="performance",
        symbol=("χ", "model"),
        span="0 to 1, low is bad",
        meaning="Mean score where a concept is active: every scored example counts by its saliency. For the "
        "suite, the mean over the benchmarks where the concept fires.",
    )
    yield Term(
        key="lift",
        word="lift",
        span="−1 to 1, below 0 is bad",
        meaning="Performance minus the benchmark’s accuracy; for the suite, the mean of these. A concept "
        "that merely lives in a hard benchmark has a low performance but a lift near 0.",
    )
    yield Term(
        key="n",
        word="examples",
        symbol=("n", ""),
        span="whole number",
        meaning="Examples in which a concept fires; “scored” counts those with a score.",
    )
    yield Term(
        key="n-eff",
        word="effective examples",
        symbol=("n", "eff"),
        span="1 to the scored examples, low is unsure",
        meaning="How many equally strong examples would carry the value as well: (Σa)² / Σa² over the scored "
        "ones. Near 1 where a single example decides.",
    )
    yield Term(
        key="support",
        word="support",
        meaning=f"A concept with at least {study.rules.min_n_eff:g} effective examples is supported; only "
        "supported ones are ranked by performance.",
    )


_COVERAGE_SPANS = {
    "grand_mean": "0 or more, 1 is the average concept, low is untested",
    "active_mean": "0 or more, 1 is an average active concept in every example, low is untested",
    "none": "0 or more, in the autoencoder’s own unit, low is untested",
}
_DIVISORS = {
    "grand_mean": ", divided by that of the average concept",
    "active_mean": ", divided by the mean saliency of a concept in an example where it fires",
    "none": "",
}
