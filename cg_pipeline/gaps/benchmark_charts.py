"""Charts that set benchmarks side by side: accuracy, and the concepts they share."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cg_pipeline.gaps.drawing import BLUE, GROUND, INK, MUTED, SKY, Chart, canvas, render
from cg_pipeline.gaps.headline import BenchmarkHeadline
from cg_pipeline.gaps.legible import NO_NUMBER, decimal, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAME_LENGTH = 26
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
