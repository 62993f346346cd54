"""The charts of a training show its figures."""

from cg_pipeline.gaps.training_charts import draw_training
from cg_pipeline.training_records import CurvePoint


def point(n_tokens: int, explained: float) -> CurvePoint:
    return CurvePoint(
        n_tokens=n_tokens,
        loss=2.0,
        explained_variance=explained,
        l0=32.0,
        dead_share=0.25,
        learning_rate=1e-3,
    )


def test_each_figure_has_a_chart_with_its_last_value() -> None:
    charts = {chart.name: chart for chart in draw_training([point(1000, 0.5), point(2000, 0.75)])}
    assert set(charts) == {
        "training_explained_variance",
        "training_l0",
        "training_dead_share",
        "training_loss",
    }
    first = charts["training_explained_variance"]
    assert (
        first.alt
        == "explained variance (held out) against tokens trained on, 0.5 at first and 0.75 at the end."
    )
    assert ">0.75<" in first.svg
    assert ">2,000<" in first.svg
    assert first.png.startswith(b"\x89PNG")


def test_a_single_point_is_drawn_and_no_points_are_no_charts() -> None:
    assert len(draw_training([point(1000, float("nan"))])) == 4
    assert draw_training([]) == []
