"""Prompt-level strict accuracy: all instructions or none."""

import pytest

from cg_pipeline.scoring.instructions import POLICY
from tests.scoring.cases import completion, example

TWO = example(
    details={
        "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
        "kwargs": [{}, {"relation": "at least", "num_words": 3}],
    }
)


@pytest.mark.parametrize(
    ("text", "stop", "value", "reason", "answer"),
    [
        ("Three short words", "end", 1.0, "", "followed"),
        ("Three, short words", "end", 0.0, "", "missed: punctuation:no_comma"),
        ("Two, words", "end", 0.0, "", "missed: punctuation:no_comma, length_constraints:number_words"),
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
