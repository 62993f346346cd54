"""Nothing is lost, nothing comes twice, no memory is taken beyond the buffer's, and neighbours part."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.mixing_buffer import MixingBuffer


def numbered(start: int, n: int, d_model: int = 4) -> torch.Tensor:
    """States that hold their own number."""
    return torch.arange(start, start + n).float()[:, None].expand(n, d_model).half()


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@given(
    capacity=st.integers(8, 60), batch=st.integers(1, 8), keep=st.integers(0, 30), n_rounds=st.integers(1, 6)
)
def test_every_state_comes_out_once(capacity: int, batch: int, keep: int, n_rounds: int) -> None:
    buffer, generator = MixingBuffer(capacity, 2, torch.float16), seeded()
    n_put, drawn = 0, list[float]()
    for _ in range(n_rounds):
        n_free = buffer.capacity - buffer.n_held
        buffer.put(numbered(n_put, n_free, 2))
        n_put += n_free
        drawn += [float(row[0]) for each in buffer.draw(batch, keep, generator) for row in each]
        assert keep <= buffer.n_held < keep + batch or buffer.n_held <= keep or keep >= capacity
    left = [float(row[0]) for row in buffer.held()]
    assert sorted(drawn + left) == [float(n) for n in range(n_put)]


def test_it_takes_no_memory_beyond_its_own() -> None:
    buffer, generator = MixingBuffer(1000, 64, torch.float16), seeded()
    place = buffer._states.data_ptr()  # pyright: ignore[reportPrivateUsage]
    for round_ in range(5):
        buffer.put(numbered(round_, 1000 - buffer.n_held, 64))
        list(buffer.draw(100, 500, generator))
    assert buffer.n_bytes == 1000 * 64 * 2
    assert buffer._states.data_ptr() == place  # pyright: ignore[reportPrivateUsage]


def test_more_than_there_is_room_for_is_refused() -> None:
    buffer = MixingBuffer(10, 4, torch.float16)
    buffer.put(numbered(0, 8))
    with pytest.raises(ValueError, match=r"has 2 free places for 3 states; expected as many\. Draw batches"):
        buffer.put(numbered(8, 3))


def test_states_that_are_no_numbers_are_refused() -> None:
    buffer = MixingBuffer(10, 1, torch.float16)
    with pytest.raises(ValueError, match=r"not a finite float16 number; expected numbers only\. Read in bf"):
        buffer.put(torch.full((1, 1), 1e6).half())
    assert buffer.n_held == 0


def test_old_and_new_are_mixed() -> None:
    """Of two buffers full, a batch after the second holds some of the first; in order they come nowhere."""
    buffer, generator = MixingBuffer(200, 1, torch.float32), seeded()
    buffer.put(torch.arange(200.0)[:, None])
    first = torch.cat(list(buffer.draw(20, 100, generator)))[:, 0]
    buffer.put(torch.arange(200.0, 300.0)[:, None])
    second = next(buffer.draw(50, 100, generator))[:, 0]
    assert (first.diff() == 1).float().mean() < 0.1
    assert 10 < (second < 200).sum() < 40


def test_one_that_takes_over_draws_the_same() -> None:
    buffer, generator = MixingBuffer(50, 4, torch.float16), seeded()
    buffer.put(numbered(0, 50))
    list(buffer.draw(8, 20, generator))
    state, snapshot = generator.get_state(), buffer.snapshot()
    other, other_generator = MixingBuffer(50, 4, torch.float16), seeded(5)
    other.restore(snapshot)
    other_generator.set_state(state)
    for each in (buffer, other):
        each.put(numbered(50, 50 - each.n_held))
    ours, theirs = (
        torch.cat(list(b.draw(8, 0, g))) for b, g in ((buffer, generator), (other, other_generator))
    )
    assert torch.equal(ours, theirs)


def test_some_are_seen_without_being_drawn() -> None:
    buffer = MixingBuffer(50, 4, torch.float16)
    buffer.put(numbered(0, 50))
    assert buffer.held(10)[:, 0].tolist() == [0, 5, 10, 15, 20, 25, 30, 35, 40, 45]
    assert buffer.n_held == 50
