"""Evidence as shards: a block of concepts per shard, so that a concept is looked up by reading one.

*Why shards and not a table with lists:* every write to the warehouse copies it as a whole, and a
dictionary of 65,536 concepts on twelve benchmarks would make most of it. As arrays a cell is read in
tens of milliseconds, without an object for each of its rows.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cg_pipeline.evidence_records import ConceptEvidence
from cg_pipeline.store.resume import read_or_heal
from cg_pipeline.store.shards import ShardSet, ShardStore

CONCEPTS_PER_SHARD = 4096
_OF_EXAMPLES = ("n_tokens", "scores")
_OF_ROWS = ("concept_ids", "sides", "ranks", "examples", "saliency", "edges", "starts", "ends", "activations")


def n_evidence_shards(n_concepts: int) -> int:
    """Shards that a dictionary's evidence takes."""
    return max(1, -(-n_concepts // CONCEPTS_PER_SHARD))


def save_evidence(
    store: ShardStore, model: str, benchmark: str, fingerprint: str, found: ConceptEvidence
) -> Path:
    """Keep one cell's evidence whole; returns its directory."""
    n_shards = n_evidence_shards(found.n_concepts)
    shards = store.shard_set("evidence", model, benchmark, fingerprint=fingerprint, n_shards=n_shards)
    with shards.lock():
        for index in range(n_shards):
            part = found.where(found.concept_ids // CONCEPTS_PER_SHARD == index)
            shards.write(index, _arrays(part), n_rows=len(part.concept_ids))
        shards.commit({"model": model, "benchmark": benchmark, "concepts_per_shard": CONCEPTS_PER_SHARD})
    return shards.directory


@dataclass(frozen=True)
class StoredShelf:
    """`gaps.inputs.EvidenceShelf` of a directory: reads the shards of the concepts asked for."""

    directory: Path

    def of(self, concept_ids: list[int]) -> ConceptEvidence:
        """What there is of these concepts; those that never fire have no rows.

        Raises:
            FileNotFoundError: the set is not complete.
            ValueError: a shard was damaged; it is removed, to be written again.
        """
        size = (ShardSet.open(self.directory).manifest() or {})["metadata"]["concepts_per_shard"]
        wanted = {concept_id // size for concept_id in concept_ids} or {0}
        return self._read(sorted(wanted)).of(concept_ids)

    def whole(self) -> ConceptEvidence:
        """All of it. Raises as `of` does."""
        return self._read(list(range(ShardSet.open(self.directory).n_shards)))

    def _read(self, indices: list[int]) -> ConceptEvidence:
        shards = ShardSet.open(self.directory)
        known = [index for index in indices if 0 <= index < shards.n_shards] or [0]
        return read_or_heal(self.directory, lambda: _joined([_evidence(shards.read(i)) for i in known]))


def _arrays(part: ConceptEvidence) -> dict[str, np.ndarray]:
    names = json.dumps(part.example_ids).encode("utf-8")
    return {
        "example_ids": np.frombuffer(names, dtype=np.uint8),
        "n_concepts": np.array([part.n_concepts], np.int64),
        **{name: getattr(part, name) for name in (*_OF_EXAMPLES, *_OF_ROWS)},
        **{name: getattr(part, name).astype(np.int32) for name in ("concept_ids", "ranks", "examples")},
    }


def _evidence(arrays: dict[str, np.ndarray]) -> ConceptEvidence:
    return ConceptEvidence(
        example_ids=tuple(json.loads(arrays["example_ids"].tobytes())),
        n_concepts=int(arrays["n_concepts"][0]),
        **{name: arrays[name] for name in (*_OF_EXAMPLES, *_OF_ROWS)},
    )


def _joined(parts: list[ConceptEvidence]) -> ConceptEvidence:
    """Blocks of concepts in order; all list the same examples."""
    first = parts[0]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _OF_ROWS[:-4]}
    fired = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _OF_ROWS[-3:]}
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.edges) for part in parts)])
    return ConceptEvidence(
        n_concepts=first.n_concepts,
        example_ids=first.example_ids,
        n_tokens=first.n_tokens,
        scores=first.scores,
        edges=np.cumsum(lengths),
        **joined,
        **fired,
    )
