"""Rows of texts against one plain forward pass per text."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from cg_pipeline.inference.likelihood import text_logprobs
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import Continued, pack
from tests.fakes import Architecture, tiny_loaded_model


def with_module(**settings: object) -> LoadedModel:
    config = AutoConfig.for_model(
        "gemma2", vocab_size=340, hidden_size=16, intermediate_size=32, num_hidden_layers=2, head_dim=4,
        num_attention_heads=4, num_key_value_heads=2, initializer_range=0.4, sliding_window=64, **settings,
    )  # fmt: skip
    loaded = tiny_loaded_model()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    return LoadedModel(
        spec=loaded.spec,
        module=module.eval().requires_grad_(False),
        tokenizer=loaded.tokenizer,
        device=loaded.device,
    )


def test_soft_capped_logits_are_capped_here_too() -> None:
    """Gemma 2 squeezes its logits after the head; leaving that out would change every likelihood."""
    model = with_module(final_logit_softcapping=0.5, attn_logit_softcapping=2.0)
    ids = [5, 9, 33, 70, 71]
    logprobs = model.module(torch.tensor([ids])).logits[0].log_softmax(-1)
    expected = sum(logprobs[place - 1, ids[place]].item() for place in (3, 4))

    context = np.array(ids[:3])
    texts = [Continued(context, np.array(ids[3:])), Continued(context, np.array([8, 6]))]
    [[first, _]] = text_logprobs(model, [pack(texts)])

    assert first == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "gpt_neox"])
@pytest.mark.parametrize("branching", [True, False])
def test_a_batch_of_rows_scores_as_each_text_alone(architecture: Architecture, branching: bool) -> None:
    """Rows of one chain take the plain causal path, others the mask; one vocabulary chunk or many."""
    model = tiny_loaded_model(architecture)
    rng = np.random.default_rng(0)
    rows = [
        [Continued(context, rng.integers(4, 340, size if branching else 1)) for size in (1, 3, 2)]
        for context in (rng.integers(4, 340, length) for length in (9, 4, 1))
    ]

    found = text_logprobs(model, [pack(texts) for texts in rows])

    for texts, logprobs in zip(rows, found, strict=True):
        for text, logprob in zip(texts, logprobs, strict=True):
            whole = np.concatenate([text.context, text.continuation])
            plain = model.module(torch.from_numpy(whole)[None]).logits[0].log_softmax(-1)
            start = len(text.context)
            expected = sum(plain[place - 1, whole[place]].item() for place in range(start, len(whole)))
            assert logprob == pytest.approx(expected, abs=1e-4)


def test_logits_in_chunks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_loaded_model()
    texts = [Continued(np.array([5, 9, 33]), np.array([7, 8, 9, last])) for last in (10, 11, 12)]
    [whole] = text_logprobs(model, [pack(texts)])
    monkeypatch.setattr("cg_pipeline.inference.likelihood._LOGITS_AT_ONCE", 2 * 340)

    assert text_logprobs(model, [pack(texts)])[0] == pytest.approx(whole, abs=1e-5)
