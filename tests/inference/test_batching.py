"""Batches by length, results in order, and what happens when memory runs out."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.batching import enough_tokens, filled, map_in_batches, pad_left, pad_right


@given(st.lists(st.integers(0, 50)), st.integers(1, 200))
def test_results_keep_their_order_and_batches_their_bound(lengths: list[int], budget: int) -> None:
    seen: list[list[int]] = []

    def run(batch: list[int]) -> list[int]:
        seen.append(batch)
        return [index * 10 for index in batch]

    assert map_in_batches(run, lengths, budget) == [index * 10 for index in range(len(lengths))]
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget for batch in seen)
    assert sorted(i for batch in seen for i in batch) == list(range(len(lengths)))


@pytest.mark.parametrize("done_before", [0, 4])
def test_running_out_of_memory_halves_the_batch_and_keeps_what_is_done(done_before: int) -> None:
    """F8: from some point on, batches of more than two texts fail; nothing is run twice once it succeeded."""
    done: list[int] = []

    def run(batch: list[int]) -> list[int]:
        if len(batch) > 2 and len(done) >= done_before:
            raise torch.OutOfMemoryError("CUDA out of memory")
        done.extend(batch)
        return batch

    assert map_in_batches(run, [10] * 11, 40) == list(range(11))
    assert sorted(done) == list(range(11))


def test_a_text_too_large_for_the_device_says_so() -> None:
    def run(_batch: list[int]) -> list[int]:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(MemoryError, match="A text of 12 tokens does not fit on the device by itself"):
        map_in_batches(run, [12, 5], 40)


def test_padding_goes_where_it_is_asked() -> None:
    rows = [np.array([1, 2, 3]), np.array([4])]

    assert pad_right(rows, 0).tolist() == [[1, 2, 3], [4, 0, 0]]
    assert pad_left(rows, 0).tolist() == [[1, 2, 3], [0, 0, 4]]
    assert filled([3, 1]).tolist() == [[True, True, True], [True, False, False]]
    assert filled([3, 1], left=True).tolist() == [[True, True, True], [False, False, True]]


def test_a_busy_device_takes_no_more_padding() -> None:
    """Two of 100 are enough; 95 is still padded by less than a tenth, 50 by half."""
    seen: list[list[int]] = []

    def run(batch: list[int]) -> list[int]:
        seen.append(batch)
        return batch

    map_in_batches(run, [100, 95, 100, 50, 40], 10_000, 200)
    assert seen == [[0, 2, 1], [3, 4]]
    seen.clear()
    map_in_batches(run, [100, 95, 100, 50, 40], 10_000)
    assert seen == [[0, 2, 1, 3, 4]]
    assert enough_tokens(torch.device("cpu")) is not None
    assert enough_tokens(torch.device("cuda")) is None
