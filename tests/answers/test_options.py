"""Which option a text chooses: cases, hostile ones included."""

import pytest

from cg_pipeline.answers.options import read_option

CHOICES = ("Paris", "London", "Rome", "bank account")

CHOOSES = {
    # The letter alone.
    "A": 0,
    "B": 1,
    "b": 1,
    "B.": 1,
    "B)": 1,
    "(B)": 1,
    "(b)": 1,
    "[B]": 1,
    "**B**": 1,
    "**B.**": 1,
    "__B__": 1,
    "B:": 1,
    "Option B": 1,
    "B B B B": 1,
    "\u202eB\u202c": 1,
    "<think>Maybe A.</think>B": 1,
    # The letter, and more.
    "B. London": 1,
    "B) London is the capital": 1,
    "B: London": 1,
    "B\n\nBecause Paris is in France.": 1,
    "B\n\nQuestion: What next?\nAnswer: A": 1,
    "B, not A": 1,
    "A because it is": 0,
    "A is wrong, so B": 1,
    "(A) is wrong. (B) is right.": 1,
    "B is incorrect. C is correct.": 2,
    "option (c) is right": 2,
    "Hm, (A) is in France. So it must be (B).": 1,
    "Option (C) is in Italy. Thus option (B).": 1,
    "(C) is in Italy. (A) is in France. So (B).": 1,
    "(B) is clearly the best, for (A) is in France.": 1,
    # Announced.
    "The answer is B": 1,
    "The answer is B.": 1,
    "The answer is (B).": 1,
    "the answer is: b": 1,
    "Answer: B": 1,
    "Answer:\n\nB": 1,
    "**Answer:** (B) London": 1,
    "The best answer is B) London": 1,
    "The correct option is C.": 2,
    "The answer is A because it is old": 0,
    "The answer is: B, since A and C are false": 1,
    "The answer is not A. The answer is B.": 1,
    "The answer is London": 1,
    "The answer is the bank account.": 3,
    "Paris is in France. London is in England.\n\nSo the answer is B": 1,
    "A. Paris\nB. London\nC. Rome\nD. bank account\nAnswer: C": 2,
    "A. Paris\nB. London\nC. Rome\nD. bank account\n\nB. London": 1,
    "A) Paris\nB) London\nC) Rome\nD) bank account\n\n**B) London**": 1,
    "A. Paris: in France.\nB. London: in England.\nC. Rome: in Italy.\n\nA. Paris": 0,
    "The final answer is: $\\boxed{\\text{(C)}}$.": 2,
    "$\\boxed{B}$": 1,
    # The words.
    "London": 1,
    "london.": 1,
    "It is the bank account": 3,
    "not Paris but London": 1,
    # Reasoning first.
    "Let me think. It rains a lot there.\n\nB": 1,
}

CHOOSES_NONE = [
    "",
    "   \n",
    "E",  # there is no such option
    "A and B",
    "A or B",
    "A/B",
    "B, C",
    "Both A and C",
    "A B C D",
    "The answer is A or B.\n\nA",
    "The answer is A, B",
    "not A",
    "The answer is not A",
    "Neither A nor B",
    "The capital is not Paris.",
    "I am not sure.",
    "A dog is an animal",
    "The answer is A dog",
    "B. Paris",  # letter and words disagree
    "Answer: B. Paris",
    "Paris or London",
    "BBBB",
    "С",  # Cyrillic
    "Ｂ",  # full width
    "<think>Maybe A",
    "A. Paris\nB. London\nC. Rome\nD. bank account",  # an echo of the options
    "A. Paris\nB. London\nC. Rome\nD. bank account\n\nA. Paris\nB. London\nC. Rome\nD. bank account",
    "A. Paris\nB. London\nC. Rome\n\nB. Rome",
    "A. Paris\nB. London\nC. Rome\n\nD. bank account",
    "Hm, (A) is in France. It must be (B).",
    "It must be option B. Option A is in France.",
    "It is B because Paris is in France.",  # a letter here, another option's words there
    "\\boxed{B",
]


@pytest.mark.parametrize(("text", "index"), CHOOSES.items())
def test_what_chooses_one(text: str, index: int) -> None:
    found = read_option(text, CHOICES)
    assert found is not None
    assert found.index == index


@pytest.mark.parametrize("text", CHOOSES_NONE)
def test_what_chooses_none(text: str) -> None:
    """Fault F10: what cannot be read is not the first match."""
    assert read_option(text, CHOICES) is None


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("B", True),  # a letter, whole
        ("D. bank account", True),
        ("The answer is D. bank account", True),
        ("(B)", True),
        ("B\nBecause", True),
        ("The answer is B", False),  # … may go on: "Bananas"
        ("The answer is B and", False),
        ("The answer is B. It is", True),
        ("It is London", False),
        ("\\boxed{B}", True),
    ],
)
def test_settled(text: str, settled: bool) -> None:
    found = read_option(text, CHOICES)
    assert found is not None
    assert found.settled == settled


def test_two_options_with_the_same_words_are_told_apart_by_letter_only():
    choices = ("yes", "Yes!", "no")
    assert read_option("yes", choices) is None
    assert read_option("B", choices).index == 1  # type: ignore[union-attr]


LETTERED = ("B", "A", "C", "D")


@pytest.mark.parametrize("text", ["B", "(B)", "**B**", "The answer is B.", "B\n\nIt is.", "b", "\\boxed{A}"])
def test_a_letter_that_is_also_another_option_is_not_read(text: str) -> None:
    assert read_option(text, LETTERED) is None


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("C", 2),
        ("B. A", 1),
        ("(A) B", 0),
        ("The answer is A) B.", 0),
        ("Option B", 1),
        ("The answer is D", 3),
    ],
)
def test_a_letter_whose_own_text_stands_beside_it_is_read(text: str, index: int) -> None:
    found = read_option(text, LETTERED)
    assert found is not None
    assert found.index == index


def test_without_choices_nothing_is_chosen():
    assert read_option("B", ()) is None
    assert read_option("B", tuple(map(str, range(30)))) is None


@pytest.mark.parametrize("n_choices", [2, 5, 10, 26])
def test_every_letter_there_is(n_choices: int) -> None:
    choices = tuple(f"choice number {i}" for i in range(n_choices))
    for index, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
        found = read_option(f"The answer is {letter}.", choices)
        assert (found and found.index) == (index if index < n_choices else None)


@pytest.mark.parametrize(
    ("choices", "text", "index"),
    [
        (("A B", "B", "C D"), "A B", 0),
        (("A B", "B", "C D"), "The answer is A B.", 0),
        (("A B", "B", "C D"), "A B\n\nBecause both occur.", 0),
        (("A B", "B", "C D"), "c d", 2),
        (("A B", "B", "C D"), "C. C D", 2),
        (("A B", "B", "C D"), "B", 1),
        (("AB", "A", "B", "O"), "AB", 0),
        (("x", "A and B", "neither A nor B", "C"), "Neither A nor B.", 2),
        (("x", "A and B", "neither A nor B", "C"), "The answer is A and B", 1),
        (("G major", "C major", "D minor", "E minor"), "C major, because it has no accidentals.", 1),
        (("G major", "C major", "D minor", "E minor"), "It is C major.", 1),
        (("G major", "C major", "D minor", "E minor"), "C", 2),
        (("Vitamin C", "Vitamin A", "Vitamin D", "iron"), "It must be vitamin C.", 0),
        (("Vitamin C", "Vitamin A", "Vitamin D", "iron"), "The answer is vitamin A, I think.", 1),
        (("Vitamin C", "Vitamin A", "Vitamin D", "iron"), "C: Vitamin D", 2),
        (("an apple", "an apple pie", "a pie"), "I would say an apple pie", 1),
        (("C", "C++", "D", "Rust"), "C++", 1),
    ],
)
def test_the_text_of_an_option_wins_over_letters(choices: tuple[str, ...], text: str, index: int) -> None:
    found = read_option(text, choices)
    assert found is not None
    assert found.index == index


NAMING_LETTERS = ("Both A and B", "A only", "B only", "Neither A nor B")


@pytest.mark.parametrize(
    "text",
    [
        "B. A only",
        "B) A only",
        "(B) A only",
        "**B. A only**",
        "B: A only.",
        "B. a only",
        "The answer is B. A only.",
        "B. A only\n\nIt is the first one.",
        "It rains.\n\nAnswer: (B) A only",
        "\\boxed{B. A only}",
        "A only",
    ],
)
def test_a_letter_in_an_option_is_no_article(text: str) -> None:
    found = read_option(text, NAMING_LETTERS)
    assert found is not None
    assert found.index == 1


@pytest.mark.parametrize(
    ("text", "index"),
    [("A. Both A and B", 0), ("C) B only", 2), ("(D) Neither A nor B.", 3), ("C. A only", None)],
)
def test_letter_and_text_of_an_option_that_names_letters(text: str, index: int | None) -> None:
    found = read_option(text, NAMING_LETTERS)
    assert (found and found.index) == index


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        (("G major", "C major", "D minor", "E minor"), "C. C major"),  # letter and text disagree
        (("G major", "C major", "D minor", "E minor"), "C major or D minor"),
        (("G major", "C major", "D minor", "E minor"), "C major is wrong, it is E minor."),
        (("x", "A and B", "neither", "C"), "I am torn between A and B"),
    ],
)
def test_where_letter_and_text_disagree_none_is_read(choices: tuple[str, ...], text: str) -> None:
    assert read_option(text, choices) is None
