import pytest

from cg_pipeline.answers.markers import announced, first_line, first_sentence, goes_on_after_first_line


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("The answer is B.", "B."),
        ("**Answer:** B", "B"),
        ("Answer is: B", "B"),
        ("The answer (letter) is B", "B"),
        ("The correct option is C", "C"),
        ("#### 18", "18"),
        ("The answer is 5? No, the answer is 6", "6"),
        ("The answer isn't B", None),
        ("the answer should be 10", "10"),
        ("The answer to the question is B", "B"),
        ("The answer would be: B", "B"),
        ("The answer = 5", "5"),
        ("The answer to that is hard to find, I will answer.", "hard to find, I will answer."),
        ("I will answer.", None),
        ("The answer is", ""),
        ("", None),
    ],
)
def test_announced(text: str, after: str | None) -> None:
    assert announced(text) == after


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Paris. It is old.", "Paris"),
        ("3.5. It is", "3.5"),
        ("St. Louis is it", "St. Louis is it"),
        ("Mrs. Ray won. He", "Mrs. Ray won"),
        ("Paris\nLondon", "Paris"),
        ("Paris", "Paris"),
        ("(B). Because", "(B)"),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_first_line():
    assert first_line("\n\n a b \n c") == "a b"
    assert goes_on_after_first_line("\n\na\n")
    assert not goes_on_after_first_line("\n\na")
