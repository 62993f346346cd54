"""A cache that grows in place holds what one made by joining would."""

import pytest
import torch
from transformers import DynamicCache

from cg_pipeline.inference.kv_cache import cache_argument, empty_cache
from tests.fakes import Architecture, tiny_loaded_model


def states(n_rows: int, n_tokens: int, seed: int) -> torch.Tensor:
    return torch.randn(n_rows, 2, n_tokens, 4, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("sizes", [[5, 1, 1], [1] * 70, [3, 100, 1]])
def test_growing_in_place_is_joining(sizes: list[int]) -> None:
    roomy, joined = empty_cache(tiny_loaded_model()), DynamicCache()

    for seed, size in enumerate(sizes):
        keys, values = states(2, size, seed), states(2, size, seed + 1000)
        for found, expected in zip(
            roomy.update(keys, values, 0), joined.update(keys, values, 0), strict=True
        ):
            assert torch.equal(found, expected)

    assert roomy.get_seq_length() == joined.get_seq_length() == sum(sizes)


def test_rows_may_leave_or_be_repeated() -> None:
    cache = empty_cache(tiny_loaded_model())
    before = states(3, 4, 0)
    cache.update(before, before, 0)
    cache.batch_select_indices(torch.tensor([2, 0, 0, 2]))
    after = states(4, 1, 1)

    keys, _ = cache.update(after, after, 0)

    assert torch.equal(keys, torch.cat([before[[2, 0, 0, 2]], after], dim=-2))


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "gpt_neox"])
def test_a_model_takes_its_cache(architecture: Architecture) -> None:
    model = tiny_loaded_model(architecture)
    cache = empty_cache(model)

    model.module.base_model(input_ids=torch.tensor([[5, 6, 7]]), **{cache_argument(model): cache})

    assert cache.get_seq_length() == 3
