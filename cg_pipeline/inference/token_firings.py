"""Activations of a few concepts on every token: sparse from batch to stream, whatever their number."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import sparse
from torch import Tensor

from cg_pipeline.inference.prompts import RenderedPrompt
from cg_pipeline.label_records import TokenFirings

SparseTokens = sparse.csr_array
"""Of one text, shape (n_content_tokens, n_looked_at)."""


def split_tokens(
    chunks: Iterable[Float[Tensor, "_ n_looked_at"]], counts: Sequence[int], n_looked_at: int
) -> list[SparseTokens]:
    """The activations of a batch's tokens, text by text; `counts` are the counted tokens of each."""
    nothing = sparse.csr_array((0, n_looked_at), dtype=np.float32)
    stream: Any = sparse.vstack([nothing, *(_sparse(chunk) for chunk in chunks)], format="csr")
    edges = np.cumsum([0, *counts])
    return [stream[first:last] for first, last in itertools.pairwise(edges)]


def mask_unwanted(
    chunks: Iterable[Float[Tensor, "_ d_sae"]],
    counts: Sequence[int],
    wanted: Sequence[Sequence[int]],
    looked_at: Int[Tensor, " n_looked_at"],
) -> Iterator[Float[Tensor, "_ n_looked_at"]]:
    """The activations of the concepts looked at, 0 where a token's own text does not want them.

    Args:
        chunks: activations of a batch's tokens, text after text.
        counts: tokens of each text.
        wanted: concepts wanted of each text.
        looked_at: those wanted of any of them, ascending.
    """
    text_of = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts, dtype=torch.long))
    text_of = text_of.to(looked_at.device)
    own = torch.stack([torch.isin(looked_at, looked_at.new_tensor(ids)) for ids in wanted])
    done = 0
    for chunk in chunks:
        here = own[text_of[done : done + len(chunk)]]
        yield torch.where(here, chunk[:, looked_at].float(), 0.0)
        done += len(chunk)


def join_firings(
    prompts: Sequence[RenderedPrompt],
    found: Sequence[SparseTokens],
    concept_ids: tuple[int, ...],
    token_mask: str = "content",
) -> TokenFirings:
    """One stream of all texts, in order, of the tokens that a `token_mask` counts.

    Raises:
        ValueError: an activation is below 0 or not finite.
    """
    empty = sparse.csr_array((0, len(concept_ids)), dtype=np.float32)
    activations = sparse.csc_array(sparse.vstack([empty, *found], format="csr"))
    if activations.nnz and not (np.isfinite(activations.data).all() and activations.data.min() >= 0):
        raise ValueError(
            "the SAE gives activations below 0 or not finite; expected numbers of 0 or more. "
            "Is it the right SAE for this hookpoint?"
        )
    masks = [prompt.counted(token_mask) for prompt in prompts]
    counted = [prompt.spans[mask] for prompt, mask in zip(prompts, masks, strict=True)]
    spans = np.concatenate([np.zeros((0, 2), np.int64), *counted])
    return TokenFirings(
        text_of=np.repeat(np.arange(len(prompts)), [len(each) for each in counted]),
        starts=spans[:, 0],
        ends=spans[:, 1],
        concept_ids=concept_ids,
        activations=activations,
    )


def _sparse(chunk: Float[Tensor, "_ n_looked_at"]) -> SparseTokens:
    """Zeros are left out where the chunk is, so that few numbers leave the device."""
    tokens, columns = (places.cpu().numpy() for places in chunk.nonzero(as_tuple=True))
    values = chunk[chunk != 0].float().cpu().numpy()
    return sparse.csr_array((values, (tokens, columns)), shape=tuple(chunk.shape))
