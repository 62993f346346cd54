"""Rows going on token by token, against the whole text read anew."""

import numpy as np
import pytest
import torch

from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.running_batch import RunningBatch
from tests.fakes import Architecture, tiny_loaded_model


def plain_logits(model: LoadedModel, ids: list[int]) -> torch.Tensor:
    return model.module(torch.tensor([ids])).logits[0, -1]


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "gpt_neox"])
@pytest.mark.parametrize("n_shared", [0, 20])
def test_logits_are_those_of_each_row_alone(architecture: Architecture, n_shared: int) -> None:
    """Different lengths, a prompt that comes twice, a beginning in common, rows leaving on the way."""
    model = tiny_loaded_model(architecture)
    rng = np.random.default_rng(0)
    start = rng.integers(4, 340, n_shared).tolist()
    texts = [start + rng.integers(4, 340, size).tolist() for size in (7, 2, 12)]
    texts.append(list(texts[1]))

    with torch.no_grad():
        batch = RunningBatch(model, [np.array(text) for text in texts])
        for step in range(5):
            expected = torch.stack([plain_logits(model, text) for text in texts])
            torch.testing.assert_close(batch.logits, expected, rtol=1e-4, atol=1e-4)
            if step == 2:
                batch.keep([3, 0])
                texts = [texts[3], texts[0]]
            tokens = rng.integers(4, 340, len(texts)).tolist()
            batch.feed(torch.tensor(tokens))
            texts = [[*text, token] for text, token in zip(texts, tokens, strict=True)]
