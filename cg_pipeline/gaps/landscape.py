"""Chart of every concept by coverage and performance, with the gaps marked."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float

from cg_pipeline.gaps.drawing import (
    COVERAGE,
    DARK,
    MUTED,
    ORANGE,
    PALE,
    PERFORMANCE,
    PURPLE,
    RED,
    SHADE,
    Chart,
    canvas,
    log_axis,
    render,
    symbols,
)
from cg_pipeline.gaps.legible import cut_at_word
from cg_pipeline.gaps.placement import Box, Label, place_label
from cg_pipeline.gaps.selection import supported
from cg_pipeline.gaps.tables import numbers
from cg_pipeline.gaps.wording import has_telling_word
from cg_pipeline.records import Gap, SuiteMetrics
from cg_pipeline.specs import GapRules

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_LABEL_LENGTH = 44

_GAP_COLOURS = {"under_represented": PURPLE, "over_represented": ORANGE, "model_gap": RED}
_GAP_WORDS = {
    "under_represented": "under-represented",
    "over_represented": "over-represented",
    "model_gap": "model gap",
}
_NAMED = 2
"""Gaps of each kind that the scatter plot names."""
_LOOKED_AT = 20
"""Gaps of each kind with a telling label, by rank, among which these are sought."""


def draw_landscape(
    rows: SuiteMetrics, gaps: Sequence[Gap], labels: Mapping[int, str], rules: GapRules
) -> Chart:
    """Coverage × performance, pale where support is thin; gaps in colour, a few of the first by name."""
    by_kind = {kind: [gap for gap in gaps if gap.kind == kind] for kind in _GAP_COLOURS}
    measured = rows.take(np.flatnonzero(~np.isnan(numbers(rows, "performance"))))
    places = measured.set_index("concept_id")
    firm = supported(numbers(places, "n_eff"), rules)
    marked = {gap.concept_id for members in by_kind.values() for gap in members}
    plain = ~places.index.isin(list(marked))
    with canvas(4.6) as (figure, axes):
        for chosen, colour, word in ((~firm, PALE, "few examples"), (firm, SHADE, "others")):
            shown = places.take(np.flatnonzero(chosen & plain))
            _scatter(axes, shown, colour, 7.0, f"{word} ({len(shown):,})")
        for kind, members in by_kind.items():
            of_kind = places.filter([gap.concept_id for gap in members], axis="index")
            _scatter(axes, of_kind, _GAP_COLOURS[kind], 16.0, f"{_GAP_WORDS[kind]} ({len(of_kind):,})")
        coverage = numbers(places, "coverage")
        low, high = (coverage.min(), coverage.max()) if len(coverage) else (0.1, 10.0)
        log_axis(axes, float(low) / 1.6, float(high) * 1.6)
        if len(coverage) == 0:
            axes.text(1, 0.5, "No concept's performance could be measured.", ha="center", color=MUTED)
        axes.set_ylim(*_span(numbers(places, "performance")))
        axes.set(xlabel=f"{COVERAGE} (log scale)", ylabel=f"{PERFORMANCE} (0 to 1)")
        symbols(axes)
        _explain_colours(figure, axes)
        _name_some(figure, axes, places, by_kind, labels)
        alt = f"Scatter plot of coverage and performance of {len(places):,} concepts with the gaps marked."
        return render(figure, name="landscape", title="Coverage and performance together", alt=alt)


def _span(values: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """Limits that leave a little air around scores, all of [0, 1] where there are none."""
    if len(values) == 0:
        return -0.02, 1.02
    return max(-0.04, float(values.min()) - 0.06), min(1.04, float(values.max()) + 0.06)


def _scatter(axes: "Axes", places: pd.DataFrame, colour: str, size: float, label: str) -> None:
    many = len(places) > 800  # as one picture: a vector each would make a file of megabytes
    x, y = places["coverage"], places["performance"]
    axes.scatter(x, y, s=size, color=colour, linewidths=0, label=label, rasterized=many)


def _explain_colours(figure: "Figure", axes: "Axes") -> None:
    """One line above the frame: the gaps first, then what is no gap."""
    handles, words = axes.get_legend_handles_labels()
    plain, gaps = slice(0, 2), slice(2, None)
    legend = figure.legend(
        [*handles[gaps], *handles[plain]],
        [*words[gaps], *words[plain]],
        loc="outside upper left",
        ncols=len(words),
        fontsize=8.5,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1.0,
        handletextpad=0.2,
        columnspacing=1.1,
        labelcolor=[*(DARK[colour] for colour in _GAP_COLOURS.values()), MUTED, MUTED],
        scatterpoints=1,
    )
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set(sizes=[24])


def _name_some(
    figure: "Figure",
    axes: "Axes",
    places: pd.DataFrame,
    by_kind: Mapping[str, Sequence[Gap]],
    labels: Mapping[int, str],
) -> None:
    """Labels for the first gaps of each kind that say something and have room, with a line to the dot."""
    if places.empty:
        return
    figure.draw_without_rendering()  # so that the frame is where it will be
    scale = figure.dpi / 72
    dots = axes.transData.transform(places[["coverage", "performance"]].to_numpy(dtype=float))
    frame = Box(*map(float, axes.get_window_extent().extents))
    taken: list[Label] = []
    for kind, members in list(by_kind.items())[::-1]:
        telling = [gap.concept_id for gap in members if has_telling_word(labels.get(gap.concept_id, ""))]
        named = 0
        for concept_id in [each for each in telling if each in places.index][:_LOOKED_AT]:
            if named == _NAMED:
                break
            written = _write(axes, places.loc[concept_id], labels[concept_id], kind)
            extent = written.get_window_extent()
            size = float(extent.width + 4 * scale), float(extent.height + 4 * scale)
            dot = dots[places.index.get_loc(concept_id)]
            if label := place_label(dot, size, dots, taken, frame, scale):
                written.set_position(tuple((label.box.middle - dot) / scale))
                taken.append(label)
                named += 1
            else:
                written.remove()


def _write(axes: "Axes", place: pd.Series, text: str, kind: str) -> "Annotation":
    """A label in the middle of its dot, yet to be moved to its place."""
    colour = DARK[_GAP_COLOURS[kind]]
    label = axes.annotate(
        cut_at_word(text, _LABEL_LENGTH),
        (place["coverage"], place["performance"]),
        (0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=8.5,
        color=colour,
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 2},
    )
    label.set_in_layout(False)
    return label
