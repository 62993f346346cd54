import math

import pytest
import torch

from cg_pipeline.health_records import PLACES
from cg_pipeline.inference.fit_sums import FitSums, VarianceSums


def test_variance_explained_by_hand() -> None:
    sums = VarianceSums()
    sums.add(torch.tensor([[0.0, 0.0], [2.0, 0.0]]), torch.tensor([[0.0, 0.0], [2.0, 1.0]]))
    sums.add(torch.tensor([[4.0, 3.0]]), torch.tensor([[4.0, 3.0]]))
    # mean (2, 1); squares 4+1, 0+1, 4+4 = 14; errors 0, 1, 0
    assert sums.explained == pytest.approx(1 - 1 / 14)
    assert sums.mean.tolist() == [2.0, 1.0]
    assert sums.n_tokens == 3


def test_a_large_common_part_costs_no_digits() -> None:
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(200, 8, generator=generator)
    rebuilt = states + 0.1 * torch.randn(200, 8, generator=generator)
    near, far = VarianceSums(), VarianceSums()
    near.add(states, rebuilt)
    moved = (states.double() + 2**20).float()
    far.add(moved, moved + (rebuilt - states))
    assert far.explained == pytest.approx(near.explained, abs=0.02)


def test_parts_add_up_to_the_whole() -> None:
    generator = torch.Generator().manual_seed(0)
    states = 5 + torch.randn(40, 3, generator=generator)
    rebuilt = states + 0.3 * torch.randn(40, 3, generator=generator)
    activations = torch.randn(40, 4, generator=generator).relu()
    places = torch.arange(40) % len(PLACES)
    rows = (states, activations, rebuilt, places, places < 2)
    whole, parts = FitSums(4), FitSums(4)
    whole.add(*rows)
    for chosen in (slice(0, 0), slice(0, 7), slice(7, 40)):
        part = FitSums(4)
        part.add(*(row[chosen] for row in rows))
        parts.absorb(part)
    for name in ("counted", "content"):
        assert getattr(parts, name).explained == pytest.approx(getattr(whole, name).explained, abs=1e-12)
        assert getattr(parts, name).mean.tolist() == pytest.approx(getattr(whole, name).mean.tolist())
    assert parts.firings.tolist() == whole.firings.tolist()
    assert parts.counted_firings.tolist() == whole.counted_firings.tolist()
    assert parts.n_tokens.tolist() == whole.n_tokens.tolist()
    assert parts.l0 == whole.l0


def test_what_does_not_vary_is_not_explained() -> None:
    sums = VarianceSums()
    assert math.isnan(sums.explained)
    with pytest.raises(ValueError, match="no token was counted; expected at least one"):
        _ = sums.mean
    sums.add(torch.ones(3, 2), torch.ones(3, 2))
    assert math.isnan(sums.explained)


def test_faulty_tokens_are_counted_and_left_out() -> None:
    sums = FitSums(3)
    states = torch.tensor([[1.0, 0.0], [math.nan, 0.0], [0.0, 1.0], [0.0, 2.0]])
    activations = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, -1.0, 2.0], [0.0, 0.0, 3.0]])
    places = torch.tensor([PLACES.index(name) for name in ("first", "content", "content", "template")])
    counts = torch.tensor([True, True, True, False])
    sums.add(states, activations, states, places, counts)
    assert (sums.n_not_finite, sums.n_negative) == (1, 1)
    assert sums.n_tokens.tolist() == [0, 1, 1, 0]
    assert sums.counted_tokens.tolist() == [0, 1, 0, 0]
    assert sums.firings.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert sums.counted_firings.sum(0).tolist() == [1, 0, 0]
    assert sums.l0 == 1.0


def test_without_a_token_nothing_fires() -> None:
    assert math.isnan(FitSums(3).l0)
