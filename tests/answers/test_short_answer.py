import pytest

from cg_pipeline.answers.short_answer import is_settled, short_answer


@pytest.mark.parametrize(
    ("text", "answer", "settled"),
    [
        ("Paris", "Paris", False),
        ("Paris.\nBecause", "Paris.", True),
        ("The answer is Paris.", "Paris.", False),
        ("The answer is Paris. It is", "Paris", True),
        ("Answer: **Paris**\n", "Paris", False),
        ("It is in France. The answer is: St. Louis, Senegal. It", "St. Louis, Senegal", True),
        ("Paris\n\nQuestion: And?\nAnswer: Rome", "Paris", True),
        ("<think>Rome?</think>\nParis\n", "Paris", True),
        ("The answer is", "The answer is", False),
        ("\n \n", "", False),
    ],
)
def test_short_answer(text: str, answer: str, settled: bool) -> None:
    assert (short_answer(text), is_settled(text)) == (answer, settled)
