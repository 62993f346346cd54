import pytest

from cg_pipeline.scoring.yes_no import POLICY
from tests.scoring.cases import completion, example


@pytest.mark.parametrize(
    ("text", "stop", "target", "value", "reason"),
    [
        ("Yes.", "end", "yes", 1.0, ""),
        ("No.", "end", "yes", 0.0, ""),
        ("No, it", "length", "no", 1.0, ""),
        ("No", "length", "no", None, "truncated"),
        ("true", "end", "yes", 1.0, ""),
        ("Perhaps.", "end", "no", None, "unparsed"),
        ("Perhaps", "length", "no", None, "truncated"),
        ("", "timed_out", "no", None, "timed_out"),
    ],
)
def test_score(text, stop, target, value, reason) -> None:
    score = POLICY.score(example(target), completion(text, stop))
    assert (score.value, score.reason) == (value, reason)


def test_a_target_that_is_neither_is_refused():
    with pytest.raises(ValueError, match=r"target of example \w+ is 'maybe'; expected 'yes' or 'no'"):
        POLICY.score(example("maybe"), completion("yes"))
