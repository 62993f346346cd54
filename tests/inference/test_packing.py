"""Trees of texts in one row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.packing import Continued, group_by_beginning, pack

ids = st.lists(st.integers(0, 2), min_size=1, max_size=6)


def continued(context: list[int], continuation: list[int]) -> Continued:
    return Continued(np.array(context), np.array(continuation))


def test_a_row_by_hand() -> None:
    """Prompt 7 8; choices `10 11 12`, `20` and `10 13 14`: 7 8 | 10, then 11 and 13 after it."""
    row = pack([continued([7, 8], [10, 11, 12]), continued([7, 8], [20]), continued([7, 8], [10, 13, 14])])

    assert row.input_ids.tolist() == [7, 8, 10, 11, 13]
    assert row.position_ids.tolist() == [0, 1, 2, 3, 3]
    assert row.ends.tolist() == [5, 5, 5, 4, 5]  # 11 is seen by itself alone, 10 by 11 and 13
    assert row.predictors.tolist() == [1, 2, 3, 1, 1, 2, 4]  # 10 is predicted at 8, 11 at 10, 12 at 11; …
    assert row.scored_ids.tolist() == [10, 11, 12, 20, 10, 13, 14]
    assert row.n_tokens == (3, 1, 3)
    assert not row.is_chain


def test_choices_of_one_token_add_nothing() -> None:
    row = pack([continued([7, 8, 9], [letter]) for letter in (20, 21, 22, 23)])

    assert row.input_ids.tolist() == [7, 8, 9]
    assert row.predictors.tolist() == [2, 2, 2, 2]
    assert row.is_chain


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=6))
def test_every_text_sees_exactly_itself(texts: list[tuple[list[int], list[int]]]) -> None:
    """What a scored token's predictor sees, in order, is the text up to that token."""
    row = pack([continued(*text) for text in texts])
    place = 0
    for context, continuation in texts:
        for done in range(len(continuation)):
            predictor = row.predictors[place]
            seen = [i for i in range(predictor + 1) if predictor < row.ends[i]]
            assert row.input_ids[seen].tolist() == context + continuation[:done]
            assert row.position_ids[seen].tolist() == list(range(len(seen)))
            assert row.scored_ids[place] == continuation[done]
            place += 1
    assert place == len(row.predictors) == sum(row.n_tokens)
    prefixes = {tuple((c + d[:-1])[:n]) for c, d in texts for n in range(1, len(c + d))}
    assert len(row.input_ids) == len(prefixes)  # nothing is read twice


@given(st.lists(st.lists(st.tuples(ids, ids), min_size=1, max_size=3), max_size=8), st.integers(1, 40))
def test_every_example_is_in_one_group_and_groups_are_bounded(
    examples: list[list[tuple[list[int], list[int]]]], max_tokens: int
) -> None:
    texts = [[continued(*text) for text in each] for each in examples]
    groups = group_by_beginning(texts, max_tokens)

    assert sorted(index for group in groups for index in group) == list(range(len(texts)))
    for group in groups:
        row = pack([text for index in group for text in texts[index]])
        assert len(group) == 1 or len(row.input_ids) <= max_tokens


def test_twins_meet_and_strangers_do_not() -> None:
    twins = [[continued([1] * 20 + [last], [5, 6])] for last in (2, 3)]
    stranger = [continued([9] * 20, [5, 6])]

    assert sorted(map(sorted, group_by_beginning([twins[0], stranger, twins[1]], 100))) == [[0, 2], [1]]
    assert len(group_by_beginning([twins[0], stranger, twins[1]], 10)) == 3
