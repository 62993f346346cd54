"""Excerpts as questions: marks stand around the right words, and tests hold both answers."""

from collections import Counter

import pytest

from cg_pipeline.label_records import ConceptContext
from cg_pipeline.labels.trials import detection_trials, fuzzing_trials, marked_text
from tests.labels.cases import context

GROUP = [
    context("the cat sat", "cat"),
    context("a cat ran far", "cat", role="held_out"),
    context("my cat slept here", "cat", role="held_out"),
    context("the dog sat", role="kindred", marked=("dog",)),
    context("a cat flap", role="same_words", marked=("cat",)),
    context("rain fell", role="random"),
]


def test_marks_leave_the_space_before_a_word_outside():
    assert marked_text(context("the cat sat", "cat")) == "the ⟦cat⟧ sat"


def test_neighbouring_marks_are_one():
    assert marked_text(context("the black cat sat", "black", "cat")) == "the ⟦black cat⟧ sat"


def test_an_excerpt_cannot_mark_by_itself_and_stays_on_its_line():
    assert marked_text(context("⟦fake⟧\ncat now", "now")) == "[fake]⏎cat ⟦now⟧"


def test_a_character_in_two_tokens_is_marked_once():
    halves = ConceptContext(
        sae="tiny",
        concept_id=0,
        role="shown",
        text="é!",
        starts=(0, 0, 1),
        ends=(1, 1, 2),
        activations=(1.0, 1.0, 0.0),
        marked=(0, 1),
    )
    assert marked_text(halves) == "⟦é⟧!"
    assert marked_text(halves, (0,)) == "⟦é⟧!"


def test_marks_on_nothing_but_space_are_left_out():
    blank = ConceptContext(
        sae="tiny",
        concept_id=0,
        role="shown",
        text="a  b",
        starts=(0, 1, 3),
        ends=(1, 3, 4),
        activations=(0.0, 1.0, 0.0),
        marked=(1,),
    )
    assert marked_text(blank) == "a  b"


def test_detection_asks_about_all_that_was_not_shown_unmarked():
    trials = detection_trials(GROUP)
    assert Counter((trial.fits, trial.near_miss) for trial in trials) == {
        (True, False): 2,
        (False, True): 2,
        (False, False): 1,
    }
    assert not any("⟦" in trial.text for trial in trials)


def test_fuzzing_asks_about_right_marks_wrong_ones_and_near_misses():
    trials = fuzzing_trials(GROUP)
    right = {trial.text for trial in trials if trial.fits}
    assert right == {"a ⟦cat⟧ ran far", "my ⟦cat⟧ slept here"}
    near = {trial.text for trial in trials if trial.near_miss}
    assert near == {"the ⟦dog⟧ sat", "a ⟦cat⟧ flap"}
    wrong = [trial.text for trial in trials if not trial.fits and not trial.near_miss]
    assert len(wrong) == 2
    assert all("⟦" in text and "⟦cat" not in text for text in wrong)


def test_an_excerpt_that_fires_everywhere_has_no_wrong_marks():
    trials = fuzzing_trials([context("cat cat", "cat", role="held_out")])
    assert [trial.fits for trial in trials] == [True]


@pytest.mark.parametrize("ask", [detection_trials, fuzzing_trials])
def test_the_order_tells_nothing_and_is_the_same_again(ask):
    many = [context(f"cat {i} or", "cat", role="held_out") for i in range(8)] + [
        context(f"dog {i} or", role="kindred", marked=("dog",)) for i in range(8)
    ]
    answers = [trial.fits for trial in ask(many)]
    assert ask(many) == ask(many)
    assert answers not in (sorted(answers), sorted(answers, reverse=True))
