"""An SAE over the tokens of a batch, a bounded number of them at a time."""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float
from sae_lens import SAE
from torch import Tensor

from cg_pipeline.inference.saes import reads_whole_texts

_ENCODED_AT_ONCE = 2**25
"""Numbers in one chunk of encoded tokens: 128 MB in float32, whatever the dictionary's width."""


def chunk_tokens(d_sae: int) -> int:
    """Tokens that are encoded at a time."""
    return max(1, _ENCODED_AT_ONCE // d_sae)


def passes(
    loaded: SAE[Any], states: Float[Tensor, "batch seq d_model"], wanted: Bool[Tensor, "batch seq"]
) -> Iterator[tuple[Float[Tensor, "_ d_model"], Float[Tensor, "_ d_sae"], Float[Tensor, "_ d_model"]]]:
    """States, activations and reconstructions of the wanted tokens, row after row.

    Of an SAE whose activations depend on earlier tokens, each row is read as a whole; padding on the
    right changes nothing there.
    """
    if reads_whole_texts(loaded):
        for row, mask in zip(states, wanted, strict=True):
            activations = loaded.encode(row[None])
            yield row[mask], activations[0][mask], loaded.decode(activations)[0][mask]
    else:
        for some in states[wanted].split(chunk_tokens(loaded.cfg.d_sae)):
            activations = loaded.encode(some)
            yield some, activations, loaded.decode(activations)


def rebuilt(
    loaded: SAE[Any], states: Float[Tensor, "batch seq d_model"], wanted: Bool[Tensor, "batch seq"]
) -> Float[Tensor, "batch seq d_model"]:
    """The states with the wanted ones replaced by their reconstructions."""
    if not bool(wanted.any()):
        return states
    found = torch.cat([each for _, _, each in passes(loaded, states, wanted)])
    changed = states.clone()
    changed[wanted] = found.to(states.dtype)
    return changed
