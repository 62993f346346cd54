"""Excerpts about a concept: texts shown are never tested with, and near misses are near misses."""

import itertools

import numpy as np
import pytest

from cg_pipeline.labels.evidence import N_HELD_OUT, N_SAMPLED, N_SILENT, N_TOP, collect_contexts
from tests.labels.cases import firings

FILLER = "one two three four five six seven eight nine ten"


def text(*words: str) -> str:
    return f"{FILLER} {' '.join(words)} {FILLER}"


# Concept 0 fires on cats, its kin 1 on dogs.
FIRES_ON = {0: {"cat": 2.0, "cats": 1.0}, 1: {"dog": 3.0}}
TEXTS = [
    *(text("a", "cat", f"number{i}") for i in range(20)),
    *(text("some", "cats", f"number{i}") for i in range(10)),
    *(text("a", "dog", f"number{i}") for i in range(3)),
    *(text("nothing", f"number{i}") for i in range(30)),
]


def contexts(texts=TEXTS, fires_on=FIRES_ON, kindred=None):
    found = collect_contexts("tiny", texts, firings(texts, fires_on), kindred or {0: (1,)})
    return {role: [c for c in found if c.role == role] for role in ("shown", "held_out", "kindred", "random")}


def test_there_is_enough_of_every_role():
    found = contexts()
    assert len(found["shown"]) == 15  # half of the thirty texts in which it fires
    assert len(found["held_out"]) == N_HELD_OUT
    assert len(found["kindred"]) == 1  # the best excerpt of each kindred concept
    assert len(found["random"]) == N_SILENT - 1
    assert N_TOP + N_SAMPLED >= 15


def test_no_text_is_both_shown_and_tested_with():
    found = contexts()
    shown, held_out = ({c.text for c in found[role]} for role in ("shown", "held_out"))
    assert not shown & held_out


def test_both_halves_span_the_range_of_activations():
    found = contexts()
    for role in ("shown", "held_out"):
        strongest = [max(c.activations) for c in found[role]]
        assert {1.0, 2.0} <= set(strongest)
        assert strongest == sorted(strongest, reverse=True)


def test_where_it_fires_is_marked_and_where_it_is_silent_what_tempts():
    found = contexts()
    for role, words in {"shown": {"cat", "cats"}, "held_out": {"cat", "cats"}, "kindred": {"dog"}}.items():
        for each in found[role]:
            marked = {each.text[each.starts[i] : each.ends[i]].strip() for i in each.marked}
            assert marked
            assert marked <= words
    for each in itertools.chain(found["kindred"], found["random"]):
        assert set(each.activations) == {0.0}
    assert all("cat" not in each.text for each in found["random"])


def test_the_same_words_where_it_is_silent_are_near_misses():
    """It fires on `bank` beside a river only."""
    rivers = [text("river", f"bank{i}") for i in range(8)]
    money = [text("money", f"bank{i}") for i in range(8)]
    texts = [each.replace(f"bank{i % 8}", "bank") for i, each in enumerate((*rivers, *money))]
    read = firings(texts, {0: {"bank": 1.0}})
    dense = read.activations.toarray()
    dense[read.text_of >= len(rivers)] = 0.0
    silent = type(read)(
        text_of=read.text_of,
        starts=read.starts,
        ends=read.ends,
        concept_ids=(0,),
        activations=type(read.activations)(dense),
    )
    near = [c for c in collect_contexts("tiny", texts, silent, {0: ()}) if c.role == "same_words"]
    assert len(near) == 4
    for each in near:
        assert "money" in each.text
        assert [each.text[each.starts[i] : each.ends[i]] for i in each.marked] == [" bank"]


def test_marks_leave_out_what_fires_faintly():
    texts = [text("cat", "kitten", f"number{i}") for i in range(4)]
    (first, *_) = contexts(texts, {0: {"cat": 1.0, "kitten": 0.1}}, {0: ()})["shown"]
    assert [first.text[first.starts[i] : first.ends[i]] for i in first.marked] == [" cat"]


def test_a_concept_that_fires_in_one_text_is_shown_and_not_tested():
    found = contexts([text("cat"), *[text("nothing")] * 5], {0: {"cat": 1.0}}, {0: ()})
    assert len(found["shown"]) == 1
    assert found["held_out"] == []


@pytest.mark.parametrize("texts", [[text("nothing")], [""]])
def test_a_concept_that_never_fires_has_no_excerpts(texts):
    assert collect_contexts("tiny", texts, firings(texts, {0: {"cat": 1.0}}), {0: ()}) == []


def test_a_stream_without_tokens():
    nothing = firings(["x"], {0: {}})
    empty = type(nothing)(
        text_of=np.zeros(0, np.int64),
        starts=np.zeros(0, np.int64),
        ends=np.zeros(0, np.int64),
        concept_ids=(0,),
        activations=nothing.activations[:0],
    )
    assert collect_contexts("tiny", [], empty, {0: ()}) == []


def test_the_same_stream_gives_the_same_excerpts():
    assert contexts() == contexts()
