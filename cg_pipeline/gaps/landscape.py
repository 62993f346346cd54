"""Chart of every concept by coverage and performance, with the gaps marked."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float

from cg_pipeline.gaps.drawing import (
    DARK,
    GROUND,
    MUTED,
    ORANGE,
    PALE,
    PURPLE,
    RED,
    SHADE,
    Chart,
    canvas,
    log_axis,
    render,
)
from cg_pipeline.gaps.legible import shorten
from cg_pipeline.gaps.selection import supported
from cg_pipeline.gaps.tables import numbers
from cg_pipeline.records import Gap, SuiteMetrics
from cg_pipeline.specs import GapRules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_LENGTH = 34

_GAP_COLOURS = {"under_represented": PURPLE, "over_represented": ORANGE, "model_gap": RED}
_GAP_WORDS = {
    "under_represented": "under-represented",
    "over_represented": "over-represented",
    "model_gap": "model gap",
}
_NAMED = 3
"""Gaps of each kind that the scatter plot names."""


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
        coverage = numbers(places, "coverage")
        low, high = (coverage.min(), coverage.max()) if len(coverage) else (0.1, 10.0)
        log_axis(axes, float(low) / 1.4, float(high) * 1.4)
        if len(coverage) == 0:
            axes.text(1, 0.5, "No concept's performance could be measured.", ha="center", color=MUTED)
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


def _span(values: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """Limits that leave a little air around scores, all of [0, 1] where there are none."""
    if len(values) == 0:
        return -0.02, 1.02
    return max(-0.02, float(values.min()) - 0.06), min(1.02, float(values.max()) + 0.06)


def _scatter(axes: "Axes", places: pd.DataFrame, colour: str, size: float, label: str = "") -> None:
    many = len(places) > 800  # as one picture: a vector each would make a file of megabytes
    x, y = places["coverage"], places["performance"]
    axes.scatter(x, y, s=size, color=colour, linewidths=0, label=label, rasterized=many)


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
