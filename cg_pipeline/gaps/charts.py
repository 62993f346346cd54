"""The five charts of a report."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float

from cg_pipeline.gaps.drawing import (
    BLUE,
    DARK,
    GROUND,
    INK,
    MUTED,
    ORANGE,
    PALE,
    PURPLE,
    RED,
    SHADE,
    SKY,
    Chart,
    canvas,
    render,
)
from cg_pipeline.gaps.headline import BenchmarkHeadline, supported_performance
from cg_pipeline.gaps.legible import NO_NUMBER, decimal, shorten
from cg_pipeline.gaps.selection import supported
from cg_pipeline.gaps.tables import numbers
from cg_pipeline.records import ConceptMetrics, Gap, SuiteMetrics
from cg_pipeline.specs import GapRules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME_LENGTH = 26
_LABEL_LENGTH = 34
_MAX_NUMBERED = 12
"""Benchmarks up to which the cells of the overlap map carry numbers."""

_GAP_COLOURS = {"under_represented": PURPLE, "over_represented": ORANGE, "model_gap": RED}
_GAP_WORDS = {
    "under_represented": "under-represented",
    "over_represented": "over-represented",
    "model_gap": "model gap",
}
_NAMED = 3
"""Gaps of each kind that the scatter plot names."""


def draw_coverage(rows: ConceptMetrics | SuiteMetrics) -> Chart:
    """Histogram of χ_bench on a logarithmic axis; the concepts at 0 are a bar of their own at its left."""
    coverage = numbers(rows, "coverage")
    covered, n_missing = coverage[coverage > 0], int((coverage == 0).sum())
    share = f"{n_missing / len(coverage):.1%}" if len(coverage) else "none"
    edges = _log_edges(covered)
    step = edges[1] / edges[0]
    zero = edges[0] / step**4
    with canvas(3.1) as (figure, axes):
        highest = _histogram(axes, covered, edges)
        axes.bar(zero, n_missing, width=zero * (step**1.5 - step**-1.5), color=ORANGE)
        note = f"never: {n_missing:,}\n({share})"
        at_top = {
            "textcoords": "offset points",
            "ha": "center",
            "va": "bottom",
            "color": INK,
            "fontsize": 9.5,
        }
        axes.annotate(note, (zero, n_missing), (0, 5), **at_top)
        _log_ticks(axes)
        powers = 10.0 ** np.arange(np.ceil(np.log10(edges[0])), np.floor(np.log10(edges[-1])) + 1)
        axes.set_xticks([zero, *powers], ["0", *(f"{power:g}" for power in powers)])
        axes.set_xlim(edges[0] / step**9, edges[-1] * step)
        axes.set_ylim(0, max(n_missing * 1.25, highest * 1.2, 1.25))
        if len(covered):
            _mark(axes, float(np.median(covered)), f"median {np.median(covered):.2g}")
        _whole_counts(axes)
        axes.set(xlabel="coverage χ_bench (log scale)", ylabel="concepts")
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
        if mean_score is not None:
            _mark(axes, mean_score, f"mean score {mean_score:.2f}")
        axes.set(xlabel="performance χ_model", ylabel="concepts")
        axes.grid(axis="x", visible=False)
        middle = f"; the median is {np.median(performance):.2f}" if len(performance) else ""
        counted = f"{len(performance):,} concepts with n_eff of at least {rules.min_n_eff:g}"
        alt = f"Histogram of performance over {counted}{middle}."
        title = "How well the model does where each concept is active"
        return render(figure, name="performance", title=title, alt=alt)


def draw_accuracy(headlines: Sequence[BenchmarkHeadline], titles: Mapping[str, str]) -> Chart:
    """Bars of accuracy with their 95% interval, best benchmark on top; those without a score are named."""
    best_first = sorted(headlines, key=lambda line: (np.isnan(line.accuracy), -line.accuracy, line.benchmark))
    ranked = best_first[::-1]
    with canvas(0.7 + 0.34 * max(len(ranked), 1)) as (figure, axes):
        for place, line in enumerate(ranked):
            if np.isnan(line.accuracy):
                axes.text(0.012, place, "no example scored", va="center", color=MUTED, fontsize=9.5)
                continue
            axes.barh(place, line.accuracy, height=0.62, color=SKY)
            axes.plot([line.low, line.high], [place, place], color=INK, linewidth=1.4, solid_capstyle="butt")
            beside = {"va": "center", "ha": "right", "fontsize": 9.5}
            axes.text(1.11, place, f"{line.accuracy:.2f}", color=INK, **beside)
            axes.text(1.3, place, f"n = {line.n_scored:,}", color=MUTED, **beside)
        names = [shorten(titles.get(line.benchmark, line.benchmark), _NAME_LENGTH) for line in ranked]
        axes.set_yticks(range(len(ranked)), names, color=INK)
        axes.set(xlim=(0, 1.3), ylim=(-0.6, max(len(ranked), 1) - 0.4), xlabel="accuracy with 95% interval")
        axes.set_xticks(np.linspace(0, 1, 6))
        axes.spines["bottom"].set_bounds(0, 1)
        axes.grid(axis="y", visible=False)
        spoken = "; ".join(f"{line.benchmark} {decimal(line.accuracy)}" for line in best_first) or NO_NUMBER
        alt = f"Bar chart of accuracy: {spoken}."
        return render(figure, name="accuracy", title="Accuracy by benchmark", alt=alt)


def draw_overlap(overlap: pd.DataFrame, titles: Mapping[str, str]) -> Chart:
    """Heat map of the Jaccard index of every two benchmarks' active concepts."""
    names = [shorten(titles.get(name, name), _NAME_LENGTH) for name in overlap.index]
    cells = overlap.to_numpy(dtype=float)
    n = len(names)
    shown = np.ma.masked_invalid(np.where(np.tri(n, k=-1, dtype=bool), cells, np.nan)[1:, :-1])
    with canvas(1.6 + 0.42 * max(n, 2)) as (figure, axes):
        if n > 1:
            axes.imshow(shown, cmap=_blues(), vmin=0, vmax=1, aspect="auto")
            slanted = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
            axes.set_xticks(range(n - 1), names[:-1], color=INK, **slanted)
            axes.set_yticks(range(n - 1), names[1:], color=INK)
            axes.set_xticks(np.arange(n) - 0.5, minor=True)
            axes.set_yticks(np.arange(n) - 0.5, minor=True)
            axes.grid(which="major", visible=False)
            axes.grid(which="minor", color=GROUND, linewidth=2)
            axes.spines["bottom"].set_visible(False)
            _number_cells(axes, shown)
        else:
            axes.text(0.5, 0.5, "One benchmark: nothing to compare.", ha="center", va="center", color=MUTED)
            axes.set_axis_off()
        pairs = cells[np.tri(n, k=-1, dtype=bool)]
        pairs = pairs[~np.isnan(pairs)]
        spread = f", from {pairs.min():.2f} to {pairs.max():.2f}" if len(pairs) else ""
        alt = f"Heat map of the Jaccard overlap of active concepts between {n} benchmarks{spread}."
        return render(figure, name="overlap", title="Concepts that benchmarks share", alt=alt)


def draw_landscape(
    rows: SuiteMetrics, gaps: Sequence[Gap], labels: Mapping[int, str], rules: GapRules
) -> Chart:
    """Coverage × performance, pale where support is thin; gaps in colour, the strongest by name."""
    by_kind = {kind: [gap for gap in gaps if gap.kind == kind] for kind in _GAP_COLOURS}
    measured = rows.take(np.flatnonzero(~np.isnan(numbers(rows, "performance"))))
    places = measured.set_index("concept_id")
    firm = supported(numbers(places, "n_eff"), rules)
    with canvas(4.2) as (figure, axes):
        _scatter(axes, places.take(np.flatnonzero(~firm)), PALE, 7.0)
        _scatter(axes, places.take(np.flatnonzero(firm)), SHADE, 7.0)
        for kind, members in by_kind.items():
            marked = places.filter([gap.concept_id for gap in members], axis="index")
            _scatter(axes, marked, _GAP_COLOURS[kind], 16.0, f"{_GAP_WORDS[kind]} ({len(marked):,})")
        if len(places) == 0:
            axes.set_xlim(0.1, 10)
            axes.text(1, 0.5, "No concept's performance could be measured.", ha="center", color=MUTED)
        _log_ticks(axes)
        axes.set_ylim(*_span(numbers(places, "performance")))
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=3,
            frameon=False,
            borderaxespad=0.2,
            handletextpad=0.1,
            columnspacing=1.4,
            labelcolor=[DARK[colour] for colour in _GAP_COLOURS.values()],
        )
        axes.set(xlabel="coverage χ_bench (log scale)", ylabel="performance χ_model")
        _name_strongest(axes, places, by_kind, labels)
        alt = f"Scatter plot of coverage and performance of {len(places):,} concepts with the gaps marked."
        return render(figure, name="landscape", title="Coverage and performance together", alt=alt)


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


def _log_ticks(axes: "Axes") -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _span(values: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """Limits that leave a little air around scores, all of [0, 1] where there are none."""
    if len(values) == 0:
        return -0.02, 1.02
    return max(-0.02, float(values.min()) - 0.06), min(1.02, float(values.max()) + 0.06)


def _scatter(axes: "Axes", places: pd.DataFrame, colour: str, size: float, label: str = "") -> None:
    many = len(places) > 800  # as one picture: a vector each would make a file of megabytes
    x, y = places["coverage"], places["performance"]
    axes.scatter(x, y, s=size, color=colour, linewidths=0, label=label, rasterized=many)


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


def _blues():
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("overlap", ["#F2F6FA", "#9CC5E3", BLUE, "#0B3C5D"])


def _number_cells(axes: "Axes", cells: np.ma.MaskedArray) -> None:
    if len(cells) >= _MAX_NUMBERED:
        return
    for (row, column), value in np.ndenumerate(cells.filled(np.nan)):
        if not np.isnan(value):
            colour = GROUND if value > 0.5 else INK
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=9)


def _name_strongest(
    axes: "Axes", places: pd.DataFrame, by_kind: Mapping[str, Sequence[Gap]], labels: Mapping[int, str]
) -> None:
    """Labels for the strongest gaps of each kind, left out where they would lie on one another."""
    taken = []
    for kind, members in list(by_kind.items())[::-1]:
        for gap in [gap for gap in members if gap.concept_id in places.index][:_NAMED]:
            place = tuple(places.loc[gap.concept_id, ["coverage", "performance"]])
            right = axes.transAxes.inverted().transform(axes.transData.transform(place))[0] > 0.6
            label = axes.annotate(
                shorten(labels.get(gap.concept_id, ""), _LABEL_LENGTH),
                place,
                (-6, 0) if right else (6, 0),
                textcoords="offset points",
                ha="right" if right else "left",
                va="center",
                fontsize=8.5,
                color=DARK[_GAP_COLOURS[kind]],
                bbox={"facecolor": GROUND, "alpha": 0.85, "linewidth": 0, "pad": 1},
            )
            box = label.get_window_extent().expanded(1.0, 1.1)
            if any(box.overlaps(other) for other in taken):
                label.remove()
            else:
                taken.append(box)
