"""Labels from firings: short, readable, never empty."""

from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.labels import label_concepts, strongest_contexts, strongest_tokens
from cg_pipeline.inference.occurrences import Occurrence


def at(text: str, token: str, activation: float = 1.0) -> Occurrence:
    start = text.index(token)
    return Occurrence(text, start, start + len(token), activation)


CAPITALS = [
    at("Paris is the capital of France today", " capital", 5.0),
    at("We saw the capital of France yesterday", " capital", 4.0),
    at("Lyon is a city in France too", " city", 3.0),
    at("No city like it, France said", " city", 2.0),
]
VERBS = [
    at("They were jumping in it", "ing"),
    at("Nobody saw us walking home", "ing"),
    at("Mind the falling ice", "ing"),
]
FILLER = [
    [at(f"{word} {verb} the wall", word) for verb in ("hits", "sees", "eats")]
    for word in ("One", "Two", "Six")
]


def test_words_and_what_stands_around_them() -> None:
    label = label_concepts([CAPITALS, *FILLER], [()] * 4)[0]

    assert label == "“capital”, “city” near “France”"


def test_a_token_of_many_words_is_shown_as_a_piece() -> None:
    assert label_concepts([VERBS], [()])[0] == "“…ing” as in “were jumping in”"


def test_a_concept_that_never_fires_is_marked_and_labelled_by_what_it_promotes() -> None:
    labels = label_concepts([[], []], [("Paris", "Rome", "Oslo", "Bern"), ()])

    assert labels == ["never fires; promotes “Paris”, “Rome”, “Oslo”", "never fires"]


def test_words_that_stand_around_every_concept_tell_nothing() -> None:
    firings = [[at(f"{word} and the usual {n} words", word) for n in "abc"] for word in ("left", "right")]

    assert label_concepts(firings, [(), ()]) == [
        "“left” as in “left and”",
        "“right” as in “right and”",
    ]


def test_tokens_are_distinct_and_by_the_activation_they_carry() -> None:
    assert strongest_tokens([*CAPITALS, at("The Capital", "Capital", 0.5)]) == ("capital", "city")
    assert strongest_tokens([]) == ()


def test_one_context_per_text_strongest_first() -> None:
    text = "no no yes"

    contexts = strongest_contexts([at(text, "yes"), at(text, "no"), CAPITALS[0]])

    assert contexts == ("no no ⟦yes⟧", "Paris is the ⟦capital⟧ of France today")


@given(st.lists(st.tuples(st.text(min_size=1), st.floats(0.1, 9.0)), max_size=5))
def test_no_text_makes_an_empty_or_endless_label(places: list[tuple[str, float]]) -> None:
    firings = [Occurrence(text, 0, 1, activation) for text, activation in places]

    label = label_concepts([firings], [()])[0]

    assert 0 < len(label) <= 150
    assert label.isprintable()
