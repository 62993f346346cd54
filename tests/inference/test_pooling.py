"""Pooling: means over texts, wherever chunks end."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.pooling import join_rows, pool_tokens

CPU = torch.device("cpu")


def test_two_texts_by_hand() -> None:
    """Text 1 has tokens (1, 0) and (3, 0): mean (2, 0). Text 2 has none. Text 3 has (0, 5)."""
    tokens = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 5.0]])

    result = join_rows(("a", "b", "c"), pool_tokens([tokens], [2, 0, 1], 2, CPU), 2)

    assert result.indptr.tolist() == [0, 1, 1, 2]
    assert result.concept_ids.tolist() == [0, 1]
    assert result.saliency.tolist() == [2.0, 5.0]
    assert result.n_tokens.tolist() == [2, 0, 1]
    assert result.saliency.dtype == np.float32


@given(st.lists(st.integers(0, 6), min_size=1), st.integers(1, 9))
def test_chunks_and_texts_have_nothing_to_do_with_each_other(sizes: list[int], chunk: int) -> None:
    tokens = torch.rand(sum(sizes), 5, generator=torch.Generator().manual_seed(0))
    parts = tokens.split(chunk) if len(tokens) else ()

    rows = join_rows(tuple(map(str, range(len(sizes)))), pool_tokens(parts, sizes, 5, CPU), 5)

    expected = [text.mean(0) if len(text) else torch.zeros(5) for text in tokens.split(sizes)]
    np.testing.assert_allclose(rows.matrix().toarray(), torch.stack(expected).numpy(), rtol=1e-6)


def test_no_texts_give_an_empty_matrix() -> None:
    """F4."""
    assert join_rows((), [], 3).matrix().shape == (0, 3)


@pytest.mark.parametrize(("value", "shown"), [(-0.5, "-0.5"), (float("nan"), "nan"), (float("inf"), "inf")])
def test_activations_that_no_saliency_can_have_are_refused(value: float, shown: str) -> None:
    """F26: a NaN never travels on."""
    with pytest.raises(
        ValueError, match=f"SAE activations range from .*{shown}.*; expected finite numbers from 0 up"
    ):
        pool_tokens([torch.tensor([[0.0, value]])], [1], 2, CPU)
