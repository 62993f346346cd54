"""A model that goes on from changed states, at every kind of hookpoint of every kind of model."""

import pytest
import torch

from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.splicing import changed, losses
from tests.fakes import Architecture, tiny_loaded_model

IDS = torch.tensor([[5, 9, 77, 200, 31, 6, 12]])
PLACES = ("resid_pre", "resid_post", "attn_out", "mlp_out", "resid_mid")
KINDS: list[tuple[Architecture, str]] = [
    (architecture, place)
    for architecture in ("llama", "gpt2", "gpt_neox")
    for place in PLACES
    if (architecture, place) != ("gpt_neox", "resid_mid")
]


def logits(reader, ids=IDS):
    return reader.module(ids).logits


@pytest.mark.parametrize(("architecture", "place"), KINDS)
def test_states_that_are_not_changed_change_nothing(architecture: Architecture, place: str) -> None:
    reader = tiny_loaded_model(architecture)
    before = logits(reader)
    with changed(reader.module, f"blocks.1.hook_{place}", lambda states: states):
        torch.testing.assert_close(logits(reader), before, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("architecture", "place"), KINDS)
def test_the_model_goes_on_from_what_is_put_there(architecture: Architecture, place: str) -> None:
    """What another text has at the place, put there, is read there; and afterwards the model is as before."""
    reader, name = tiny_loaded_model(architecture), f"blocks.1.hook_{place}"
    other = read_hidden_states(reader.module, name, IDS.flip(1), torch.ones_like(IDS))
    before = logits(reader)
    seen: list[torch.Tensor] = []
    with changed(reader.module, name, lambda _: other):
        spliced = logits(reader)
        following = read_hidden_states(reader.module, "blocks.2.hook_resid_pre", IDS, torch.ones_like(IDS))
        seen.append(following)
    assert not torch.allclose(spliced, before)
    torch.testing.assert_close(logits(reader), before)
    if place == "resid_post":
        torch.testing.assert_close(seen[0], other)


@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_in_the_middle_of_a_block_the_stream_itself_is_changed(architecture: Architecture) -> None:
    """What follows is mid' + mlp(norm(mid')), not mid + mlp(norm(mid'))."""
    reader, everywhere = tiny_loaded_model(architecture), torch.ones_like(IDS)
    mid = read_hidden_states(reader.module, "blocks.1.hook_resid_mid", IDS, everywhere)
    with changed(reader.module, "blocks.1.hook_resid_mid", lambda states: states * 0.5):
        mlp = read_hidden_states(reader.module, "blocks.1.hook_mlp_out", IDS, everywhere)
        after = read_hidden_states(reader.module, "blocks.2.hook_resid_pre", IDS, everywhere)
    torch.testing.assert_close(after, 0.5 * mid + mlp, rtol=1e-4, atol=1e-4)


def test_losses_are_those_of_each_text_alone() -> None:
    reader = tiny_loaded_model()
    ids = torch.tensor([[5, 9, 77, 200, 31], [6, 12, 8, 0, 0]])
    kept = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    predicted = torch.tensor([[False, True, False, True, True], [False, False, True, False, False]])
    found = losses(reader, ids, kept, predicted)
    alone = [
        torch.log_softmax(logits(reader, row[None, :n])[0], -1) for row, n in zip(ids, (5, 3), strict=True)
    ]
    expected = [-alone[0][0, 9], -alone[0][2, 200], -alone[0][3, 31], -alone[1][1, 8]]
    torch.testing.assert_close(found, torch.stack(expected), rtol=1e-4, atol=1e-5)


def test_an_unknown_place_is_refused() -> None:
    module = tiny_loaded_model().module
    with (
        pytest.raises(
            ValueError, match=r"Hookpoint is 'blocks\.9\.hook_resid_post', but the model has blocks"
        ),
        changed(module, "blocks.9.hook_resid_post", lambda states: states),
    ):
        pass
