"""Charts of the report as metadata of assets, shown in Dagster's UI."""

import base64
from collections.abc import Sequence

import dagster as dg

from cg_pipeline.gaps.charts import draw_coverage, draw_performance
from cg_pipeline.gaps.drawing import Chart
from cg_pipeline.gaps.training_charts import draw_training
from cg_pipeline.records import ConceptMetrics, SuiteMetrics
from cg_pipeline.specs import GapRules
from cg_pipeline.training_records import CurvePoint


def coverage_chart(rows: ConceptMetrics | SuiteMetrics) -> dg.MetadataValue:
    """Histogram of χ_bench."""
    return _picture(draw_coverage(rows))


def performance_chart(
    rows: ConceptMetrics | SuiteMetrics, mean_score: float | None, rules: GapRules
) -> dg.MetadataValue:
    """Histogram of χ_model over the supported concepts."""
    return _picture(draw_performance(rows, mean_score, rules))


def training_charts(curve: Sequence[CurvePoint]) -> dict[str, dg.MetadataValue]:
    """What the training of a reader went through, by the name of the chart."""
    return {chart.name: _picture(chart) for chart in draw_training(curve)}


def _picture(chart: Chart) -> dg.MetadataValue:
    encoded = base64.b64encode(chart.png).decode("ascii")
    return dg.MetadataValue.md(f"{chart.alt}\n\n![{chart.title}](data:image/png;base64,{encoded})")
