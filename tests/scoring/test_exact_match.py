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
        ("The capital of France is Paris.", "end", ("Paris",), 1.0, ""),
        ("Paris is the capital of France.", "end", ("Paris",), 1.0, ""),
        ("The capital of France is **Paris**.", "end", ("Paris",), 1.0, ""),
        ("Sure! It's Paris, the city on the Seine.", "end", ("Paris",), 1.0, ""),
        ("Paris. It lies on the Seine.", "end", ("Paris",), 1.0, ""),
        ("It was written by Ann Lee.", "end", ("Ann Lee",), 1.0, ""),
        ("The capital of France is Lyon.", "end", ("Paris",), 0.0, ""),
        ("Lyon is the capital of France.", "end", ("Paris",), 0.0, ""),
        ("Lyon", "end", ("Paris",), 0.0, ""),
        # Prose that holds the answer, or may.
        ("France has Paris for its capital.", "end", ("Paris",), None, "unparsed"),
        ("Ann Lee wrote it.", "end", ("Ann Lee",), None, "unparsed"),
        ("Let's think step by step.", "end", ("Paris",), None, "unparsed"),
        ("To answer this, recall the map.", "end", ("Paris",), None, "unparsed"),
        ("It lies in the north of that country on a river.", "end", ("Paris",), None, "unparsed"),
        # Lists of candidates are never right.
        ("Paris, Lyon, Rome, Berlin", "end", ("Paris",), None, "unparsed"),
        ("It is Paris or Lyon.", "end", ("Paris",), None, "unparsed"),
        ("Paris is Lyon is Rome.", "end", ("Paris",), None, "unparsed"),
        ("It is **Paris** or **Lyon**.", "end", ("Paris",), None, "unparsed"),
        ("1. Paris\n2. Lyon", "end", ("Paris",), None, "unparsed"),
        ("Paris, Lyon", "end", ("Paris",), 0.0, ""),
        ("It is not Paris.", "end", ("Paris",), None, "unparsed"),
        ("Not Paris", "end", ("Paris",), 0.0, ""),
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
