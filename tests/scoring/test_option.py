import pytest

from cg_pipeline.scoring.option import POLICY
from tests.scoring.cases import completion, example

CITIES = example("London", choices=("Paris", "London", "Rome"))


@pytest.mark.parametrize(
    ("text", "stop", "value", "reason", "answer"),
    [
        ("The answer is B.", "end", 1.0, "", "London"),
        ("(c)", "end", 0.0, "", "Rome"),
        ("A and B", "end", None, "unparsed", ""),
        ("", "end", None, "unparsed", ""),
        ("B", "length", 1.0, "", "London"),
        ("B. London is", "length", 1.0, "", "London"),
        ("The answer is B", "length", None, "truncated", ""),
        ("Let me think about Paris", "length", None, "truncated", ""),
        ("", "refused", None, "refused", ""),
    ],
)
def test_score(text, stop, value, reason, answer) -> None:
    """Faults F10 and F11: what cannot be read is not wrong."""
    score = POLICY.score(CITIES, completion(text, stop))
    assert (score.value, score.reason, score.answer) == (value, reason, answer)
