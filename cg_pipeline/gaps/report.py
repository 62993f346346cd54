"""The gap report of one model: self-contained HTML, Markdown, and the lines a terminal shows."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cg_pipeline.gaps.benchmark_charts import draw_accuracy, draw_overlap
from cg_pipeline.gaps.charts import draw_coverage, draw_performance
from cg_pipeline.gaps.drawing import Chart
from cg_pipeline.gaps.findings import SHOWN, Findings, KindFinding, collect_findings
from cg_pipeline.gaps.fineprint import LIMITS, settings
from cg_pipeline.gaps.inputs import Report, ReportInputs
from cg_pipeline.gaps.landscape import draw_landscape
from cg_pipeline.gaps.legible import (
    counted,
    decimal,
    escape_markdown,
    exact_percent,
    percent,
    shorten,
    signed,
    visible,
)
from cg_pipeline.gaps.overlap import benchmark_overlap
from cg_pipeline.gaps.selection import SUITE, alive_rows
from cg_pipeline.records import GapKind

KIND_TITLES: Mapping[GapKind, str] = {
    "missing": "Missing concepts",
    "under_represented": "Under-represented concepts",
    "over_represented": "Over-represented concepts",
    "model_gap": "Model gaps",
}

_MARK = re.compile("⟦([^⟦⟧]*)⟧")


def build_report(inputs: ReportInputs) -> Report:
    """The whole report; equal inputs give equal text."""
    findings = collect_findings(inputs)
    charts = _charts(inputs, findings)
    facts = {
        "inputs": inputs,
        "found": findings,
        "charts": charts,
        "statement": statement(inputs, findings),
        "kind_titles": KIND_TITLES,
        "settings": list(settings(inputs)),
        "limits": LIMITS,
        "provenance": list(flatten(inputs.provenance)),
    }
    return Report(
        html=_environment("html").get_template("report.html.jinja").render(facts),
        markdown=_environment("md").get_template("report.md.jinja").render(facts),
        figures={name: chart.svg for name, chart in charts.items()},
    )


def headline_lines(inputs: ReportInputs, report_path: str = "") -> list[str]:
    """The report for a terminal: accuracies, the ten strongest gaps of each kind, where the report is."""
    found = collect_findings(inputs)
    return [
        statement(inputs, found),
        "",
        *_accuracy_lines(inputs, found),
        *(line for kind in found.kinds for line in _gap_lines(kind)),
        *(["", f"Report: {report_path}"] if report_path else []),
    ]


def statement(inputs: ReportInputs, found: Findings) -> str:
    """One paragraph of what was measured and what came out."""
    suite = found.suite
    middle = (
        f"Over the {found.n_supported:,} concepts with enough examples the median performance is "
        f"{decimal(suite.median_performance)}."
        if found.n_supported
        else "No concept has enough scored examples for its performance to be ranked."
    )
    return (
        f"{visible(inputs.model.title)} answered {found.n_examples:,} examples of "
        f"{counted(len(found.headlines), 'benchmark')}; {found.n_scored:,} of the answers could be scored. "
        f"A sparse autoencoder read the same examples and told {suite.n_concepts:,} concepts apart. "
        f"{suite.n_missing:,} of them ({percent(suite.missing_share)}) never fire in the suite. {middle}"
    )


def flatten(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested plain values as (dotted name, text), in order."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            items = value if isinstance(value, (list, tuple)) else [value]
            yield f"{prefix}{name}", ", ".join(str(item) for item in items)


def _charts(inputs: ReportInputs, found: Findings) -> dict[str, Chart]:
    rules = inputs.study.rules
    alive = alive_rows(inputs.suite, inputs.concepts)
    titles = {line.benchmark: inputs.title_of(line.benchmark) for line in found.headlines}
    of_suite = [gap for gap in inputs.gaps if gap.scope == SUITE]
    labels = {concept.concept_id: concept.label for concept in inputs.concepts}
    drawn = [
        draw_accuracy(found.headlines, titles),
        draw_coverage(alive),
        draw_overlap(benchmark_overlap(inputs.concept_metrics, inputs.concepts), titles),
        draw_performance(alive, found.mean_score, rules),
        draw_landscape(alive, of_suite, labels, rules),
    ]
    return {chart.name: chart for chart in drawn}


@cache
def _environment(form: str) -> Environment:
    """Templates that escape every value: by autoescape in HTML, by `finalize` in Markdown."""
    environment = Environment(
        loader=PackageLoader("cg_pipeline.gaps", "templates"),
        autoescape=form == "html",
        finalize=(lambda value: value) if form == "html" else _markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "count": lambda n: f"{n:,}",
        "counted": counted,
        "decimal": decimal,
        "exact": exact_percent,
        "marked": _marked,
        "percent": percent,
        "short": shorten,
        "signed": signed,
        "trusted": Markup,
        "visible": visible,
    }
    return environment


def _markdown(value: object) -> object:
    return value if isinstance(value, Markup) else escape_markdown(str(value))


def _marked(context: str) -> Markup:
    return Markup(_MARK.sub(r"<mark>\1</mark>", str(escape(context))))


def _accuracy_lines(inputs: ReportInputs, found: Findings) -> Iterator[str]:
    titles = [shorten(inputs.title_of(line.benchmark), 30) for line in found.headlines]
    width = max(map(len, titles), default=0)
    for title, line in zip(titles, found.headlines, strict=True):
        reasons = ", ".join(f"{n} {visible(reason)}" for reason, n in line.unscored.items())
        lost = f"; unscored: {reasons}" if reasons else ""
        interval = f"{decimal(line.accuracy):>4} [{decimal(line.low)}, {decimal(line.high)}]"
        yield f"  {title:<{width}}  {interval}  {line.n_scored} of {line.n_examples} scored{lost}"


def _gap_lines(kind: KindFinding) -> Iterator[str]:
    yield ""
    shown = f", strongest {min(SHOWN, kind.n)}" if kind.n else ""
    yield f"{KIND_TITLES[kind.kind]} of the suite: {kind.n:,}{shown}"
    for row in kind.rows:
        gap = row.gap
        support = f"lift {signed(gap.lift)}, n_eff {decimal(gap.n_eff, 0)}"
        fact = {
            "missing": f"fires on {percent(row.concept.firing_rate)} of tokens elsewhere",
            "under_represented": f"coverage {decimal(gap.value)}, {counted(gap.n_examples, 'example')}",
            "over_represented": f"coverage {decimal(gap.value)}, {counted(gap.n_examples, 'example')}",
            "model_gap": f"performance {decimal(gap.value)}, {support}",
        }[gap.kind]
        yield f"  {gap.rank:>2}. {shorten(row.concept.label, 60)} (#{gap.concept_id}): {fact}"
