"""Where the labels of a scatter plot may stand: beside their dots, on nothing, and inside the frame.

Why not a library for it: those move labels until they overlap little; a label that covers
dots says less than none, so here one that finds no free place is left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

_DISTANCES = (7.0, 14.0, 22.0, 34.0, 48.0)
_DIRECTIONS = ((1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1))
_STEPS_OF_A_LINE = np.linspace(0.0, 1.0, 33)[:, None]


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def middle(self) -> Float[np.ndarray, "2"]:
        """Its centre."""
        return np.array([self.left + self.right, self.bottom + self.top]) / 2

    def within(self, frame: "Box") -> bool:
        """Whether it lies in the frame as a whole."""
        below = frame.left <= self.left and frame.bottom <= self.bottom
        return below and self.right <= frame.right and self.top <= frame.top

    def overlaps(self, other: "Box") -> bool:
        """Whether the two share an area."""
        aside = self.left < other.right and other.left < self.right
        return aside and self.bottom < other.top and other.bottom < self.top

    def holds(self, points: Float[np.ndarray, "n_points 2"]) -> Bool[np.ndarray, " n_points"]:
        """Which points lie inside."""
        x, y = points[:, 0], points[:, 1]
        return (x > self.left) & (x < self.right) & (y > self.bottom) & (y < self.top)


@dataclass(frozen=True, slots=True)
class Label:
    """A label's place and the dot that a line joins it to."""

    box: Box
    dot: Float[np.ndarray, "2"]

    @property
    def line(self) -> Float[np.ndarray, "33 2"]:
        """Points along the line from the dot to the label's centre."""
        return self.dot + _STEPS_OF_A_LINE * (self.box.middle - self.dot)


def place_label(
    dot: Float[np.ndarray, "2"],
    size: tuple[float, float],
    dots: Float[np.ndarray, "n_dots 2"],
    taken: Sequence[Label],
    frame: Box,
    scale: float = 1.0,
) -> Label | None:
    """The nearest free place for a label of `size` beside `dot`; None where there is none.

    A place is free where it lies inside `frame`, on no dot and on no label of `taken`, where
    no line of one label crosses the other, and where its line passes no other dot, which it
    might seem to name. Lengths are in one unit, `scale` of which make a point (1/72 inch).
    """
    for box in _boxes(dot, size, scale):
        label = Label(box, dot)
        covers = box.holds(dots).any() or any(_meet(label, other) for other in taken)
        if box.within(frame) and not covers and not _passes(label, dots, 2 * scale):
            return label
    return None


def _boxes(dot: Float[np.ndarray, "2"], size: tuple[float, float], scale: float) -> Iterator[Box]:
    """Boxes around a dot, nearest first."""
    width, height = size
    column, row = dot.tolist()
    for distance in _DISTANCES:
        for right, up in _DIRECTIONS:
            x = column + right * (distance * scale + width / 2)
            y = row + up * (distance * scale + height / 2)
            yield Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _meet(one: Label, other: Label) -> bool:
    crossed = one.box.holds(other.line).any() or other.box.holds(one.line).any()
    return bool(crossed) or one.box.overlaps(other.box)


def _passes(label: Label, dots: Float[np.ndarray, "n_dots 2"], margin: float) -> bool:
    """Whether another dot lies within the margin of a label's line."""
    others = dots[np.hypot(*(dots - label.dot).T) > margin]
    away = np.hypot(*(others[:, None] - label.line[None]).transpose(2, 0, 1))
    return bool((away < margin).any())
