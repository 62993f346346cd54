"""The gap report of one model: self-contained HTML and Markdown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from cg_pipeline.gaps.benchmark_charts import draw_accuracy, draw_overlap
from cg_pipeline.gaps.charts import draw_coverage, draw_performance
from cg_pipeline.gaps.drawing import Chart
from cg_pipeline.gaps.findings import Findings, collect_findings
from cg_pipeline.gaps.fineprint import LIMITS, settings
from cg_pipeline.gaps.glossary import glossary
from cg_pipeline.gaps.highlights import Piece, bracketed
from cg_pipeline.gaps.inputs import Report, ReportInputs
from cg_pipeline.gaps.landscape import draw_landscape
from cg_pipeline.gaps.legible import (
    counted,
    cut_at_word,
    decimal,
    escape_markdown,
    exact_percent,
    percent,
    signed,
    significant,
    visible,
)
from cg_pipeline.gaps.overlap import benchmark_overlap
from cg_pipeline.gaps.phrases import KIND_TITLES, left_out, rule, shown_of, statement, why
from cg_pipeline.gaps.selection import SUITE, alive_rows

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
        "left_out": left_out(findings),
        "terms": list(glossary(inputs.study)),
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
        "bracketed": _bracketed,
        "count": lambda n: f"{n:,}",
        "counted": counted,
        "decimal": decimal,
        "cut": cut_at_word,
        "exact": exact_percent,
        "marked": _marked,
        "percent": percent,
        "rule": rule,
        "shown_of": shown_of,
        "signed": signed,
        "significant": significant,
        "trusted": Markup,
        "visible": visible,
        "why": why,
    }
    return environment


def _markdown(value: object) -> object:
    return value if isinstance(value, Markup) else escape_markdown(str(value))


def _bracketed(pieces: Sequence[Piece]) -> Markup:
    """An excerpt in Markdown, without colours: what the concept fires on clearly between ⟦ and ⟧."""
    return Markup("".join(f"⟦{_inline(t)}⟧" if marked else _inline(t) for t, marked in bracketed(pieces)))


def _inline(text: str) -> str:
    """Escaped, with a space at its ends kept."""
    before, after = (" " if end.isspace() else "" for end in (text[:1], text[-1:]))
    return f"{before}{escape_markdown(text)}{after}" if text.strip() else " "


def _marked(context: str) -> Markup:
    return Markup(_MARK.sub(r"<mark>\1</mark>", str(escape(context))))
