"""Packing a prompt and its choices into one row, and the head that scores them."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from cg_pipeline.inference.likelihood import choice_logprobs, pack_choices
from cg_pipeline.inference.models import LoadedModel
from tests.fakes import tiny_loaded_model


def test_a_row_by_hand() -> None:
    """Prompt 7 8; choices `10 11 12` and `20`: the first adds 10 11, the second nothing."""
    row = pack_choices(np.array([7, 8]), [np.array([10, 11, 12]), np.array([20])])

    assert row.input_ids.tolist() == [7, 8, 10, 11]
    assert row.position_ids.tolist() == [0, 1, 2, 3]
    assert row.segments.tolist() == [0, 0, 1, 1]
    assert row.predictors.tolist() == [1, 2, 3, 1]  # 10 is predicted at 8, 11 at 10, 12 at 11; 20 at 8 again
    assert row.scored_ids.tolist() == [10, 11, 12, 20]
    assert row.n_choice_tokens == (3, 1)


def test_positions_restart_with_each_choice() -> None:
    row = pack_choices(np.array([7]), [np.array([10, 11]), np.array([20, 21, 22])])

    assert row.position_ids.tolist() == [0, 1, 1, 2]


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

    [[first, _]] = choice_logprobs(
        model, [pack_choices(np.array(ids[:3]), [np.array(ids[3:]), np.array([8, 6])])]
    )

    assert first == pytest.approx(expected, abs=1e-5)
