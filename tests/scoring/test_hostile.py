"""No text holds a policy up, and whatever it is, it gets a score or a reason."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cg_pipeline.protocols import ProgramRun
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


class Passing:
    """A runner that runs nothing."""

    source = "none"

    def run(self, program: str) -> ProgramRun:
        return ProgramRun(outcome="passed", detail="")


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


SLOW = 200_000
CHAIN = "".join(f"def f{i}(): return f{i + 1}()\n" for i in range(5_000))
BACKWARDS = "".join(f"def f{i + 1}(): return f{i}()\n" for i in range(5_000))


def _instructed(kind: str, **given: Any) -> Example:
    return example(details={"instruction_id_list": [kind], "kwargs": [given]})


SENTENCES = _instructed("length_constraints:number_sentences", relation="at least", num_sentences=3)
PLACEHOLDERS = _instructed("detectable_content:number_placeholders", num_placeholders=1)
CODE = example(details={"entry_point": "f0", "test": "def check(f): pass"}, prompt="def f0():\n")


@pytest.mark.parametrize(
    ("name", "asked", "text"),
    [
        ("code_tests", CODE, "~" * SLOW + "`"),
        ("code_tests", CODE, "```" + " " * SLOW + "`"),
        ("code_tests", CODE, "```python\n'''\n" + "```\nx\n" * (SLOW // 6)),
        ("code_tests", CODE, f"```python\n{CHAIN}```"),
        ("code_tests", CODE, f"```python\n{BACKWARDS}def f0(): return f5000()\n```"),
        ("code_tests", CODE, f"```python\n{CHAIN[22:]}```\n```python\ndef f0(): return f1()\n```"),
        ("declines", example("answer"), "I can't give you an exact number." + "\n" * SLOW),
        ("instructions", SENTENCES, "a.b." * (SLOW // 4)),
        ("instructions", SENTENCES, "A." * (SLOW // 2)),
        ("instructions", PLACEHOLDERS, "[" * SLOW),
        ("mixed", example("[ ]", details={"kind": "brackets"}), "\\boxed{" * (SLOW // 7)),
    ],
    ids=range(11),
)
def test_no_pattern_takes_the_square_of_a_length(name: str, asked: Example, text: str) -> None:
    answered = completion(text)
    started = time.process_time()
    if name == "code_tests":
        POLICIES[name].score(asked, answered, Passing())
    else:
        POLICIES[name].score(asked, answered)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(), max_size=60), stop=st.sampled_from(["end", "length"]))
def test_any_text_gets_a_score_or_a_reason(name: str, text: str, stop: str) -> None:
    if name == "math_equivalence" and "\\" in text:
        return  # each would be a question to another process; a table of them is in its own test
    score = POLICIES[name].score(EXAMPLES.get(name, example("Paris", "3")), completion(text, stop))
    assert (score.value is None) == bool(score.reason)
