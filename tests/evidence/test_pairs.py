import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.evidence.pairs import join_pairs, missing_pairs, places_of
from tests.evidence.cases import pairs, plain

TEXTS = {"x": [{3: 1.0, 5: 2.0}, {}, {3: 4.0}], "y": [{5: 6.0}, {3: 7.0}]}


def test_wanted_pairs_have_their_tokens_in_order_and_others_are_left_out():
    found = pairs(TEXTS, {"x": [3], "y": [3, 5, 8]})
    assert plain(found) == {
        ("x", 3): [(0, 2, 1.0), (4, 6, 4.0)],
        ("y", 3): [(2, 4, 7.0)],
        ("y", 5): [(0, 2, 6.0)],
        ("y", 8): [],
    }
    assert found.n_tokens.tolist() == [3, 2]


@given(
    st.lists(
        st.lists(
            st.dictionaries(st.integers(0, 4), st.sampled_from([0.5, 1.0, 3.0]), max_size=3), max_size=4
        ),
        min_size=1,
        max_size=3,
    ),
    st.data(),
)
def test_every_wanted_pair_is_there_with_what_fires(texts: list[list[dict[int, float]]], data):
    by_name = {f"x{number}": text for number, text in enumerate(texts)}
    wanted = {name: sorted(data.draw(st.sets(st.integers(0, 5)))) for name in by_name}
    expected = {
        (name, concept): [
            (2 * i, 2 * i + 2, token[concept]) for i, token in enumerate(text) if concept in token
        ]
        for name, text in by_name.items()
        for concept in wanted[name]
    }
    assert plain(pairs(by_name, wanted)) == expected


def test_parts_are_joined_by_example():
    one = pairs({"x": TEXTS["x"]}, {"x": [3]})
    two = pairs(TEXTS, {"x": [5], "y": [5]})
    joined = join_pairs([one, two])
    assert joined.example_ids == ("x", "y")
    assert joined.n_tokens.tolist() == [3, 2]
    assert plain(joined) == {**plain(one), **plain(two)}


def test_nothing_joined_is_nothing():
    assert plain(join_pairs([])) == {}
    assert missing_pairs({"x": [1]}, join_pairs([])) == {"x": [1]}


def test_only_what_is_not_known_is_missing():
    known = pairs(TEXTS, {"x": [3], "y": [3, 5]})
    assert missing_pairs({"x": [3, 5], "y": [3], "z": [0]}, known) == {"x": [5], "z": [0]}


def test_pairs_are_found_in_any_order():
    known = pairs(TEXTS, {"x": [3, 5], "y": [3, 5]})
    places = places_of(known, np.array([1, 0, 1]), np.array([5, 3, 3]))
    assert [(int(known.examples[p]), int(known.concept_ids[p])) for p in places] == [(1, 5), (0, 3), (1, 3)]


@pytest.mark.parametrize("concept", [4, 99])
def test_a_pair_that_was_not_read_is_told(concept: int):
    known = pairs(TEXTS, {"x": [3], "y": [5]})
    with pytest.raises(
        LookupError, match=rf"concept {concept} in example 'y' were not read; expected those of"
    ):
        places_of(known, np.array([0, 1]), np.array([3, concept]))
