import pytest

from cg_pipeline.answers.short_answer import is_settled, read_short_answer, short_answer


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
        ("The answer is", "", False),
        ("\n \n", "", False),
    ],
)
def test_short_answer(text: str, answer: str, settled: bool) -> None:
    assert (short_answer(text), is_settled(text)) == (answer, settled)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Here it is:\n\nParis", "Paris"),
        ("## Answer\nParis", "Paris"),
        ("**Answer**\n\n**Paris**", "**Answer**"),
        (r"So $\boxed{\text{Paris}}$.", "Paris"),
        ("Sure! Paris.", "Paris."),
        ("The answer to that question is **Paris**.", "Paris."),
    ],
)
def test_where_a_short_answer_stands(text: str, answer: str) -> None:
    assert short_answer(text) == answer


def test_what_is_right_is_read_from_a_statement_and_what_is_not_from_its_short_side():
    right = read_short_answer("The capital of France is Paris.", ["Rome", "Paris"])
    assert right == ("Paris", True, False)
    wrong = read_short_answer("The capital of the whole wide country of France is Lyon.\nIt", ["Paris"])
    assert wrong == ("Lyon", False, True)
    assert read_short_answer("Paris has been it for ages.", ["Paris"]) is None
    assert read_short_answer("Paris has been it.", ["Paris"], partly=True) == (
        "Paris has been it.",
        False,
        False,
    )
