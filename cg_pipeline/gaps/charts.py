"""Charts of the two distributions: coverage and performance over concepts."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from cg_pipeline.gaps.drawing import (
    BLUE,
    COVERAGE,
    GROUND,
    INK,
    MUTED,
    ORANGE,
    PERFORMANCE,
    Chart,
    canvas,
    log_axis,
    render,
    symbols,
)
from cg_pipeline.gaps.headline import supported_performance
from cg_pipeline.gaps.legible import percent, significant
from cg_pipeline.gaps.tables import numbers
from cg_pipeline.records import ConceptMetrics, SuiteMetrics
from cg_pipeline.specs import GapRules

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_coverage(rows: ConceptMetrics | SuiteMetrics) -> Chart:
    """Histogram of χ_bench on a logarithmic axis; the concepts at 0 are a bar of their own at its left."""
    coverage = numbers(rows, "coverage")
    covered, n_missing = coverage[coverage > 0], int((coverage == 0).sum())
    share = percent(n_missing / len(coverage)) if len(coverage) else "none"
    edges = _log_edges(covered)
    step = edges[1] / edges[0]
    zero = edges[0] / step**4
    with canvas(3.1) as (figure, axes):
        highest = _histogram(axes, covered, edges)
        axes.bar(zero, n_missing, width=zero * (step**1.5 - step**-1.5), color=ORANGE)
        _write_above(axes, float(zero), float(n_missing), f"never: {n_missing:,}\n({share})")
        log_axis(axes, float(edges[0]), float(edges[-1]))
        axes.set_xticks([zero, *axes.get_xticks()], ["0", *(f"{mark:g}" for mark in axes.get_xticks())])
        axes.set_xlim(edges[0] / step**9, edges[-1] * step)
        axes.set_ylim(0, max(n_missing * 1.25, highest * 1.2, 1.25))
        if len(covered):
            _mark(axes, float(np.median(covered)), f"median {significant(float(np.median(covered)), 2)}")
        _whole_counts(axes)
        axes.set(xlabel=f"{COVERAGE} (log scale)", ylabel="concepts")
        symbols(axes)
        axes.grid(axis="x", visible=False)
        at_zero = f"{n_missing:,} ({share}) have coverage 0"
        alt = f"Histogram of coverage over {len(coverage):,} concepts: {at_zero}."
        return render(figure, name="coverage", title="How much each concept is exercised", alt=alt)


def draw_performance(rows: ConceptMetrics | SuiteMetrics, mean_score: float | None, rules: GapRules) -> Chart:
    """Histogram of χ_model over the supported concepts, with the mean score to compare with."""
    performance = supported_performance(rows, rules)
    with canvas(3.1) as (figure, axes):
        highest = _histogram(axes, performance, np.linspace(0, 1, 51))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, max(highest, 1) * 1.22)
        _whole_counts(axes)
        if len(performance) == 0:
            axes.text(0.5, 0.5, "No concept has enough scored examples.", ha="center", color=MUTED)
        elif mean_score is not None:
            _mark(axes, mean_score, f"mean score {mean_score:.2f}")
        axes.set(xlabel=f"{PERFORMANCE} (0 to 1)", ylabel="concepts")
        symbols(axes)
        axes.grid(axis="x", visible=False)
        middle = f"; the median is {np.median(performance):.2f}" if len(performance) else ""
        counted = f"{len(performance):,} concepts with n_eff of at least {rules.min_n_eff:g}"
        alt = f"Histogram of performance over {counted}{middle}."
        title = "How well the model does where each concept is active"
        return render(figure, name="performance", title=title, alt=alt)


def _write_above(axes: "Axes", x: float, y: float, text: str) -> None:
    axes.annotate(
        text, (x, y), (0, 5), textcoords="offset points", ha="center", va="bottom", color=INK, fontsize=9.5
    )


def _histogram(axes: "Axes", values: Float[np.ndarray, " n"], edges: Float[np.ndarray, " n_edges"]) -> int:
    """Bars drawn; the height of the highest."""
    counts, _ = np.histogram(values, edges)
    axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=BLUE, edgecolor=GROUND, linewidth=0.5)
    return int(counts.max())


def _log_edges(values: Float[np.ndarray, " n"], n_bins: int = 40) -> Float[np.ndarray, " n_edges"]:
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.1, 10.0)
    if high / low < 1.5:
        low, high = low / 1.5, high * 1.5
    return np.geomspace(low * 0.999, high * 1.001, n_bins + 1)


def _mark(axes: "Axes", x: float, text: str) -> None:
    """A labelled vertical line; the label stands on the side that has room."""
    axes.axvline(x, color=INK, linewidth=1.2, ymax=0.93)
    left, right = axes.transAxes.inverted().transform(axes.transData.transform([(x, 0), (x, 0)]))[:, 0]
    side = -1 if max(left, right) > 0.6 else 1
    axes.annotate(
        text,
        (x, 0.93),
        (5 * side, 0),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        ha="right" if side < 0 else "left",
        va="top",
        color=INK,
        fontsize=9.5,
    )


def _whole_counts(axes: "Axes") -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
