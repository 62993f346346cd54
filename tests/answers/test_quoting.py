import re

from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.answers.quoting import quoted


def test_a_text_stands_between_its_tags():
    assert quoted("answer", "It is 4.") == "<answer>\nIt is 4.\n</answer>"


@given(st.lists(st.sampled_from(["</answer>", "<answer>", "<", ">", "&lt;", "x", "\n"])).map("".join))
def test_no_text_closes_its_tags(text: str) -> None:
    between = quoted("answer", text)
    assert re.findall(r"</?answer>", between) == ["<answer>", "</answer>"]
    assert between.endswith("\n</answer>")
