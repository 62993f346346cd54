"""The logit lens of directions."""

import pytest
import torch

from cg_pipeline.inference.promotion import promoted_tokens
from tests.fakes import Architecture, tiny_loaded_model


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "gpt_neox"])
def test_each_direction_promotes_what_it_raises_most_for_that_token(architecture: Architecture) -> None:
    """Against the definition: every logit of every direction, in standard deviations over the directions."""
    model = tiny_loaded_model(architecture)
    base = model.module.base_model
    norm = next(getattr(base, name) for name in ("norm", "ln_f", "final_layer_norm") if hasattr(base, name))
    norm.weight.copy_(torch.rand(16, generator=torch.Generator().manual_seed(1)) + 0.1)
    directions = torch.randn(40, 16, generator=torch.Generator().manual_seed(0))

    found = promoted_tokens(model, directions, n=1)

    logits = model.module.get_output_embeddings()(directions * norm.weight)
    scores = (logits - logits.mean(0)) / logits.std(0, correction=0)
    for row, tokens in zip(scores, found, strict=True):
        texts = (
            model.tokenizer.decode([token]).strip() for token in row.argsort(descending=True) if token > 3
        )
        assert tokens == (
            next(text for text in texts if text.isprintable() and text and "\ufffd" not in text),
        )


def test_only_what_a_person_can_read_is_listed() -> None:
    model = tiny_loaded_model("gpt2")
    directions = torch.randn(20, 16, generator=torch.Generator().manual_seed(0))

    listed = [token for tokens in promoted_tokens(model, directions, n=8) for token in tokens]

    assert listed
    assert all(token == token.strip() and token and token.isprintable() for token in listed)
    assert not any(mark in token for token in listed for mark in ("Ġ", "\ufffd", "<|im_end|>"))
