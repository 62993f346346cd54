"""The check of answers that were read: each there once, and read where there is something to read."""

import numpy as np
import pytest

from cg_pipeline.completion_checks import same_answers
from cg_pipeline.records import Completion, ConceptActivations


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


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (read(a=2, b=0), "1 without a partner, 1 without a token, for example a#1 (3 looked at)"),
        (read(a=2, a_1=1, b=0, c=3), "1 without a partner, 0 without a token, for example c"),
        (read(a=2, a_1=0, b=0), "0 without a partner, 1 without a token, for example a#1"),
    ],
)
def test_one_that_is_missing_strange_or_unread_is_told(found, sentence):
    finding = same_answers(ANSWERS, found)
    assert not finding.passed
    assert sentence in finding.sentence


def test_no_answer_is_no_pass():
    assert not same_answers([], read()).passed
