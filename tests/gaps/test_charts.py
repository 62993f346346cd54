import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from cg_pipeline.gaps.benchmark_charts import draw_accuracy, draw_overlap
from cg_pipeline.gaps.charts import draw_coverage, draw_performance
from cg_pipeline.gaps.drawing import Chart
from cg_pipeline.gaps.headline import summarise_benchmarks
from cg_pipeline.gaps.landscape import draw_landscape
from cg_pipeline.gaps.overlap import benchmark_overlap
from cg_pipeline.gaps.selection import alive_rows
from cg_pipeline.records import Gap
from tests.gaps.small_study import RULES, SmallStudy, concept

HOSTILE = "$\\frac$ <b>&\x00\u202e 数学 -- ]]> 😀"


def charts_of(study: SmallStudy, titles: dict[str, str] | None = None) -> list[Chart]:
    inputs = study.build()
    alive = alive_rows(inputs.suite, inputs.concepts)
    lines = summarise_benchmarks(inputs.scores, inputs.concept_metrics, inputs.concepts, inputs.study.rules)
    labels = {concept.concept_id: concept.label for concept in inputs.concepts}
    of_suite = [gap for gap in inputs.gaps if gap.scope == "suite"]
    return [
        draw_accuracy(lines, titles or {}),
        draw_coverage(alive),
        draw_overlap(benchmark_overlap(inputs.concept_metrics, inputs.concepts), titles or {}),
        draw_performance(alive, 0.6, inputs.study.rules),
        draw_landscape(alive, of_suite, labels, inputs.study.rules),
    ]


def texts(chart: Chart) -> str:
    return " ".join(ElementTree.fromstring(chart.svg).itertext())


STUDIES = {
    "two examples": SmallStudy(n_examples=2),
    "hostile labels": SmallStudy(concepts=[concept(number, HOSTILE) for number in range(12)]),
    "nothing alive": SmallStudy(concepts=[concept(number, status="dead") for number in range(12)]),
    "many benchmarks": SmallStudy(benchmarks=tuple(f"b{number}" for number in range(16)), n_examples=4),
}


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_chart_of_every_study_is_well_formed_and_private(study: SmallStudy):
    for chart in charts_of(study, dict.fromkeys(study.benchmarks, HOSTILE)):
        root = ElementTree.fromstring(chart.svg)
        assert root.tag.endswith("svg")
        assert chart.png.startswith(b"\x89PNG")
        assert chart.alt.endswith(".")
        assert chart.title
        addresses = set(re.findall(r'(?:href|src)="([^"]*)"', chart.svg))
        assert all(address.startswith(("#", "data:image/png;base64,")) for address in addresses)
        assert "<script" not in chart.svg
        assert "nan" not in texts(chart).lower()


def test_equal_data_give_equal_bytes():
    first, second = (draw_coverage(coverage_table(0.0, 1.0, 2.0)) for _ in range(2))
    assert (first.svg, first.png) == (second.svg, second.png)


def test_the_year_and_the_program_are_left_out():
    chart = draw_coverage(coverage_table(1.0, 2.0))
    assert "dc:date" not in chart.svg
    assert "Matplotlib" not in chart.svg.split("<metadata>")[1].split("</metadata>")[0]


def coverage_table(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"coverage": values, "performance": 0.5, "n_eff": 20.0})


def test_concepts_that_never_fire_stand_apart():
    chart = draw_coverage(coverage_table(0, 0, 0.5, 1, 2, 4))
    assert "never: 2" in texts(chart)
    assert "(33.3%)" in texts(chart)
    assert "median 1.5" in texts(chart)
    assert chart.alt == "Histogram of coverage over 6 concepts: 2 (33.3%) have coverage 0."


@pytest.mark.parametrize("values", [(), (0.0, 0.0), (3.0,), (3.0, 3.0), (1e-9, 1e9)])
def test_coverage_of_any_spread_is_drawn(values: tuple[float, ...]):
    assert f"never: {values.count(0.0)}" in texts(draw_coverage(coverage_table(*values)))


def test_performance_counts_supported_concepts_only():
    table = pd.DataFrame({"coverage": 1.0, "performance": [0.2, 0.4, 0.9, np.nan], "n_eff": [20, 20, 1, 20]})
    chart = draw_performance(table, 0.55, RULES)
    assert (
        chart.alt == "Histogram of performance over 2 concepts with n_eff of at least 3; the median is 0.30."
    )
    assert "mean score 0.55" in texts(chart)
    assert "mean score" not in texts(draw_performance(table, None, RULES))


def test_accuracy_says_where_nothing_was_scored():
    [chart, *_] = charts_of(SmallStudy(unscored=1.0))
    assert texts(chart).count("no example scored") == 3


def test_an_inline_figure_has_ids_of_its_own_and_no_fixed_size():
    chart = draw_coverage(coverage_table(0, 1, 2))
    inline = chart.inline_svg()
    assert inline.startswith('<svg aria-hidden="true"')
    assert all(name.startswith("coverage-") for name in re.findall(r'\bid="([^"]+)"', inline))
    assert set(re.findall(r"url\(#([^)]+)\)", inline)) <= set(re.findall(r'\bid="([^"]+)"', inline))
    assert set(re.findall(r'href="#([^"]+)"', inline)) <= set(re.findall(r'\bid="([^"]+)"', inline))
    assert not re.search(r'<svg[^>]*(width|height)="[^"]*pt"', inline)
    assert "viewBox" in inline


def test_words_that_look_like_ids_stay_as_they_are():
    [chart, *_] = charts_of(SmallStudy(), {"north": 'id="x" url(#y)'})
    assert "&quot;x&quot; url(#y)" in chart.inline_svg() or 'id="x" url(#y)' in chart.inline_svg()


def test_one_benchmark_has_nothing_to_compare():
    chart = charts_of(SmallStudy(benchmarks=("north",)))[2]
    assert "nothing to compare" in texts(chart)


def test_long_names_are_cut():
    [chart, *_] = charts_of(SmallStudy(), {"north": "x" * 500})
    assert "x" * 29 + "…" in texts(chart)
    assert "x" * 30 not in texts(chart)


def overlaps(*below: float) -> pd.DataFrame:
    """Three benchmarks with the given overlaps of (b, a), (c, a), (c, b)."""
    cells = np.eye(3)
    cells[[1, 2, 2], [0, 0, 1]] = cells[[0, 0, 1], [1, 2, 2]] = below
    return pd.DataFrame(cells, index=list("abc"), columns=list("abc"))


def cell_colours(chart: Chart) -> list[tuple[float, ...]]:
    [picture] = chart.figure.axes[0].images
    return [picture.cmap(picture.norm(value)) for value in picture.get_array().compressed()]


def test_overlaps_close_together_are_told_apart():
    chart = draw_overlap(overlaps(0.898, 0.902, 0.964), {})
    assert {"0.898", "0.902", "0.964"} <= set(texts(chart).split())
    assert "(possible: 0 to 1)" in texts(chart)
    assert chart.alt.endswith("between 3 benchmarks, from 0.898 to 0.964.")
    lightness = [sum(colour[:3]) for colour in cell_colours(chart)]
    assert lightness == sorted(lightness, reverse=True)
    assert lightness[0] - lightness[-1] > 1.5


def test_overlaps_far_apart_have_two_digits():
    assert {"0.10", "0.50", "0.90"} <= set(texts(draw_overlap(overlaps(0.1, 0.5, 0.9), {})).split())


def test_equal_overlaps_have_one_colour():
    chart = draw_overlap(overlaps(0.5, 0.5, 0.5), {})
    assert len(set(cell_colours(chart))) == 1


def crowd(n: int) -> Chart:
    """Many concepts in a heap and one that stands alone; it and two of the heap are model gaps."""
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "concept_id": np.arange(n),
            "coverage": generator.lognormal(size=n),
            "performance": generator.normal(0.5, 0.03, size=n),
            "n_eff": 20.0,
        }
    )
    table.loc[0, ["coverage", "performance"]] = 1.0, 0.1
    gaps = [gap(concept_id, rank) for rank, concept_id in enumerate((0, 1, 2), start=1)]
    names = {0: "the lonely river", 1: "“.”, “—”", 2: "amid the heap " + "of many words " * 9}
    return draw_landscape(table, gaps, names, RULES)


def gap(concept_id: int, rank: int) -> Gap:
    return Gap(
        model="tiny",
        scope="suite",
        kind="model_gap",
        concept_id=concept_id,
        rank=rank,
        value=0.1,
        lift=None,
        n_examples=20,
        n_eff=20.0,
    )


def test_the_landscape_names_what_has_room_and_says_something():
    shown = texts(crowd(1500))
    assert "the lonely river" in shown
    assert "“.”" not in shown
    assert "model gap (3)" in shown
    assert "others (1,497)" in shown
    assert "few examples (0)" in shown


def test_labels_of_the_landscape_lie_on_no_dot_and_on_no_other_label():
    chart = crowd(300)
    axes = chart.figure.axes[0]
    chart.figure.draw_without_rendering()
    dots = np.concatenate([axes.transData.transform(heap.get_offsets()) for heap in axes.collections])
    boxes = [Text.get_window_extent(label) for label in axes.texts]  # the words without their line
    assert boxes
    for box in boxes:
        assert not [dot for dot in dots if box.contains(*dot)]
        assert axes.get_window_extent().containsx(box.x0)
        assert axes.get_window_extent().containsx(box.x1)
        assert not [other for other in boxes if other is not box and box.overlaps(other)]
