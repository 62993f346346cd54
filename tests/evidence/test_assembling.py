import numpy as np
import pytest

from cg_pipeline.evidence.assembling import assemble_evidence, wanted_of
from cg_pipeline.evidence.pairs import join_pairs
from cg_pipeline.evidence.strongest import find_strongest
from cg_pipeline.evidence_records import EvidenceRow
from tests.evidence.cases import pairs, small_evidence
from tests.gaps.small_study import activations_of

TEXTS = {
    "c": [{0: 2.0}, {0: 2.0}],
    "a": [{0: 8.0, 1: 2.0}, {}],
    "b": [{1: 4.0}, {1: 4.0}],
}
READ = activations_of(np.array([[2, 0], [4, 1], [0, 4]], np.float32), ("c", "a", "b"))
SCORES = np.array([1.0, 1.0, 0.0])


def test_the_strongest_are_kept_with_where_they_fire():
    strongest = find_strongest(READ, SCORES, 1)
    wanted = wanted_of(strongest, READ)
    assert wanted == {"a": [0, 1], "b": [1]}
    more = {"c": [0], **wanted}  # what else was read does no harm
    found = assemble_evidence(strongest, READ, SCORES, pairs(TEXTS, more))
    assert found.example_ids == ("a", "b")
    row = {"starts": (0,), "ends": (2,), "n_tokens": 2}
    assert list(found.rows()) == [
        EvidenceRow(
            concept_id=0,
            example_id="a",
            side="right",
            rank=1,
            score=1.0,
            saliency=4.0,
            activations=(8.0,),
            **row,
        ),
        EvidenceRow(
            concept_id=1,
            example_id="a",
            side="right",
            rank=1,
            score=1.0,
            saliency=1.0,
            activations=(2.0,),
            **row,
        ),
        EvidenceRow(
            concept_id=1,
            example_id="b",
            side="wrong",
            rank=1,
            score=0.0,
            saliency=4.0,
            n_tokens=2,
            starts=(0, 2),
            ends=(2, 4),
            activations=(4.0, 4.0),
        ),
    ]


def test_what_was_not_read_is_told():
    strongest = find_strongest(READ, SCORES, 1)
    with pytest.raises(LookupError, match=r"1 examples were never read token by token, the first 'b'"):
        assemble_evidence(strongest, READ, SCORES, pairs({"a": TEXTS["a"]}, {"a": [0, 1]}))
    with pytest.raises(LookupError, match="concept 1 in example 'b' were not read"):
        assemble_evidence(strongest, READ, SCORES, pairs(TEXTS, {"c": [], "a": [0, 1], "b": []}))


def test_of_nothing_there_is_nothing():
    silent = activations_of(np.zeros((2, 3), np.float32), ("a", "b"))
    strongest = find_strongest(silent, np.ones(2), 2)
    assert wanted_of(strongest, silent) == {}
    found = assemble_evidence(strongest, silent, np.ones(2), join_pairs([]))
    assert list(found.rows()) == []
    assert found.n_concepts == 3


def test_a_few_concepts_are_looked_up():
    evidence = small_evidence()
    [right, wrong] = evidence.of([0, 3]).rows()
    assert (right.example_id, right.side, right.activations) == ("a", "right", (3.0, 1.0))
    assert (wrong.example_id, wrong.side, wrong.activations) == ("b", "wrong", (6.0,))
    assert [row.score for row in evidence.of([7]).rows()] == [0.0, None]
    assert list(evidence.of([]).rows()) == []
