"""Health of concepts by hand: what each fires on, and which are quarantined for what."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as numpy_arrays

from cg_pipeline.health.concepts import duplicates, measure_health, pool_saliency, positional
from cg_pipeline.health_records import PLACES
from cg_pipeline.health_specs import HealthRules
from tests.gaps.small_study import activations_of, concept
from tests.health.cases import arrays

RULES = HealthRules()
SALIENCY = np.array([[2.0, 0.0, 0.0, 1.0], [4.0, 0.0, 0.0, 0.0]])
"""Two examples, four concepts; the second and third never fire."""


def health(
    saliency: np.ndarray = SALIENCY, rules: HealthRules = RULES, scores=None, concepts=None, **counted
):
    n = saliency.shape[1]
    read = [activations_of(saliency, [f"e{k}" for k in range(len(saliency))])]
    dictionary = concepts or [concept(k, rate=0.01) for k in range(n)]
    return measure_health("m", dictionary, arrays(n, **counted), read, scores or {}, rules)


def firings(**by_place: list[int]) -> np.ndarray:
    """Counts by place, in the order of `PLACES`."""
    width = len(next(iter(by_place.values())))
    return np.array([by_place.get(place, [0] * width) for place in PLACES])


def test_numbers_of_a_concept_by_hand() -> None:
    counted = firings(content=[6, 0, 1, 1], first=[2, 0, 0, 0], template=[1, 0, 0, 0], bos=[1, 0, 0, 0])
    seen = counted * np.array([[1], [1], [0], [0]])
    found = health(firings=counted, counted_firings=seen)[0]
    assert (found.model, found.concept_id, found.verdict, found.reasons) == ("m", 0, "fine", ())
    assert (found.example_rate, found.mean_saliency, found.max_saliency) == (1.0, 3.0, 4.0)
    assert found.token_rate == pytest.approx(8 / 110)
    assert (found.n_firings, found.bos_share, found.template_share, found.first_share) == (10, 0.1, 0.1, 0.2)
    assert (found.nearest_concept_id, found.broad_rate, found.label_score) == (3, 0.01, None)
    assert found.cosine == pytest.approx(0.2)


def test_a_silent_concept_has_no_mean_and_no_shares() -> None:
    found = health(firings=firings(content=[1, 0, 1, 1]))[1]
    assert (found.example_rate, found.max_saliency, found.n_firings) == (0.0, 0.0, 0)
    assert all(
        map(math.isnan, (found.mean_saliency, found.bos_share, found.template_share, found.first_share))
    )


def test_saliency_is_pooled_over_benchmarks() -> None:
    pooled = pool_saliency(
        [activations_of(SALIENCY, ["a", "b"]), activations_of(SALIENCY * 3, ["c", "d"])], 4
    )
    assert pooled.n_examples == 4
    assert pooled.n_active.tolist() == [4, 0, 0, 2]
    assert pooled.mean[[0, 3]].tolist() == [6.0, 2.0]
    assert pooled.highest.tolist() == [12.0, 0.0, 0.0, 3.0]


def test_the_dictionarys_dead_and_dense_are_quarantined() -> None:
    dictionary = [
        concept(0, status="dead", rate=0.0),
        concept(1, status="dense", rate=0.3),
        concept(2),
        concept(3),
    ]
    found = health(concepts=dictionary)
    assert [each.reasons for each in found] == [("dead",), ("dense",), (), ()]
    assert [each.verdict for each in found] == ["quarantined", "quarantined", "fine", "fine"]


def test_what_fires_on_most_tokens_of_the_examples_is_dense() -> None:
    counted = firings(content=[56, 55, 10, 0])  # of 110 tokens that count
    assert [each.reasons for each in health(counted_firings=counted)] == [("dense",), (), (), ()]
    strict = HealthRules(max_token_rate=0.05)
    assert [bool(each.reasons) for each in health(counted_firings=counted, rules=strict)] == [True] * 3 + [
        False
    ]


def test_only_places_that_count_make_a_concept_positional() -> None:
    """F20: a template's tokens are the same in every prompt; they are no evidence while they do not count."""
    everywhere = firings(content=[5, 5, 1, 0], first=[0, 0, 10, 9], template=[95, 0, 0, 0], bos=[0, 95, 0, 0])
    content_only = everywhere * np.array([[1], [1], [0], [0]])
    found = health(firings=everywhere, counted_firings=content_only)
    assert [each.reasons for each in found] == [(), (), ("positional",), ()]
    assert (found[0].template_share, found[1].bos_share) == (0.95, 0.95)
    all_count = positional(everywhere, RULES)
    assert all_count.tolist() == [True, True, True, False]  # nine firings are too few to judge a share


def test_of_concepts_that_share_a_direction_the_one_that_fires_most_stays() -> None:
    nearest, cosine = np.array([1, 0, 3, 2]), np.array([0.97, 0.97, 0.9, 0.9], np.float32)
    dictionary = [concept(k, rate=rate) for k, rate in enumerate((0.01, 0.02, 0.01, 0.01))]
    found = health(concepts=dictionary, nearest=nearest, cosine=cosine)
    assert [each.reasons for each in found] == [("duplicate",), (), (), ()]
    assert health(concepts=dictionary, nearest=nearest, cosine=cosine, rules=HealthRules(max_cosine=0.8))[
        3
    ].reasons


def test_of_a_chain_only_who_is_close_to_one_that_stays_is_left_out() -> None:
    nearest = np.array([1, 2, 1, 0])  # 0 → 1 ↔ 2; 3 is near nobody
    cosine = np.array([0.96, 0.99, 0.99, 0.1], np.float32)
    rate = np.array([0.3, 0.2, 0.1, 0.1])
    assert duplicates(nearest, cosine, rate, 0.95, np.ones(4, bool)).tolist() == [False, True, False, False]


def test_nobody_is_a_duplicate_of_one_that_is_left_out_anyway() -> None:
    """Or both would be gone: the dense one, and the sound one as its duplicate."""
    dictionary = [concept(0, status="dense", rate=0.6), concept(1, rate=0.05), concept(2), concept(3)]
    nearest, cosine = np.array([1, 0, 3, 2]), np.array([0.99, 0.99, 0.1, 0.1], np.float32)
    found = health(concepts=dictionary, nearest=nearest, cosine=cosine)
    assert [each.reasons for each in found] == [("dense",), (), (), ()]


def test_opposite_directions_are_no_duplicates() -> None:
    cosine, both = np.array([-1.0, -1.0]), np.ones(2, bool)
    found = duplicates(np.array([1, 0]), cosine, np.array([0.1, 0.1]), 0.95, both)
    assert not found.any()


@given(
    numpy_arrays(np.float64, 8, elements=st.floats(0, 1)),
    numpy_arrays(np.float64, 8, elements=st.floats(0, 1)),
    numpy_arrays(np.bool_, 8),
)
def test_who_is_left_out_is_close_to_one_that_stays_and_fires_more(
    rate: np.ndarray, cosine: np.ndarray, among: np.ndarray
) -> None:
    nearest = np.array([1, 2, 0, 4, 3, 6, 7, 5])
    found = duplicates(nearest, cosine, rate, 0.5, among)
    pairs = [(k, int(nearest[k])) for k in range(8) if cosine[k] > 0.5 and among[k] and among[nearest[k]]]
    close = {*pairs, *((other, one) for one, other in pairs)}
    for k in range(8):
        more = [other for one, other in close if one == k and (rate[other], -other) > (rate[k], -k)]
        assert found[k] == any(not found[other] for other in more)


def test_a_bad_label_quarantines_only_where_a_study_asks_for_it() -> None:
    scores = {0: 0.4, 1: 0.9}
    plain = health(scores=scores)
    assert [each.label_score for each in plain] == [0.4, 0.9, None, None]
    assert not any(each.reasons for each in plain)
    strict = health(scores=scores, rules=HealthRules(min_label_score=0.5))
    assert [each.reasons for each in strict] == [("badly_labelled",), (), (), ()]


def test_two_reasons_are_both_told_in_order() -> None:
    dictionary = [concept(0, status="dense"), *(concept(k) for k in range(1, 4))]
    scores, rules = {0: 0.1}, HealthRules(min_label_score=0.5)
    assert health(concepts=dictionary, scores=scores, rules=rules)[0].reasons == ("dense", "badly_labelled")


@pytest.mark.parametrize(
    ("n_counted", "n_concepts", "sentence"),
    [
        (5, 4, "reader_fit have 5 concepts, the dictionary 4; expected one width"),
        (3, 3, "activations have 4 concepts, the dictionary 3; expected one width"),
    ],
)
def test_another_width_is_refused(n_counted: int, n_concepts: int, sentence: str) -> None:
    """F25: a dictionary of another width pairs every number with the wrong concept."""
    dictionary = [concept(k) for k in range(n_concepts)]
    with pytest.raises(ValueError, match=sentence):
        measure_health("m", dictionary, arrays(n_counted), [activations_of(SALIENCY, ["a", "b"])], {}, RULES)
