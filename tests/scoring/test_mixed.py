"""Every kind of answer, as plain texts, as reasonings, as traps."""

import time

import pytest

from cg_pipeline.records import Example
from cg_pipeline.scoring.mixed import POLICY
from tests.scoring.cases import BOMBS, completion, example

EXAMPLES = {
    "option": example("(B)", "B", details={"kind": "option", "options": ["a pear", "a fig", "a plum"]}),
    "yes_no": example("no", details={"kind": "yes_no"}),
    "number": example("-6", details={"kind": "number"}),
    "word": example("invalid", details={"kind": "word", "words": ["valid", "invalid"]}),
    "order": example("fig pear", details={"kind": "order", "items": ["fig", "pear"]}),
    "brackets": example(") ]", "[ ( ) ]", details={"kind": "brackets"}),
    "text": example("hand", details={"kind": "text"}),
}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("option", "(B)", 1.0),
        ("option", "B", 1.0),
        ("option", "a fig", 1.0),
        ("option", "Let's think step by step.\nIt is small.\nSo the answer is (B).", 1.0),
        ("option", "The answer is (B), because a pear is large.", 1.0),
        ("option", "The answer is option (B).", 1.0),
        ("option", "Option (B)", 1.0),
        ("option", "(B) a fig is the correct answer.", 1.0),
        ("option", "The answer is (A).", 0.0),
        ("option", "(A) or (B)", None),
        ("option", "Let's think step by step.", None),
        ("yes_no", "No, the sentence is not plausible.", 1.0),
        ("yes_no", "It rains. So the answer is no.", 1.0),
        ("yes_no", r"$\boxed{\text{No}}$", 1.0),
        ("yes_no", "Yes.", 0.0),
        ("yes_no", "Yes and no.", None),
        ("number", "((-1 + 2) * (3 - 9)) = (1) * (-6) = -6", 1.0),
        ("number", "There are -6 objects.", 1.0),
        ("number", "The answer is 6.", 0.0),
        ("number", "Many.", None),
        ("word", "The argument is invalid.", 1.0),
        ("word", "The argument is valid.", 0.0),
        ("word", "It is valid or invalid.", None),
        ("order", "1. fig\n2. pear", 1.0),
        ("order", "pear fig", 0.0),
        ("order", "fig pear pear fig", None),
        ("brackets", "So the answer is ) ].", 1.0),
        ("brackets", "[ ( ) ]", 1.0),
        ("brackets", "] )", 0.0),
        ("brackets", "I close them.", None),
        ("text", "The answer is hand.", 1.0),
        ("text", "sand", 0.0),
        ("text", "Let me think about all of these names first.", None),
    ],
)
def test_score(kind: str, text: str, value: float | None) -> None:
    score = POLICY.score(EXAMPLES[kind], completion(text))
    assert (score.value, score.reason) == (value, "unparsed" if value is None else "")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_reasoning_cut_at_its_limit_is_truncated(kind: str) -> None:
    score = POLICY.score(EXAMPLES[kind], completion("Let's think step by step. It rains", "length"))
    assert (score.value, score.reason) == (None, "truncated")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_no_text_holds_it_up(kind: str) -> None:
    for bomb in BOMBS:
        started = time.process_time()
        score = POLICY.score(EXAMPLES[kind], completion(bomb))
        assert time.process_time() - started < 2, bomb[:12]
        assert (score.value is None) == (score.reason == "unparsed")


def test_an_unknown_kind_is_refused():
    asked: Example = example("4", details={"kind": "colour"})
    with pytest.raises(
        ValueError, match=r"kind of example \w+ is 'colour'; expected one of option, yes_no, nu"
    ):
        POLICY.score(asked, completion("4"))
