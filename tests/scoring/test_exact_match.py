import pytest

from cg_pipeline.scoring.exact_match import POLICY
from tests.scoring.cases import completion, example


@pytest.mark.parametrize(
    ("text", "stop", "targets", "value", "reason"),
    [
        ("The Beatles", "end", ("beatles",), 1.0, ""),
        ("The answer is the Beatles.", "end", ("Beatles", "Fab Four"), 1.0, ""),
        ("fab four\nThey were four.", "end", ("Beatles", "Fab Four"), 1.0, ""),
        ("Beatles, maybe", "end", ("Beatles",), 0.0, ""),
        ("-5", "end", ("5",), 0.0, ""),
        ("1,000", "end", ("1000",), 1.0, ""),
        ("(A).", "end", ("(A)",), 1.0, ""),  # a letter, no article
        ("So the answer is (A).", "end", ("(A)",), 1.0, ""),
        ("A", "end", ("(A)",), 1.0, ""),
        ("(B).", "end", ("(A)",), 0.0, ""),
        ("the", "end", ("(A)",), 0.0, ""),
        ("] )", "end", ("] )",), 1.0, ""),
        (") ]", "end", ("] )",), 0.0, ""),
        ("Beat", "length", ("Beatles",), None, "truncated"),
        ("Beatles\nThey", "length", ("Beatles",), 1.0, ""),
        ("\n", "end", ("Beatles",), None, "unparsed"),
        ("<think>Beatles", "end", ("Beatles",), None, "unparsed"),
        ("", "failed", ("Beatles",), None, "failed"),
    ],
)
def test_score(text, stop, targets, value, reason) -> None:
    score = POLICY.score(example(*targets), completion(text, stop))
    assert (score.value, score.reason) == (value, reason)
