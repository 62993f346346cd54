"""Scenes and endings are cleaned as the usual harness cleans them."""

import pytest

from cg_pipeline.benchmarks.hellaswag import BENCHMARK, from_normalised, to_item

ROW = {
    "ind": 1,
    "activity_label": "Gardening",
    "ctx_a": "A woman digs a hole.",
    "ctx_b": "she",
    "ctx": "A woman digs a hole. she",
    "endings": ["plants a tree.", "eats the spade.", "is a hole.", "flies."],
    "source_id": "s",
    "split": "val",
    "split_type": "indomain",
    "label": "0",
}


def test_the_second_half_of_a_scene_starts_with_a_capital():
    item = to_item(ROW)
    assert item.question == "A woman digs a hole. She"
    assert item.answers == ("plants a tree.",)
    assert BENCHMARK.prompt(item).text == "Gardening: A woman digs a hole. She"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("[header] How to prune [title] Wait. [step] Cut  now.", "How to prune. Wait. Cut now."),
        ("  Rain falls. ", "Rain falls."),
        ("[substeps] Water it.", "Water it."),
        ("Soil [not sand] helps.", "Soil helps."),
    ],
)
def test_markers_and_blanks_go(text: str, cleaned: str):
    item = to_item({**ROW, "ctx_a": text, "ctx_b": "", "endings": [text, "a", "b", "c"]})
    assert (item.question, item.answers) == (cleaned, (cleaned,))


@pytest.mark.parametrize(
    ("scene", "mended"),
    [
        ("A woman digs a hole. she", "A woman digs a hole. She"),
        ("A woman sings! the small dog", "A woman sings! The small dog"),
        ("How to prune. Wait for spring.", "How to prune. Wait for spring."),
        ("She says 3.5 metres. it", "She says 3.5 metres. It"),
    ],
)
def test_a_normalised_scene_is_the_same_item(scene: str, mended: str):
    fields = {"question": scene, "choices": ROW["endings"], "answer": "B", "category": "Gardening"}
    item = from_normalised(fields)
    assert (item.question, item.answers) == (mended, ("eats the spade.",))


def test_both_ways_give_one_item():
    fields = {"question": ROW["ctx"], "choices": ROW["endings"], "answer": "A", "category": "Gardening"}
    assert from_normalised(fields) == to_item(ROW)


def test_a_split_without_answers_is_refused():
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        to_item({**ROW, "label": ""})
    assert str(error.value) == "label is ''; expected '0' to '3'. Use a split that has answers."
