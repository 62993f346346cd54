"""How large batches may become on a device whose memory can be measured, and that they do."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.batching import map_in_batches
from cg_pipeline.inference.room import memory_of, tokens_that_fit

GIB = 2**30


class Gauge:
    """A device that takes so much for each padded token, and refuses more than it has."""

    def __init__(self, per_token: int, size: int) -> None:
        self.per_token, self.size, self.peak = per_token, size, 0
        self.n_watched = 0

    def take(self, n_tokens: int) -> None:
        if (wanted := n_tokens * self.per_token) > self.size:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.peak = max(self.peak, wanted)

    def watch(self) -> None:
        self.n_watched += 1
        self.peak = 0

    def taken(self) -> int:
        return self.peak

    def free(self) -> int:
        return self.size


def batches_of(lengths: list[int], gauge: Gauge, budget: int) -> list[int]:
    sizes: list[int] = []

    def run(batch: list[int]) -> list[int]:
        gauge.take(len(batch) * max(lengths[index] for index in batch))
        sizes.append(len(batch))
        return batch

    assert map_in_batches(run, lengths, budget, memory=gauge) == list(range(len(lengths)))
    return sizes


def test_batches_grow_to_what_the_longest_one_shows_to_fit() -> None:
    gauge = Gauge(per_token=1000, size=10_000_000)  # 10,000 tokens
    assert batches_of([100] * 200, gauge, 400) == [4, 40, 40, 40, 40, 36]  # 4,096 of 7,000 planned with
    assert gauge.n_watched == 1


def test_a_first_batch_that_does_not_fit_is_halved_and_nothing_grows_after_it() -> None:
    assert batches_of([100] * 20, Gauge(per_token=1000, size=900_000), 1600) == [8, 8, 4]


def test_a_device_with_little_room_keeps_to_the_bound() -> None:
    assert batches_of([100] * 12, Gauge(per_token=1000, size=450_000), 400) == [4, 4, 4]


@given(st.integers(1, 10**6), st.integers(0, 80 * GIB), st.integers(1, 80 * GIB))
def test_what_fits_is_a_power_of_two_within_bounds(n_tokens: int, taken: int, size: int) -> None:
    gauge = Gauge(per_token=1, size=size)
    gauge.peak = taken
    found = tokens_that_fit(gauge, n_tokens)
    assert found.bit_count() == 1
    assert found == 1 or found * max(1, taken) / n_tokens <= size
    assert found <= 2**17


@pytest.mark.parametrize("device", ["cpu", "mps", "meta"])
def test_only_memory_that_can_be_measured_is_grown_into(device: str) -> None:
    assert memory_of(torch.device(device)) is None


def test_a_gpu_is_measured() -> None:
    assert memory_of(torch.device("cuda")) is not None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_torch_counts_what_is_taken() -> None:
    memory = memory_of(torch.device("cuda"))
    assert memory is not None
    memory.watch()
    block = torch.empty(64 * 2**20, dtype=torch.uint8, device="cuda")
    assert memory.taken() >= block.numel()
    assert memory.free() > 0
