import pytest

from cg_pipeline.health.quarantine import count_quarantined, count_reasons, set_aside
from tests.gaps.small_study import concept, health_of

CONCEPTS = [concept(0), concept(1, status="dead"), concept(2, status="dense"), concept(3)]


def test_the_verdict_decides_who_counts_not_the_dictionary() -> None:
    verdicts = [
        health_of(CONCEPTS[0], verdict="quarantined", reasons=("duplicate",)),
        health_of(CONCEPTS[1]),
        health_of(CONCEPTS[2], verdict="fine", reasons=()),
        health_of(CONCEPTS[3]),
    ]
    found = set_aside(CONCEPTS, verdicts)
    assert [each.status for each in found] == ["quarantined", "quarantined", "alive", "alive"]
    assert [each.concept_id for each in found] == [0, 1, 2, 3]


def test_each_reason_is_counted_and_each_concept_once() -> None:
    verdicts = [health_of(each) for each in CONCEPTS]
    verdicts[3] = health_of(CONCEPTS[3], verdict="quarantined", reasons=("dense", "duplicate"))
    assert count_quarantined(verdicts) == 3
    assert list(count_reasons(verdicts).items()) == [("dead", 1), ("dense", 2), ("duplicate", 1)]


@pytest.mark.parametrize("chosen", [[0, 1, 2], [0, 1, 2, 3, 3], [0, 1, 2, 2]])
def test_a_concept_without_exactly_one_verdict_is_refused(chosen: list[int]) -> None:
    with pytest.raises(ValueError, match=r"expected one verdict for each\. Materialise concept_health again"):
        set_aside(CONCEPTS, [health_of(CONCEPTS[k]) for k in chosen])
