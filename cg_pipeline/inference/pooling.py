"""From activations of single tokens to one sparse row of saliency per text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from cg_pipeline.records import ConceptActivations


@dataclass(frozen=True)
class SparseRow:
    """Saliency of one text, zeros left out."""

    concept_ids: Int[np.ndarray, " nnz"]
    saliency: Float[np.ndarray, " nnz"]
    n_tokens: int


@torch.no_grad()
def pool_tokens(
    chunks: Iterable[Float[Tensor, "_ d_sae"]], sizes: Sequence[int], d_sae: int, device: torch.device
) -> list[SparseRow]:
    """Mean activation of each text, whose tokens follow one another through the chunks.

    Args:
        chunks: activations; where one ends has nothing to do with where a text ends.
        sizes: tokens of each text; 0 gives an empty row.
        d_sae: width of the dictionary.
        device: where to add up.

    Raises:
        ValueError: an activation is negative or not finite, which no saliency can be.
    """
    sums = torch.zeros(len(sizes), d_sae, device=device)
    ends = np.cumsum(sizes)
    done = 0
    for chunk in chunks:
        _check_activations(chunk)
        for row in range(
            np.searchsorted(ends, done, "right"), np.searchsorted(ends, done + len(chunk), "left") + 1
        ):
            first, last = max(done, ends[row] - sizes[row]), min(done + len(chunk), ends[row])
            sums[row] += chunk[first - done : last - done].sum(0, dtype=torch.float32)
        done += len(chunk)
    return _sparse_rows(sums, sizes)


def join_rows(example_ids: tuple[str, ...], rows: Sequence[SparseRow], n_concepts: int) -> ConceptActivations:
    """The rows as one CSR matrix."""
    return ConceptActivations(
        example_ids=example_ids,
        n_concepts=n_concepts,
        indptr=np.cumsum([0, *(len(row.concept_ids) for row in rows)]).astype(np.int64),
        concept_ids=np.concatenate([np.zeros(0, np.int64), *(row.concept_ids for row in rows)]),
        saliency=np.concatenate([np.zeros(0, np.float32), *(row.saliency for row in rows)]),
        n_tokens=np.array([row.n_tokens for row in rows], np.int64),
    )


def _sparse_rows(sums: Float[Tensor, "batch d_sae"], sizes: Sequence[int]) -> list[SparseRow]:
    rows, ids = sums.nonzero(as_tuple=True)
    ends = torch.bincount(rows, minlength=len(sizes)).cumsum(0).cpu().numpy()[:-1]
    parts = zip(np.split(ids.cpu().numpy(), ends), np.split(sums[rows, ids].cpu().numpy(), ends), strict=True)
    return [
        SparseRow(concepts, values / np.float32(max(1, size)), size)
        for (concepts, values), size in zip(parts, sizes, strict=True)
    ]


def _check_activations(chunk: Float[Tensor, "n_chunk d_sae"]) -> None:
    lowest, highest = torch.aminmax(chunk)
    if not (lowest >= 0 and torch.isfinite(highest)):  # a NaN fails the first comparison
        raise ValueError(
            f"SAE activations range from {lowest.item()} to {highest.item()}; expected finite numbers "
            "from 0 up. An SAE with signed activations cannot be read as concepts; for NaN check its weights "
            "and the model's dtype."
        )
