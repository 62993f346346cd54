from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cg_pipeline.records import ConceptActivations
from cg_pipeline.store.activations import load_activations, save_activations
from cg_pipeline.store.shards import ShardSet


def part(seed: int, n_examples: int) -> ConceptActivations:
    rng = np.random.default_rng(seed)
    dense = rng.random((n_examples, 40)) * (rng.random((n_examples, 40)) < 0.2)
    matrix = sparse.csr_array(dense.astype(np.float32))
    return ConceptActivations(
        example_ids=tuple(f"{seed}-{i} é" for i in range(n_examples)),
        n_concepts=40,
        indptr=matrix.indptr.astype(np.int64),
        concept_ids=matrix.indices.astype(np.int32),
        saliency=matrix.data,
        n_tokens=rng.integers(0, 50, n_examples),
    )


def equal(one: ConceptActivations, other: ConceptActivations) -> bool:
    names = ("indptr", "concept_ids", "saliency", "n_tokens")
    return (one.example_ids, one.n_concepts) == (other.example_ids, other.n_concepts) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in names
    )


def test_parts_saved_in_any_order_come_back_whole_and_in_order(tmp_path: Path) -> None:
    parts = [part(0, 5), part(1, 0), part(2, 3)]
    shards = ShardSet(tmp_path / "f", 3)
    for index in (2, 0, 1):
        save_activations(shards, index, parts[index])
    with pytest.raises(
        FileNotFoundError, match=r"has no readable manifest\.json; expected a complete set of shards"
    ):
        load_activations(shards.directory)
    shards.commit({})
    back = load_activations(shards.directory)
    assert equal(back, ConceptActivations.concatenate(parts))
    assert back.saliency.dtype == np.float32
    assert (shards.manifest() or {})["n_rows"] == 8


def test_a_damaged_shard_is_not_loaded(tmp_path: Path) -> None:
    shards = ShardSet(tmp_path / "f", 1)
    path = save_activations(shards, 0, part(0, 4))
    shards.commit({})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"Shard 0 of 1 in .* cannot be trusted"):
        load_activations(shards.directory)


def test_what_is_no_sparse_matrix_of_positive_saliency_is_refused(tmp_path: Path) -> None:
    good, shards = part(0, 4), ShardSet(tmp_path / "f", 1)
    wrong = [
        (replace(good, indptr=good.indptr[:-1]), r"have 4 row pointers, .*; expected 5"),
        (replace(good, indptr=good.indptr[::-1].copy()), "have 5 row pointers, .* rising"),
        (replace(good, indptr=good.indptr * 2), "have 5 row pointers, .* rising from 0 to"),
        (replace(good, concept_ids=good.concept_ids + 39), r"hold concept \d+; expected 0 to 39"),
        (replace(good, saliency=-good.saliency), "hold saliency -0.*; expected finite values above 0"),
        (replace(good, saliency=good.saliency * np.float32(np.inf)), "hold saliency inf; expected finite"),
    ]
    for activations, sentence in wrong:
        with pytest.raises(ValueError, match=f"Activations {sentence}"):
            save_activations(shards, 0, activations)
    assert shards.missing() == [0]
