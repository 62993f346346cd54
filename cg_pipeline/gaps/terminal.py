"""The report as plain lines of at most 100 characters, for a terminal."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from cg_pipeline.gaps.findings import KindFinding, collect_findings
from cg_pipeline.gaps.headline import BenchmarkHeadline
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.gaps.legible import cut_at_word, decimal, percent, signed, significant, visible
from cg_pipeline.gaps.phrases import KIND_ORDERS, KIND_TITLES, statement
from cg_pipeline.records import Concept, Gap, GapKind

COLUMNS = 100
_TITLE_LENGTH = 30

_HEADS: Mapping[GapKind, tuple[str, ...]] = {
    "missing": ("firing rate",),
    "under_represented": ("coverage", "examples"),
    "over_represented": ("coverage", "examples"),
    "model_gap": ("performance", "lift", "n_eff"),
}

LEGEND = (
    ("accuracy", "mean score of the scored answers, 0 to 1, with its 95% interval; low is bad"),
    ("firing rate", "share of the tokens of ordinary text on which the concept is active"),
    ("coverage", "how much the suite exercises it: 0 never{average}; low is untested"),
    ("examples", "how many examples of the suite the concept is active in"),
    ("performance", "mean score where the concept is active, 0 to 1; low is bad"),
    ("lift", "performance minus the accuracy of the same benchmarks, −1 to 1; below 0 is bad"),
    ("n_eff", "effective number of scored examples behind a performance; few prove little"),
)
"""Every column in one line, told shorter than in the report's glossary."""

_AVERAGES = {"grand_mean": ", 1 the average concept", "active_mean": "", "none": ""}


def headline_lines(inputs: ReportInputs) -> list[str]:
    """What was measured, accuracies, the first gaps of each kind, a legend."""
    found = collect_findings(inputs)
    average = _AVERAGES[inputs.study.normaliser]
    return [
        *textwrap.wrap(statement(inputs, found), COLUMNS),
        "",
        *_accuracy_lines(inputs, found.headlines),
        *(line for kind in found.kinds for line in _gap_lines(kind)),
        "",
        "What the columns say",
        *(f"  {name:<13}{meaning.format(average=average)}" for name, meaning in LEGEND),
    ]


def _accuracy_lines(inputs: ReportInputs, headlines: Sequence[BenchmarkHeadline]) -> Iterator[str]:
    titles = [cut_at_word(inputs.title_of(line.benchmark), _TITLE_LENGTH) for line in headlines]
    width = max(map(len, ["Benchmarks", *titles]))
    yield f"{'Benchmarks':<{width}}    accuracy  interval   scored"
    for title, line in zip(titles, headlines, strict=True):
        interval = f"{decimal(line.low)}–{decimal(line.high)}" if line.n_scored else ""
        row = f"  {title:<{width}}  {decimal(line.accuracy):>8}  {interval:<9}  {line.n_scored:,}"
        row += f" of {line.n_examples:,}"
        reasons = ", ".join(f"{n:,} {visible(reason)}" for reason, n in line.unscored.items())
        yield f"{row}; {cut_at_word(reasons, COLUMNS - len(row) - 2)}" if reasons else row


def _gap_lines(finding: KindFinding) -> Iterator[str]:
    """A title, the heads of the columns, and one line each."""
    yield ""
    if not finding.rows:
        yield f"{KIND_TITLES[finding.kind]} of the suite: none"
        return
    shown = f"{len(finding.rows)} shown, " if len(finding.rows) < finding.n else ""
    cut = f" ({shown}{finding.n_left_out:,} left out)" if shown or finding.n_left_out else ""
    yield f"{KIND_TITLES[finding.kind]} of the suite: {finding.n:,}, {KIND_ORDERS[finding.kind]}{cut}"
    heads = _HEADS[finding.kind]
    yield "      " + "  ".join(f"{head:>{max(len(head), 6)}}" for head in heads) + "  concept"
    for row in finding.rows:
        numbers = zip(heads, _numbers(row.gap, row.concept), strict=True)
        cells = "  ".join(f"{number:>{max(len(head), 6)}}" for head, number in numbers)
        start = f"  {row.gap.rank:>2}  {cells}  "
        place = f" #{row.gap.concept_id}"
        yield start + cut_at_word(row.concept.label, COLUMNS - len(start) - len(place)) + place


def _numbers(gap: Gap, concept: Concept) -> tuple[str, ...]:
    """The values of one line, in the order of its heads."""
    if gap.kind == "missing":
        return (percent(concept.firing_rate),)
    if gap.kind == "model_gap":
        return decimal(gap.value), signed(gap.lift), decimal(gap.n_eff, 0)
    return significant(gap.value), f"{gap.n_examples:,}"
