import pytest

from cg_pipeline.answers.sequences import read_brackets, read_order, spaced_brackets

FRUIT = ("apple", "fig", "pear")


@pytest.mark.parametrize(
    ("text", "order", "settled"),
    [
        ("apple fig pear", "apple fig pear", True),
        ("Apple, Fig, and Pear.", "apple fig pear", True),
        ("The words are:\n\n1. apple\n2. fig\n3. pear", "apple fig pear", True),
        ("The list is: pear, apple, fig\n\nSorted: apple, fig, pear", "apple fig pear", True),
        ("pear apple fig → apple fig pear", "apple fig pear", True),
        ("pear is last. So the answer is apple fig pear.", "apple fig pear", True),
        ("**pear apple fig**", "pear apple fig", True),
        ("apple, fig", "apple fig", False),  # one is missing: wrong, but for a cut text
        ("apple, fig, but", "apple fig", True),
        ("apple", None, False),
        ("I would put the fig after the apple and the pear last.", None, False),
        ("apple fig pear apple pear fig pear fig apple", None, False),  # every order there is
        ("", None, False),
    ],
)
def test_read_order(text: str, order: str | None, settled: bool) -> None:
    found = read_order(text, FRUIT)
    assert found == (None if order is None else (order, settled))


@pytest.mark.parametrize(
    ("text", "brackets"),
    [
        ("} ) ]", "} ) ]"),
        ("})]", "} ) ]"),
        ("The answer is `} ) ]`.", "} ) ]"),
        ("We close { first (it is innermost).\n\nSo the answer is } ) ]", "} ) ]"),
        ("```\n} ) ]\n```", "} ) ]"),
        (r"$\boxed{\} ) ]}$", "} ) ]"),
        ("The whole is:\n[ ( { } ) ]", "[ ( { } ) ]"),
        ("`)` closes `(`", None),
        ("The answer is } ) ] or ] ) }", None),
        ("None (so far).", None),
        ("", None),
    ],
)
def test_read_brackets(text: str, brackets: str | None) -> None:
    found = read_brackets(text)
    assert (found and found.text) == brackets


def test_brackets_of_a_cut_text_are_not_settled():
    assert read_brackets("} )") == ("} )", False)
    assert spaced_brackets("[ (a) ]") == "[ ( ) ]"
