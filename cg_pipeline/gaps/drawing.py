"""How every chart of a report looks, and how it becomes SVG and PNG.

One style in one place: white ground, light grid, no frame, Okabe–Ito colours (told apart by
colour-blind readers and in grey), labels on the data instead of legends. SVG text stays
text, so that it can be searched, read aloud and set in the reader's own font. Equal charts
give equal bytes: fixed ids, no date.

Matplotlib is imported where a chart is drawn: it takes most of a second.
"""

import io
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, SKY, ORANGE, GREEN, RED, PURPLE = "#0072B2", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
DARK = {ORANGE: "#8A5A00", RED: "#B04A00", PURPLE: "#97406B"}
"""The same colours dark enough for words on white."""
INK, MUTED, GRID, GROUND = "#1F2933", "#5B6773", "#E3E7EB", "#FFFFFF"
SHADE, PALE = "#AEB9C4", "#DDE3E9"

COVERAGE, PERFORMANCE = r"coverage $\chi_\mathrm{bench}$", r"performance $\chi_\mathrm{model}$"
"""Names of the two quantities for `Axes.set`, with their symbols; `symbols` sets them."""

WIDTH = 7.0
"""Inches: 700 px at the size reports show."""

_FONTS = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

_TAG = re.compile(r"<[^>]+>")
_SIZE = re.compile(r' (?:width|height)="[^"]*pt"')
_REFERENCE = re.compile(r'\bid="|href="#|url\(#')

_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.formatter.use_mathtext": False,
    "axes.grid": True,
    "axes.labelcolor": MUTED,
    "axes.labelpad": 8.0,
    "axes.labelsize": 10.0,
    "axes.linewidth": 0.8,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": GROUND,
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "path.simplify": False,
    "savefig.facecolor": GROUND,
    "svg.fonttype": "none",
    "svg.hashsalt": "competency-gaps",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "xtick.labelsize": 9.5,
    "xtick.major.size": 0.0,
    "xtick.minor.size": 0.0,
    "ytick.color": MUTED,
    "ytick.labelsize": 9.5,
    "ytick.major.size": 0.0,
    "ytick.minor.size": 0.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One drawn figure."""

    name: str
    """Stem of its file name; also makes ids unique where several charts share a page."""
    title: str
    alt: str
    """What it shows, in one or two sentences, for readers who cannot see it."""
    svg: str
    """A complete SVG document."""
    figure: Any
    """Matplotlib's figure, from which `png` is made."""

    @property
    def png(self) -> bytes:
        """The same as a PNG file, for places that show no SVG."""
        picture = io.BytesIO()
        with _style():
            self.figure.savefig(picture, format="png", dpi=144, metadata={"Software": None})
        return picture.getvalue()

    def inline_svg(self) -> str:
        """The `<svg>` element alone, for HTML: as wide as its place, with ids of its own."""
        element = _TAG.sub(self._with_own_ids, self.svg[self.svg.index("<svg") :])
        element = _SIZE.sub("", element, count=2)
        return element.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1).strip()

    def _with_own_ids(self, tag: re.Match[str]) -> str:
        return _REFERENCE.sub(rf"\g<0>{self.name}-", tag[0])


@contextmanager
def canvas(height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """A figure of the report's width with one axes, in the report's style."""
    from matplotlib.figure import Figure

    with _style():
        figure = Figure(figsize=(WIDTH, height))
        yield figure, figure.add_subplot()


def render(figure: "Figure", *, name: str, title: str, alt: str) -> Chart:
    """The figure as a chart; call it within its `canvas`."""
    svg = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Title": title}
    figure.savefig(svg, format="svg", dpi=216, metadata=metadata)  # dots per inch of pictures inside it
    text = svg.getvalue().replace("'DejaVu Sans'", _FONTS)
    return Chart(name=name, title=title, alt=alt, svg=text, figure=figure)


def log_axis(axes: "Axes", low: float, high: float) -> None:
    """A logarithmic x axis from low to high, marked at powers of ten, or finer where these are too few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = [10.0**power for power in range(first, last + 1, 1 + (last - first) // 9)]
    marks = [mark for mark in powers if low <= mark <= high]
    if len(marks) < 2:
        marks = [mark for power in powers for step in (1, 2, 5) if low <= (mark := step * power) <= high]
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
    axes.set_xticks([], minor=True)


def symbols(axes: "Axes") -> None:
    """Set the mathematics in the axes' names, which are this project's own; no other text has any."""
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_parse_math(True)


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # Labels may be in any script: the SVG leaves glyphs to the reader, the PNG shows a box.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from font", category=UserWarning)
        yield
