"""Records refuse what makes no sense, and an example's identity is its content."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from cg_pipeline.records import ConceptActivations, Example, Score, content_id, outcome_of
from tests.strategies import TEXT, WORDS, matrices

ROOT = Path(__file__).parents[1]


def example(**changes: Any) -> Example:
    fields = {"benchmark": "b", "category": "c", "cluster": "", "prompt": "2 + 2?", "targets": ("4",)}
    return Example(**{**fields, **changes})


def score(**changes: Any) -> Score:
    return Score(
        **{"model": "m", "benchmark": "b", "example_id": "x", "outcome": "right", "value": 1.0, **changes}
    )


@given(prompt=WORDS, category=WORDS, cluster=TEXT, benchmark=WORDS)
def test_identity_is_what_is_asked_and_what_is_right(prompt, category, cluster, benchmark):
    """Faults F2 and F13: an id that follows the place in a file serves one item's answer for another."""
    plain = example(prompt=prompt)
    other = example(prompt=prompt, category=category, cluster=cluster, benchmark=benchmark)
    assert plain.example_id == other.example_id
    assert plain.example_id != example(prompt=prompt, targets=("5",)).example_id
    assert plain.example_id != example(prompt=prompt + "!").example_id
    assert len(plain.example_id) == 16


def test_the_order_of_choices_is_part_of_the_identity():
    one = example(choices=("3", "4"))
    assert one.example_id != example(choices=("4", "3")).example_id
    assert one.example_id != example().example_id


def test_identity_does_not_join_its_parts_blindly():
    assert content_id("ab", "c") != content_id("a", "bc")
    assert content_id(("a",), ()) != content_id((), ("a",))
    assert content_id("1") != content_id(1)


def test_identity_is_the_same_in_another_process():
    code = (
        "from cg_pipeline.records import content_id; print(content_id('é', ('a', 1.5), {'b': None, 'a': 1}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert found == content_id("é", ("a", 1.5), {"a": 1, "b": None}) + "\n"


def test_identity_refuses_what_has_no_lasting_content():
    with pytest.raises(TypeError, match="not JSON serializable"):
        content_id(object())


def test_an_example_alone_is_its_own_cluster():
    assert example().cluster == example().example_id
    assert example(cluster="twins").cluster == "twins"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"prompt": " \n"}, "prompt is ' \\n'; expected text. Write the question."),
        ({"prompt": "\u200b\u2060"}, "prompt is '\\u200b\\u2060'; expected text. Write the question."),
        ({"category": " "}, "category is ' '; expected a name. Write what it is about."),
        (
            {"choices": ("3", "4"), "targets": ()},
            "targets is empty; expected the right one of the choices. Add it.",
        ),
        (
            {"targets": (" ",)},
            "choices () or targets (' ',) hold a blank text; expected words. Write them.",
        ),
        (
            {"choices": ("4", ""), "targets": ("4",)},
            "choices ('4', '') or targets ('4',) hold a blank text; expected words. Write them.",
        ),
        ({"choices": ("4",)}, "choices are ('4',); expected two different ones or more. Add one."),
        ({"choices": ("4", "4")}, "choices are ('4', '4'); expected two different ones or more. Add one."),
        (
            {"choices": ("1", "2")},
            "targets are ('4',); expected exactly one of the choices ('1', '2'). Correct one of them.",
        ),
        (
            {"choices": ("1", "2"), "targets": ("1", "2")},
            "targets are ('1', '2'); expected exactly one of the choices ('1', '2'). Correct one of them.",
        ),
    ],
)
def test_an_example_that_makes_no_sense(changes, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        example(**changes)
    assert str(error.value) == sentence


def test_records_are_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        example().prompt = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [(None, "unscored"), (0.0, "wrong"), (1.0, "right"), (0.5, "partial"), (1e-9, "partial")],
)
def test_outcome_follows_the_value(value, outcome):
    assert outcome_of(value) == outcome
    assert score(value=value, outcome=outcome, reason="unparsed" if value is None else "").value == value


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_score_outside_the_unit_interval(value):
    with pytest.raises(
        ValueError, match=r"score is .*; expected a number from 0 to 1, or None for unscored\."
    ):
        score(value=value, outcome="partial")


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "unscored", "value": None},  # no reason
        {"outcome": "unscored", "value": 0.0, "reason": "unparsed"},
        {"outcome": "wrong", "value": None, "reason": "unparsed"},
        {"outcome": "right", "value": 0.5},
        {"outcome": "partial", "value": 1.0},
        {"outcome": "right", "value": 1.0, "reason": "unparsed"},
    ],
)
def test_unscored_is_a_state_of_its_own(changes):
    """Fault F11: what could not be scored is neither wrong nor 0."""
    with pytest.raises(ValueError, match=r"does not fit value .* and a reason exactly when unscored\."):
        score(**changes)


def activations(dense: np.ndarray, first: int = 0) -> ConceptActivations:
    matrix = sparse.csr_array(dense)
    return ConceptActivations(
        example_ids=tuple(f"x{first + row}" for row in range(len(dense))),
        n_concepts=dense.shape[1],
        indptr=matrix.indptr.astype(np.int64),
        concept_ids=matrix.indices.astype(np.int32),
        saliency=matrix.data.astype(np.float32),
        n_tokens=np.full(len(dense), 3, dtype=np.int64),
    )


@given(matrices())
def test_joined_activations_are_the_stacked_matrix(parts):
    joined = ConceptActivations.concatenate(activations(part, first=10 * i) for i, part in enumerate(parts))
    stacked = np.vstack(parts)
    assert np.array_equal(joined.matrix().toarray(), stacked)
    assert joined.matrix().shape == stacked.shape
    assert joined.example_ids == tuple(
        f"x{10 * i + row}" for i, part in enumerate(parts) for row in range(len(part))
    )
    assert len(joined.n_tokens) == len(stacked)


def test_a_matrix_is_a_float64_copy():
    kept = activations(np.array([[0.0, 1.5]]))
    matrix = kept.matrix()
    matrix.data[:] = 7
    assert matrix.dtype == np.float64
    assert kept.saliency.tolist() == [1.5]


def test_two_dictionaries_cannot_be_joined():
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        ConceptActivations.concatenate([activations(np.ones((1, 2))), activations(np.ones((1, 3)))])
    assert str(error.value) == (
        "Activations of widths [2, 3] cannot be joined; expected one dictionary. Read them all with one SAE."
    )


def test_nothing_cannot_be_joined():
    with pytest.raises(ValueError, match=r"widths \[\] cannot be joined"):
        ConceptActivations.concatenate([])
