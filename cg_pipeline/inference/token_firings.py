"""Activations of a few concepts on every token: sparse from batch to stream, whatever their number."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy import sparse
from torch import Tensor

from cg_pipeline.inference.prompts import RenderedPrompt
from cg_pipeline.label_records import TokenFirings

SparseTokens = sparse.csr_array
"""Of one text, shape (n_content_tokens, n_looked_at)."""


def split_tokens(
    chunks: Sequence[Float[Tensor, "_ n_looked_at"]], counts: Sequence[int], n_looked_at: int
) -> list[SparseTokens]:
    """The activations of a batch's tokens, text by text; `counts` are the content tokens of each."""
    stream: Any = sparse.vstack(
        [
            sparse.csr_array((0, n_looked_at), dtype=np.float32),
            *(sparse.csr_array(chunk.float().cpu().numpy()) for chunk in chunks),
        ],
        format="csr",
    )
    edges = np.cumsum([0, *counts])
    return [stream[first:last] for first, last in itertools.pairwise(edges)]


def join_firings(
    prompts: Sequence[RenderedPrompt], found: Sequence[SparseTokens], concept_ids: tuple[int, ...]
) -> TokenFirings:
    """One stream of all texts, in order.

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
    nothing = np.zeros((0, 2), np.int64)
    spans = np.concatenate([nothing, *(prompt.spans[prompt.content_mask] for prompt in prompts)])
    numbers = torch.arange(len(prompts)).repeat_interleave(
        torch.tensor([int(prompt.content_mask.sum()) for prompt in prompts], dtype=torch.long)
    )
    return TokenFirings(
        text_of=numbers.numpy(),
        starts=spans[:, 0],
        ends=spans[:, 1],
        concept_ids=concept_ids,
        activations=activations,
    )
