"""Where an answer ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.stop_texts import answer_text, cut_before, stops_here
from tests.fakes import tiny_tokenizer

TOKENIZER = tiny_tokenizer()


def test_an_answer_ends_before_the_first_stop_text() -> None:
    assert cut_before("one\n\nQuestion: two\n", ("Question:", "\n\n")) == "one"
    assert cut_before("\n\n", ("\n\n",)) == ""
    assert cut_before("one", ("two",)) == "one"
    assert cut_before("one", ()) == "one"


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(["the dog", "é日", "\n\n"]),
)
def test_a_stop_text_is_seen_as_soon_as_it_is_written(before: str, stop: str) -> None:
    """However it lies across tokens: `the dog` is one or several of them, `é日` bytes of their own."""
    ids = TOKENIZER(f"{before}{stop} and more", add_special_tokens=False, split_special_tokens=True)[
        "input_ids"
    ]
    seen = [stops_here(TOKENIZER, ids[:n], [stop]) for n in range(1, len(ids) + 1)]

    complete = [stop in answer_text(TOKENIZER, ids[:n]) for n in range(1, len(ids) + 1)]
    assert any(complete)
    assert seen.index(True) == complete.index(True)


@pytest.mark.parametrize("stop", [[], ["never"]])
def test_nothing_stops_otherwise(stop: list[str]) -> None:
    ids = TOKENIZER("The cat sat.")["input_ids"]

    assert not stops_here(TOKENIZER, ids, stop)
