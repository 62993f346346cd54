"""Excerpts cover every token once and never span two texts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.labels.windows import WINDOW_TOKENS, cut_windows, words_of
from tests.labels.cases import firings


@given(st.lists(st.integers(1, 100), min_size=1, max_size=8))
def test_they_cover_the_stream_and_stay_within_texts(lengths):
    text_of = np.repeat(np.arange(len(lengths)), lengths)
    windows = cut_windows(text_of)
    assert windows.first[0] == 0
    assert windows.last[-1] == len(text_of)
    assert (windows.first[1:] == windows.last[:-1]).all()
    for first, last, text in zip(windows.first, windows.last, windows.text_of, strict=True):
        assert set(text_of[first:last]) == {text}
        assert last - first < WINDOW_TOKENS + 8


def test_a_short_rest_belongs_to_the_one_before():
    assert cut_windows(np.zeros(39, np.int64)).first.tolist() == [0]
    assert cut_windows(np.zeros(40, np.int64)).first.tolist() == [0, 32]


def test_the_strongest_of_each():
    windows = cut_windows(np.repeat([0, 1], [3, 2]))
    assert windows.strongest(np.array([0.0, 2.0, 1.0, 0.0, 4.0])).tolist() == [2.0, 4.0]


def test_equal_words_have_equal_numbers_case_aside():
    texts = ["The cat", "the dog"]
    numbers = words_of(firings(texts, {0: {}}), texts)
    assert numbers.tolist() == [0, 1, 0, 2]
