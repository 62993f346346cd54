"""Charts of a reader's training: what it explains, how much fires, what is dead, over tokens trained on."""

from collections.abc import Sequence

from cg_pipeline.gaps.drawing import BLUE, INK, Chart, canvas, render
from cg_pipeline.training_records import CurvePoint

_NAMES = {
    "explained_variance": "explained variance (held out)",
    "l0": "latents per token (held out)",
    "dead_share": "dead share",
    "loss": "loss of a batch",
}
"""What is drawn, by the field of a point."""


def draw_training(curve: Sequence[CurvePoint]) -> list[Chart]:
    """One chart for each figure, its last value beside it; none without points."""
    return [_draw(curve, field, name) for field, name in _NAMES.items()] if curve else []


def _draw(curve: Sequence[CurvePoint], field: str, name: str) -> Chart:
    tokens = [point.n_tokens for point in curve]
    values = [float(getattr(point, field)) for point in curve]
    with canvas(2.4) as (figure, axes):
        axes.plot(tokens, values, color=BLUE, marker="o" if len(curve) < 3 else "")
        axes.annotate(
            f"{values[-1]:.3g}", (tokens[-1], values[-1]), (4, 0), textcoords="offset points", color=INK
        )
        axes.set_xlim(0, tokens[-1] * 1.08)
        axes.xaxis.set_major_formatter(lambda count, _: f"{count:,.0f}")
        axes.set(xlabel="tokens trained on", ylabel=name)
        alt = f"{name} against tokens trained on, {values[0]:.3g} at first and {values[-1]:.3g} at the end."
        return render(figure, name=f"training_{field}", title=name, alt=alt)
