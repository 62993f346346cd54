"""No text holds a policy up, and whatever it is, it gets a score or a reason."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cg_pipeline.records import Example
from cg_pipeline.scoring import POLICIES
from tests.scoring.cases import BOMBS, completion, example

INSTRUCTIONS = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
EXAMPLES: dict[str, Example] = {
    "option": example("London", choices=("Paris", "London", "Rome")),
    "bbq": example("London", choices=("Paris", "London", "unknown")),
    "numeric": example("18"),
    "yes_no": example("yes"),
    "mixed": example("3", details={"kind": "text"}),
    "declines": example("answer"),
    "instructions": example(details=INSTRUCTIONS),
}
READERS = [name for name in POLICIES if not name.startswith(("likelihood", "paired", "judge", "code"))]


@pytest.mark.parametrize("name", READERS)
def test_no_text_holds_a_policy_up(name: str) -> None:
    asked = EXAMPLES.get(name, example("Paris", "3"))
    for bomb in BOMBS:
        for stop in ("end", "length"):
            started = time.process_time()
            score = POLICIES[name].score(asked, completion(bomb, stop))
            assert time.process_time() - started < 2, (name, bomb[:12])
            assert score.value is not None or score.reason in ("unparsed", "truncated", "undecided")


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("unit", ["a", "1 ", "\n", "(", "A and ", "\\boxed{", "answer is "])
def test_a_hundred_thousand_characters(name: str, unit: str) -> None:
    asked, text = EXAMPLES.get(name, example("Paris", "3")), unit * (100_000 // len(unit)) + "x"
    started = time.process_time()
    POLICIES[name].score(asked, completion(text))
    assert time.process_time() - started < 3


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(), max_size=60), stop=st.sampled_from(["end", "length"]))
def test_any_text_gets_a_score_or_a_reason(name: str, text: str, stop: str) -> None:
    if name == "math_equivalence" and "\\" in text:
        return  # each would be a question to another process; a table of them is in its own test
    score = POLICIES[name].score(EXAMPLES.get(name, example("Paris", "3")), completion(text, stop))
    assert (score.value is None) == bool(score.reason)
