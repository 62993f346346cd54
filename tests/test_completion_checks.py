"""The check of answers that were read: each there once, and read where there is something to read."""

import numpy as np
import pandas as pd
import pytest

from cg_pipeline.completion_checks import answers_read, answers_sound, performance_sound, same_answers
from cg_pipeline.records import Completion, ConceptActivations, Score


def answer(example_id: str, text: str, sample: int = 0) -> Completion:
    return Completion(
        model="m",
        benchmark="b",
        example_id=example_id,
        sample=sample,
        text=text,
        stop="end",
        n_prompt_tokens=1,
        n_completion_tokens=1,
    )


def read(**n_tokens: int) -> ConceptActivations:
    names = tuple(name.replace("_", "#") for name in n_tokens)
    return ConceptActivations(
        example_ids=names,
        n_concepts=2,
        indptr=np.zeros(len(names) + 1, np.int64),
        concept_ids=np.zeros(0, np.int64),
        saliency=np.zeros(0, np.float32),
        n_tokens=np.array(list(n_tokens.values()), np.int64),
    )


ANSWERS = [answer("a", "words"), answer("a", "more", sample=1), answer("b", " \n")]


def test_every_answer_is_there():
    assert same_answers(ANSWERS, read(a=2, a_1=1, b=0)).passed
    assert answers_read(ANSWERS, read(a=2, a_1=1, b=0)).passed


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (read(a=2, b=0), "2 rows for 3 answers, 1 without a partner, for example a#1 (3 looked at)"),
        (read(a=2, a_1=1, b=0, c=3), "4 rows for 3 answers, 1 without a partner, for example c"),
    ],
)
def test_one_that_is_missing_or_strange_is_told(found, sentence):
    finding = same_answers(ANSWERS, found)
    assert not finding.passed
    assert sentence in finding.sentence


def test_one_that_was_too_long_to_read_is_told():
    finding = answers_read(ANSWERS, read(a=2, a_1=0, b=0))
    assert not finding.passed
    assert finding.sentence == "1 answers with words were not read, for example a#1 (2 looked at)"


def test_no_answer_is_no_pass():
    assert not same_answers([], read()).passed
    assert not answers_read([], read()).passed


def test_that_nobody_said_anything_is_no_fault():
    """Everything refused, failed or too long: unscored is a state like others."""
    assert answers_sound(read(a=0, b=0)).passed
    assert not answers_sound(read(a=2, b=0)).passed  # tokens, and nothing fires on them
    silent = pd.DataFrame({"performance": [np.nan, np.nan]})
    assert performance_sound(silent, [score(1.0)]).passed


def test_performance_outside_the_scores_is_told():
    found = pd.DataFrame({"performance": [0.9, np.nan]})
    assert performance_sound(found, [score(1.0), score(0.5)]).passed
    assert not performance_sound(found, [score(0.5)]).passed


def score(value: float) -> Score:
    outcome = "right" if value == 1 else "partial"
    return Score(model="m", benchmark="b", example_id="a", outcome=outcome, value=value, answer="x")
