"""Quality figures on SAEs small enough to check by hand, and a gate that lets no bad SAE through."""

import math

import pytest
import torch
from sae_lens import TopKSAE, TopKSAEConfig

from cg_pipeline.inference.sae_quality import check_quality, sae_quality

GOOD = {"explained_variance": 0.85, "l0": 2.0, "dead_share": 0.01, "n_dense": 0.0, "finite": 1.0}


def axis_sae(*, k: int = 1, scale: float = 1.0) -> TopKSAE:
    """Latents 0 and 1 read and write the two axes; latent 2 never fires."""
    module = TopKSAE(TopKSAEConfig(d_in=2, d_sae=3, k=k, apply_b_dec_to_input=False))
    module.W_enc.data = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    module.b_enc.data = torch.tensor([0.0, 0.0, -100.0])
    module.W_dec.data = torch.tensor([[scale, 0.0], [0.0, scale], [1.0, 1.0]])
    module.b_dec.data = torch.zeros(2)
    return module


STATES = torch.tensor([[2.0, 0.0], [4.0, 0.0], [0.0, 2.0], [0.0, 4.0]])


def test_a_perfect_sae_explains_everything() -> None:
    figures = sae_quality(axis_sae(), STATES)
    assert figures == {
        "explained_variance": 1.0,
        "l0": 1.0,
        "dead_share": pytest.approx(1 / 3),
        "n_dense": 2.0,
        "finite": 1.0,
    }


def test_explained_variance_by_hand() -> None:
    # mean (1.5, 1.5); Σ‖x - mean‖² = 2.5 + 8.5 + 2.5 + 8.5 = 22;
    # half of each state is missed: Σ‖x/2‖² = 1 + 4 + 1 + 4 = 10.
    figures = sae_quality(axis_sae(scale=0.5), STATES)
    assert figures["explained_variance"] == pytest.approx(1 - 10 / 22)


def test_batches_change_nothing() -> None:
    states = torch.randn(37, 2, generator=torch.Generator().manual_seed(0))
    whole = sae_quality(axis_sae(scale=0.7), states)
    assert sae_quality(axis_sae(scale=0.7), states, batch_tokens=5) == pytest.approx(whole)


def test_half_precision_states_are_read_exactly() -> None:
    assert sae_quality(axis_sae(), STATES.half())["explained_variance"] == 1.0


def test_a_weight_that_is_not_a_number_shows() -> None:
    module = axis_sae()
    module.W_dec.data[0, 0] = math.nan
    assert sae_quality(module, STATES)["finite"] == 0.0


def test_one_token_has_no_variance() -> None:
    with pytest.raises(ValueError, match="activations hold 1 tokens; expected at least 2"):
        sae_quality(axis_sae(), STATES[:1])


def test_the_gate_lets_a_good_sae_through() -> None:
    check_quality("reader", GOOD, min_explained_variance=0.8, max_dead_share=0.05)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"explained_variance": 0.5}, "explained variance is 0.500, expected at least 0.8"),
        ({"explained_variance": math.nan}, "explained variance is nan"),
        ({"dead_share": 0.2}, "20.0% of the latents are dead, expected at most 5%"),
        ({"finite": 0.0}, "a weight or reconstruction is not a finite number"),
    ],
)
def test_the_gate_names_the_fault(fault: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"SAE 'reader' is not published: {message}"):
        check_quality("reader", GOOD | fault, min_explained_variance=0.8, max_dead_share=0.05)
