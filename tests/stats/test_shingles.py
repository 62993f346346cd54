"""Which texts share long runs of words: a slow, obvious way of counting them says the same."""

import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.stats.shingles import LENGTH, contained_pairs

PASSAGE = "the old harbour town lies between two hills and sends its fishing boats out before dawn every day"
QUESTION = "which of the two hills was bought by the widow of the last keeper of the lighthouse"


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {tuple(words[i : i + LENGTH]) for i in range(max(len(words) - LENGTH + 1, 1 if words else 0))}


def slowly(texts: list[str], groups: list[str], least: float) -> dict[tuple[int, int], float]:
    found = {}
    for i, one in enumerate(texts):
        for j in range(i + 1, len(texts)):
            smaller = min(len(runs(one)), len(runs(texts[j])))
            shared = len(runs(one) & runs(texts[j]))
            if groups[i] != groups[j] and shared and shared / smaller >= least:
                found[i, j] = shared / smaller
    return found


WORDS = st.lists(st.sampled_from(["red", "blue", "tin", "ice"]), max_size=14).map(" ".join)


@given(st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_pairs_are_those_that_counting_finds(first, second):
    """Each text begins and ends in a word of its own, so that nothing counts as its group's format."""
    texts = [f"begin{index} {text} end{index}" for index, text in enumerate([*first, *second])]
    groups = ["a"] * len(first) + ["b"] * len(second)
    found = contained_pairs(texts, groups, 0.3)
    assert {(i, j): overlap for i, j, overlap in found} == pytest.approx(slowly(texts, groups, 0.3))
    assert [overlap for *_, overlap in found] == sorted((overlap for *_, overlap in found), reverse=True)


def test_a_question_inside_a_passage_is_found():
    pairs = contained_pairs([QUESTION, f"{PASSAGE}. {QUESTION}?", "something else"], ["a", "b", "b"], 0.7)
    assert pairs == [(0, 1, 1.0)]


def test_part_of_a_question_counts_as_its_share():
    half = " ".join(QUESTION.split()[:12])
    [(_, _, overlap)] = contained_pairs([QUESTION, f"{half} {PASSAGE}"], ["a", "b"], 0.3)
    assert overlap == pytest.approx(5 / (len(QUESTION.split()) - 7))


def test_one_benchmark_may_repeat_itself():
    assert contained_pairs([QUESTION, QUESTION, PASSAGE], ["a", "a", "b"], 0.7) == []


def test_letter_case_marks_and_spaces_do_not_matter():
    shouted = QUESTION.upper().replace(" ", ",\n")
    assert contained_pairs([QUESTION, shouted], ["a", "b"], 1.0) == [(0, 1, 1.0)]


def test_short_questions_must_be_equal():
    texts = ["What is tin?", "what is tin", "what is tin made of", "what is"]
    assert contained_pairs(texts, ["a", "b", "c", "d"], 0.1) == [(0, 1, 1.0)]


def test_the_format_of_a_benchmark_does_not_count():
    asked = ["Question: what is tin?\nAnswer:", "Question: who sells ice?\nAnswer:"]
    bare = ["what is tin", "where is ice sold"]
    assert contained_pairs([*asked, *bare], ["a", "a", "b", "b"], 0.7) == [(0, 2, 1.0)]


def test_what_very_many_texts_say_is_nobodys():
    boilerplate = "read the following passage carefully and then answer the question below it"
    texts = [f"{index} {boilerplate} {index}" for index in range(80)]
    assert contained_pairs(texts, [f"{index % 2}" for index in range(80)], 0.1) == []


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["?!", "…"], ["a", ""]])
def test_nothing_to_compare(texts):
    assert contained_pairs(texts, [str(index) for index in range(len(texts))], 0.5) == []


def test_10_000_examples_take_seconds():
    rng = np.random.default_rng(0)
    words = np.array([f"w{index}" for index in range(5000)])[rng.integers(0, 5000, (10_000, 40))]
    texts = [" ".join(row) for row in words]
    texts[8_000] = texts[7]
    started = time.process_time()
    assert contained_pairs(texts, ["a"] * 5_000 + ["b"] * 5_000, 0.7) == [(7, 8_000, 1.0)]
    assert time.process_time() - started < 10
