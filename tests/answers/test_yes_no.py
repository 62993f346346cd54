import pytest

from cg_pipeline.answers.yes_no import meaning, read_yes_no


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Yes", True),
        ("no", False),
        ("Yes.", True),
        ("**No**", False),
        ("'yes'", True),
        ("(No)", False),
        ("True", True),
        ("FALSE.", False),
        ("No, it is not.", False),
        ("Yes it does", True),
        ("The answer is no.", False),
        ("Answer: Yes", True),
        ("Yes! Hm. The answer is no", False),
        ("It is hot.\nSo yes, it is.", True),
        ("It rains. Therefore, no.", False),
        ("<think>no</think>yes", True),
        ("yes\n\nQuestion: And?\nAnswer: no", True),
        ("Question: Is it?\nAnswer: no", False),
        (r"It rains. $\boxed{\text{No}}$", False),
        (r"\boxed{5}\nyes", None),
        ("Yes and no", None),
        ("yeſ", None),  # no s: a pattern takes it for one
        ("falſe", None),
        ("yes/no", None),
        ("True or false", None),
        ("No evidence suggests it.", None),
        ("I know.", None),
        ("Nobody", None),
        ("Yesterday", None),
        ("I think so.", None),
        ("The answer is not clear", None),
        ("<think>yes", None),
        ("", None),
    ],
)
def test_read_yes_no(text: str, says: bool | None) -> None:
    found = read_yes_no(text)
    assert (found and found.says_yes) == says


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("No", False),
        ("No, because", True),
        ("The answer is no", False),
        ("no\n\nQ", True),
    ],
)
def test_settled(text: str, settled: bool) -> None:
    found = read_yes_no(text)
    assert found is not None
    assert found.settled == settled


def test_meaning():
    assert meaning("Yes") is meaning(" true.") is True
    assert meaning("no") is meaning("False") is False
    assert meaning("maybe") is None
