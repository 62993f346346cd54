"""Activations as shards: the sparse matrix of saliency, a block of examples per shard."""

import json
from pathlib import Path

import numpy as np

from cg_pipeline.records import ConceptActivations
from cg_pipeline.store.shards import ShardSet


def save_activations(shards: ShardSet, index: int, part: ConceptActivations) -> Path:
    """Keep the activations of one block of examples.

    Raises:
        ValueError: the block is no valid sparse matrix of positive saliency.
    """
    _check_rows(part)
    _check_values(part)
    names = json.dumps(part.example_ids).encode("utf-8")
    arrays = {
        "example_ids": np.frombuffer(names, dtype=np.uint8),
        "n_concepts": np.array([part.n_concepts], dtype=np.int64),
        "indptr": part.indptr,
        "concept_ids": part.concept_ids,
        "saliency": part.saliency,
        "n_tokens": part.n_tokens,
    }
    return shards.write(index, arrays, n_rows=len(part.example_ids))


def load_activations(directory: Path) -> ConceptActivations:
    """The activations of all examples of a complete set, in order, every shard checked.

    Raises:
        FileNotFoundError: the set is not complete.
        ValueError: a shard is damaged.
    """
    shards = ShardSet.open(directory)
    return ConceptActivations.concatenate(_load(shards, index) for index in range(shards.n_shards))


def _load(shards: ShardSet, index: int) -> ConceptActivations:
    arrays = shards.read(index)
    return ConceptActivations(
        example_ids=tuple(json.loads(arrays["example_ids"].tobytes())),
        n_concepts=int(arrays["n_concepts"][0]),
        indptr=arrays["indptr"],
        concept_ids=arrays["concept_ids"],
        saliency=arrays["saliency"],
        n_tokens=arrays["n_tokens"],
    )


def _check_rows(part: ConceptActivations) -> None:
    n_examples, nnz = len(part.example_ids), len(part.concept_ids)
    rising = len(part.indptr) == n_examples + 1 and part.indptr[0] == 0 and np.all(np.diff(part.indptr) >= 0)
    if not rising or part.indptr[-1] != nnz:
        raise ValueError(
            f"Activations have {len(part.indptr)} row pointers, {part.indptr[:3]}…{part.indptr[-1:]}; "
            f"expected {n_examples + 1}, one per example and one more, rising from 0 to {nnz}."
        )
    if (len(part.saliency), len(part.n_tokens)) != (nnz, n_examples):
        raise ValueError(
            f"Activations have {len(part.saliency)} values and {len(part.n_tokens)} token counts; "
            f"expected {nnz} and {n_examples}."
        )


def _check_values(part: ConceptActivations) -> None:
    outside = part.concept_ids[(part.concept_ids < 0) | (part.concept_ids >= part.n_concepts)]
    if len(outside):
        raise ValueError(f"Activations hold concept {outside[0]}; expected 0 to {part.n_concepts - 1}.")
    wrong = part.saliency[~(np.isfinite(part.saliency) & (part.saliency > 0))]
    if len(wrong):
        raise ValueError(f"Activations hold saliency {wrong[0]}; expected finite values above 0.")
