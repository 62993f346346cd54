"""Tokens shown in their text."""

import pytest

from cg_pipeline.inference.occurrences import Occurrence


def at(text: str, token: str) -> Occurrence:
    start = text.index(token)
    return Occurrence(text, start, start + len(token), 1.0)


@pytest.mark.parametrize(
    ("token", "shown", "word", "piece"),
    [
        (" ran", "ran", "ran", "ran"),
        ("ning", "ning", "running", "…ning"),
        (" run", "run", "running", "run…"),
        ("nni", "nni", "running", "…nni…"),
        ("!", "!", "!", "!"),
        ("\n\n", "⏎", "⏎", "⏎"),
        ("  ", "␣", "␣", "␣"),
        ("é", "é", "café", "…é"),
    ],
)
def test_tokens_words_and_pieces(token: str, shown: str, word: str, piece: str) -> None:
    found = at("He ran. She was running!\n\nAt the café  now", token)

    assert (found.token, found.word, found.piece) == (shown, word, piece)


def test_context_marks_the_token_and_fits_on_a_line() -> None:
    text = "First line.\nThe cat sat on the mat ⟦here⟧ and looked."

    assert at(text, " sat").context() == "First line. The cat ⟦sat⟧ on the mat [here] and looked."
    assert at(text, "\n").context().startswith("First line.⟦⏎⟧The cat")


@pytest.mark.parametrize(
    ("token", "phrase"),
    [
        ("cies", "several species of"),
        (" of", "species of fig."),
        (".", "of fig. No"),
        ("\n", "No more, or so"),
        ("so", "or so"),
    ],
)
def test_a_phrase_is_a_word_more_on_either_side(token: str, phrase: str) -> None:
    assert at("There are several species of fig. No more,\nor so", token).phrase() == phrase


def test_long_contexts_are_cut_between_words() -> None:
    text = "alpha beta gamma delta epsilon zeta " * 10 + "HERE" + " alpha beta gamma delta epsilon zeta" * 10

    left, right = at(text, "HERE").context().split("⟦HERE⟧")

    assert 40 < len(left) <= 60
    assert 40 < len(right) <= 60
    assert {*left.split(), *right.split()} == {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}


def test_neighbours_are_whole_words_nearby_without_the_token_itself() -> None:
    text = (
        "In Paris, France, the Seine runs to the sea, and 12 of us saw it running on past towns and far away"
    )

    assert at(text, "run").neighbours() == {
        "paris": "Paris", "france": "France", "the": "the", "seine": "Seine", "sea": "sea", "and": "and",
        "saw": "saw",         "running": "running", "past": "past",
    }  # fmt: skip
