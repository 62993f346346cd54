"""All instructions or none, and the paper's other numbers beside it."""

from dataclasses import replace

import pytest

from cg_pipeline.scoring.instructions import POLICY
from tests.scoring.cases import completion, example

COMMA, WORDS = "punctuation:no_comma", "length_constraints:number_words"
TWO = example(
    details={
        "instruction_id_list": [COMMA, WORDS],
        "kwargs": [{}, {"relation": "at least", "num_words": 3}],
    }
)


@pytest.mark.parametrize(
    ("text", "stop", "value", "reason", "answer"),
    [
        ("Three short words", "end", 1.0, "", "followed"),
        ("Three, short words", "end", 0.0, "", f"missed: {COMMA}; loosely missed: {COMMA}"),
        ("Two, words", "end", 0.0, "", f"missed: {COMMA}, {WORDS}; loosely missed: {COMMA}, {WORDS}"),
        ("Well,\nthree short words", "end", 0.0, "", f"missed: {COMMA}; loosely missed: none"),
        ("<think>Well, hm</think>Three short words", "end", 1.0, "", "followed"),
        ("Three short words", "length", None, "truncated", ""),
        (" ", "end", None, "unparsed", ""),
        ("", "refused", None, "refused", ""),
    ],
)
def test_score(text, stop, value, reason, answer) -> None:
    score = POLICY.score(TWO, completion(text, stop))
    assert (score.value, score.reason, score.answer) == (value, reason, answer)


@pytest.mark.parametrize(
    "details",
    [
        None,
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []},
        {"instruction_id_list": []},
    ],
)
def test_an_example_without_instructions_is_refused(details) -> None:
    with pytest.raises(ValueError, match=r"name \d instructions and \d kwargs; expected"):
        POLICY.score(example(details=details), completion("x"))


def test_the_papers_four_numbers():
    one = example(prompt="One?", details={"instruction_id_list": [COMMA], "kwargs": [{}]})
    asked = [
        (TWO, "Three short words"),  # followed: 2 of 2, strictly and loosely
        (TWO, "Well,\nthree short words"),  # 1 of 2, loosely 2
        (TWO, "Two, words"),  # 0 of 2
        (one, "A, b"),  # 0 of 1
    ]
    scores = [
        replace(POLICY.score(each, completion(text)), example_id=each.example_id) for each, text in asked
    ]
    cut = replace(POLICY.score(one, completion("A b", "length")), example_id=one.example_id)
    assert POLICY.summarise is not None
    assert POLICY.summarise([TWO, one], [*scores, cut]) == {
        "prompt_strict": 1 / 4,
        "instruction_strict": pytest.approx(3 / 7),
        "prompt_loose": 2 / 4,
        "instruction_loose": pytest.approx(4 / 7),
    }
    assert POLICY.summarise([TWO], [cut]) == {}
