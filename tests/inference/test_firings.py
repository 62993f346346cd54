"""The streaming tally of firings, against sorting everything."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.inference.firings import firings_of, no_firings


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 6), st.integers(0, 5))
def test_chunks_add_up_to_the_whole(n_tokens: int, chunk: int, kept: int, seed: int) -> None:
    activations = torch.rand(n_tokens, 3, generator=torch.Generator().manual_seed(seed)) - 0.4
    activations = activations.clamp(min=0.0)
    total = no_firings(3, kept, torch.device("cpu"))

    for numbers in torch.arange(n_tokens).split(chunk):
        total = total.merged(firings_of(activations[numbers], numbers, kept)) if len(numbers) else total

    assert total.n_tokens == n_tokens
    assert total.counts.tolist() == (activations > 0).sum(0).tolist()
    for concept in range(3):
        order = sorted(range(n_tokens), key=lambda token: -activations[token, concept])
        fired = [token for token in order if activations[token, concept] > 0][:kept]
        assert total.tokens[:, concept].tolist() == fired + [-1] * (kept - len(fired))
        assert total.values[: len(fired), concept].tolist() == activations[fired, concept].tolist()
