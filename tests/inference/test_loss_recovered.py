"""The model's loss with states replaced, against a model that is run by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from sae_lens import StandardSAE, StandardSAEConfig
from torch import nn

from cg_pipeline.inference.loss_recovered import loss_recovered
from cg_pipeline.inference.reading_plan import TokenSequence, prompt_sequence
from cg_pipeline.inference.sae_quality import check_quality
from tests.fakes import tiny_loaded_model

TINY = tiny_loaded_model(seed=3)  # which loses by states of zeros, and by the mean below
HOOKPOINT = "blocks.1.hook_resid_post"
TEXTS = ("The cat sat on the mat.", "Is it five?", "A dog ran to the park and the cat read a short text.")
SEQUENCES = [prompt_sequence(TINY, text) for text in TEXTS]
MEAN = torch.linspace(-1, 1, 16)


def rebuilding(factor: float) -> StandardSAE:
    """An SAE whose reconstruction is the state times a factor: x = relu(x) - relu(-x)."""
    sae = StandardSAE(StandardSAEConfig(d_in=16, d_sae=32))
    both = torch.cat([torch.eye(16), -torch.eye(16)])
    with torch.no_grad():
        sae.W_enc.copy_(both.T)
        sae.W_dec.copy_(factor * both)
    return sae


def found(factor: float, batch_tokens: int = 2048) -> dict[str, float]:
    return loss_recovered(TINY, rebuilding(factor), HOOKPOINT, SEQUENCES, MEAN, batch_tokens=batch_tokens)


@torch.no_grad()
def by_hand(sequence: TokenSequence, change: Any) -> torch.Tensor:
    """Run the blocks one after another on a sequence alone; losses of counted tokens."""
    base: Any = TINY.module.base_model
    ids = torch.from_numpy(sequence.input_ids)[None]
    counts = torch.from_numpy(sequence.counts)
    states = base.embed_tokens(ids)
    positions = base.rotary_emb(states, torch.arange(ids.shape[1])[None])
    for index, block in enumerate(base.layers):
        output = block(states, position_embeddings=positions, attention_mask=None)
        states = output[0] if isinstance(output, tuple) else output
        if index == 1:
            states = states.clone()
            states[0, counts] = change(states[0, counts])
    logits = TINY.module.lm_head(base.norm(states))[0].float()
    losses = nn.functional.cross_entropy(logits[:-1], ids[0, 1:], reduction="none")
    return losses[counts[1:]]


def mean_by_hand(change: Any) -> float:
    return float(torch.cat([by_hand(sequence, change) for sequence in SEQUENCES]).mean())


def test_losses_are_those_of_a_model_run_by_hand() -> None:
    figures = found(0.5)
    assert figures["loss"] == pytest.approx(mean_by_hand(lambda states: states), rel=1e-5)
    assert figures["spliced_loss"] == pytest.approx(mean_by_hand(lambda states: states / 2), rel=1e-5)
    assert figures["mean_loss"] == pytest.approx(
        mean_by_hand(lambda states: MEAN.expand_as(states)), rel=1e-5
    )
    assert figures["zero_loss"] == pytest.approx(mean_by_hand(torch.zeros_like), rel=1e-5)
    share = (figures["mean_loss"] - figures["spliced_loss"]) / (figures["mean_loss"] - figures["loss"])
    assert figures["loss_recovered"] == pytest.approx(share)


def test_a_perfect_reconstruction_recovers_all_and_nothing_recovers_nothing() -> None:
    assert found(1.0)["loss_recovered"] == pytest.approx(1.0)
    assert found(0.0)["zero_loss_recovered"] == pytest.approx(0.0)


def test_batching_changes_nothing() -> None:
    assert found(0.5, batch_tokens=1) == pytest.approx(found(0.5), rel=1e-5)


def test_without_a_token_to_predict_nothing_is_known() -> None:
    alone = [TokenSequence(np.array([5]), np.array([True]))]
    figures = loss_recovered(TINY, rebuilding(1.0), HOOKPOINT, alone, MEAN)
    assert figures.pop("n_predicted") == 0
    assert all(np.isnan(value) for value in figures.values())


def test_where_the_mean_state_costs_nothing_there_is_nothing_to_recover() -> None:
    """Or an SAE that does worse than the model and than the mean state would seem perfect."""
    does_better = tiny_loaded_model(seed=0)
    figures = loss_recovered(does_better, rebuilding(0.5), HOOKPOINT, SEQUENCES, MEAN)
    assert figures["mean_loss"] < figures["loss"]
    assert np.isnan(figures["loss_recovered"])


GOOD = {"explained_variance": 0.9, "dead_share": 0.0, "l0": 32.0, "finite": 1.0, "loss_recovered": 0.95}


@pytest.mark.parametrize(
    ("figure", "value", "said"),
    [
        ("loss_recovered", 0.5, "it recovers 0.500 of the loss, expected at least 0.9"),
        ("loss_recovered", float("nan"), "it recovers nan of the loss, expected at least 0.9"),
        ("l0", 500.0, "500.0 latents fire per token, expected at most 64"),
    ],
)
def test_the_gate_refuses_what_misses_it(figure: str, value: float, said: str) -> None:
    bounds = {
        "min_explained_variance": 0.8,
        "max_dead_share": 0.05,
        "min_loss_recovered": 0.9,
        "max_l0": 64.0,
    }
    check_quality("tiny", GOOD, **bounds)
    with pytest.raises(ValueError, match=said):
        check_quality("tiny", {**GOOD, figure: value}, **bounds)
    check_quality("tiny", {**GOOD, figure: value}, min_explained_variance=0.8, max_dead_share=0.05)
