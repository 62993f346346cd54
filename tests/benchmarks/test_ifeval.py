"""Instructions keep their own arguments and no others."""

import pytest

from cg_pipeline.benchmarks.ifeval import to_item

ROW = {
    "key": 7,
    "prompt": "Write three lines without commas.",
    "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_sentences"],
    "kwargs": [{"num_sentences": None}, {"num_sentences": 3, "relation": "at least", "keywords": None}],
}


def test_arguments_that_are_null_belong_to_others():
    assert to_item(ROW).details == {
        "key": 7,
        "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_sentences"],
        "kwargs": [{}, {"num_sentences": 3, "relation": "at least"}],
    }


def test_the_category_is_the_family_of_the_first_instruction():
    assert to_item(ROW).category == "punctuation"
    assert to_item(ROW).answers == ()


def test_zero_and_false_are_arguments():
    item = to_item({**ROW, "kwargs": [{"n": 0}, {"strict": False, "text": ""}]})
    assert item.details["kwargs"] == [{"n": 0}, {"strict": False, "text": ""}]


@pytest.mark.parametrize(("names", "n_kwargs"), [([], 0), (["a:b"], 2)])
def test_instructions_and_arguments_come_in_pairs(names: list[str], n_kwargs: int):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        to_item({**ROW, "instruction_id_list": names, "kwargs": [{}] * n_kwargs})
    assert str(error.value) == (
        f"instruction_id_list is {names!r} with {n_kwargs} kwargs; expected one or more instructions "
        "with one set of arguments each. Correct them."
    )
