import pytest

from cg_pipeline.answers.one_of_words import read_word

VALIDITY = ("valid", "invalid")
TRUTH = ("True", "False")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("invalid", "invalid"),
        ("**Invalid.**", "invalid"),
        ("The argument is invalid.", "invalid"),
        ("The argument is not deductively valid.", "invalid"),
        ("It isn't invalid.", "valid"),
        ("invalid\n\nA valid one would follow.", "invalid"),
        ("Is it valid?\nWe shall see.\n\nSo the answer is invalid.", "invalid"),
        ("The answer is not valid.", "invalid"),
        ("To see whether it is valid, look.\n\nHence it is invalid.", "invalid"),
        (r"$\boxed{\text{invalid}}$", "invalid"),
        ("valid or invalid", None),
        ("It is neither valid nor invalid.", None),
        ("The answer is valid or invalid.\n\nvalid", None),
        ("It is unclear.", None),
        ("ınvalid", None),  # no i: a pattern takes it for one
        ("It is ınvalid.", None),
        ("<think>valid", None),
        ("", None),
    ],
)
def test_which_of_two(text: str, word: str | None) -> None:
    found = read_word(text, VALIDITY)
    assert (found and found.word) == word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("not ( True ) and ( True ) = False", "False"),
        ("not ( True ) and ( True ) is False", "False"),
        ("True and not True is:\n\n**False**", "False"),
        ("( True ) and ( False ) = False", "False"),
        ("The expression evaluates to `False`.", "False"),
        ("1. not True is False\n2. False or False is False", "False"),
        ("So the expression is True or False, which is True.", "True"),
        ("False, for True and False is False.", "False"),
        ("True and False", None),
    ],
)
def test_of_an_expression_what_it_comes_to(text: str, word: str | None) -> None:
    found = read_word(text, TRUTH)
    assert (found and found.word) == word


def test_not_means_the_other_one_only_of_two():
    assert read_word("It is not red.", ("red", "green", "blue")) is None
    assert read_word("It is red.", ("red", "green", "blue")) == ("red", False)


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("invalid", False),
        ("invalid\nBecause", True),
        ("The answer is valid", False),
        ("The answer is valid. It", True),
    ],
)
def test_settled(text: str, settled: bool) -> None:
    found = read_word(text, VALIDITY)
    assert found is not None
    assert found.settled == settled
