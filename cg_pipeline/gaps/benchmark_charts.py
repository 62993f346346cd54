"""Charts that set benchmarks side by side: accuracy, and the concepts they share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from jaxtyping import Float

from cg_pipeline.gaps.drawing import BLUE, GROUND, INK, MUTED, SKY, Chart, canvas, render
from cg_pipeline.gaps.headline import BenchmarkHeadline
from cg_pipeline.gaps.legible import NO_NUMBER, cut_at_word, decimal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

_NAME_LENGTH = 30
_MAX_NUMBERED = 12
"""Benchmarks up to which the cells of the overlap map carry numbers."""


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
        names = [cut_at_word(titles.get(line.benchmark, line.benchmark), _NAME_LENGTH) for line in ranked]
        axes.set_yticks(range(len(ranked)), names, color=INK)
        axes.set(
            xlim=(0, 1.3),
            ylim=(-0.6, max(len(ranked), 1) - 0.4),
            xlabel="accuracy (0 to 1) with its 95% interval",
        )
        axes.set_xticks(np.linspace(0, 1, 6))
        axes.spines["bottom"].set_bounds(0, 1)
        axes.grid(axis="y", visible=False)
        spoken = "; ".join(f"{line.benchmark} {decimal(line.accuracy)}" for line in best_first) or NO_NUMBER
        alt = f"Bar chart of accuracy: {spoken}."
        return render(figure, name="accuracy", title="Accuracy by benchmark", alt=alt)


def draw_overlap(overlap: pd.DataFrame, titles: Mapping[str, str]) -> Chart:
    """Heat map of the Jaccard index of every two benchmarks' active concepts.

    Colours span what the pairs have, not all of [0, 1]: benchmarks of one language share most
    concepts, and all cells would look alike. The colour bar says so.
    """
    names = [cut_at_word(titles.get(name, name), _NAME_LENGTH) for name in overlap.index]
    cells = overlap.to_numpy(dtype=float)
    n = len(names)
    shown = np.ma.masked_invalid(np.where(np.tri(n, k=-1, dtype=bool), cells, np.nan)[1:, :-1])
    pairs = shown.compressed()
    with canvas(1.6 + 0.42 * max(n, 2)) as (figure, axes):
        if n > 1:
            low, high = _colour_span(pairs)
            picture = axes.imshow(shown, cmap=_blues(), vmin=low, vmax=high, aspect="auto")
            slanted = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"}
            axes.set_xticks(range(n - 1), names[:-1], color=INK, **slanted)
            axes.set_yticks(range(n - 1), names[1:], color=INK)
            axes.set_xticks(np.arange(n) - 0.5, minor=True)
            axes.set_yticks(np.arange(n) - 0.5, minor=True)
            axes.grid(which="major", visible=False)
            axes.grid(which="minor", color=GROUND, linewidth=2)
            axes.spines["bottom"].set_visible(False)
            _number_cells(axes, shown, low, high)
            if n > 2 and len(pairs):
                _colour_bar(axes, picture, low, high)
        else:
            axes.text(0.5, 0.5, "One benchmark: nothing to compare.", ha="center", va="center", color=MUTED)
            axes.set_axis_off()
        alt = f"Heat map of the Jaccard overlap of active concepts between {n} benchmarks{_spread(pairs)}."
        return render(figure, name="overlap", title="Concepts that benchmarks share", alt=alt)


def _colour_span(pairs: Float[np.ndarray, " n_pairs"]) -> tuple[float, float]:
    """Least and greatest overlap, a little apart where they are one."""
    low, high = (float(pairs.min()), float(pairs.max())) if len(pairs) else (0.0, 1.0)
    return (low, high) if high - low > 1e-6 else (low - 0.01, high + 0.01)


def _spread(pairs: Float[np.ndarray, " n_pairs"]) -> str:
    if len(pairs) == 0:
        return ""
    digits = _digits(pairs)
    return f", from {pairs.min():.{digits}f} to {pairs.max():.{digits}f}"


def _digits(pairs: Float[np.ndarray, " n_pairs"]) -> int:
    """Decimals that tell the pairs apart: two, or three where they lie within a fifth of the scale."""
    return 3 if len(pairs) and float(np.ptp(pairs)) < 0.2 else 2


def _blues():
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("overlap", ["#EAF2F9", "#9CC5E3", BLUE, "#0B3C5D"])


def _number_cells(axes: "Axes", cells: np.ma.MaskedArray, low: float, high: float) -> None:
    if len(cells) >= _MAX_NUMBERED:
        return
    digits = _digits(cells.compressed())
    for (row, column), value in np.ndenumerate(cells.filled(np.nan)):
        if not np.isnan(value):
            colour = GROUND if value > low + 0.5 * (high - low) else INK
            axes.text(column, row, f"{value:.{digits}f}", ha="center", va="center", color=colour, fontsize=9)


def _colour_bar(axes: "Axes", picture: "AxesImage", low: float, high: float) -> None:
    """The scale in the empty corner, with the ends of what it spans."""
    place = axes.inset_axes((0.62, 0.93, 0.36, 0.03))
    bar = axes.figure.colorbar(picture, cax=place, orientation="horizontal")
    bar.outline.set_visible(False)
    bar.set_ticks([low, high], labels=[f"{low:.3f}", f"{high:.3f}"])
    place.set_title("overlap (possible: 0 to 1)", fontsize=9, color=MUTED, pad=5)
