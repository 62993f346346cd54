"""What was ever read token by token: sets of shards, each holding what no earlier one had.

A reader's directory of a benchmark's token activations only grows: whoever wants some takes what is
there and adds what is not. So scores that changed, another number of examples kept or another model
with the same reader costs the reading of the pairs that are new, and an interruption one shard.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cg_pipeline.evidence.pairs import Wanted, join_pairs, missing_pairs
from cg_pipeline.evidence_records import PairFirings
from cg_pipeline.records import content_id
from cg_pipeline.store.layout import slug
from cg_pipeline.store.resume import Filled, blocks_of, fill
from cg_pipeline.store.shard_files import ShardName, decode_arrays, inspect
from cg_pipeline.store.shards import ShardStore

_ARRAYS = ("n_tokens", "examples", "concept_ids", "edges", "starts", "ends", "activations")
_KIND = "token_firings"


@dataclass(frozen=True)
class FiringLedger:
    """The token activations of one benchmark's examples that one reader has read."""

    store: ShardStore
    sae: str
    benchmark: str
    fingerprint: str
    """Of the reader, as `identity.token_firings_id` has it."""

    @property
    def directory(self) -> Path:
        """Where its sets are."""
        return self.store.root.joinpath(*map(slug, (_KIND, self.sae, self.benchmark, self.fingerprint)))

    def known(self) -> PairFirings:
        """All that was read and is whole, by interrupted runs, too; what is damaged is not there."""
        paths = sorted(self.directory.glob("*/shard-*"))
        return join_pairs([found for path in paths if (found := _whole(path)) is not None])

    def complete(
        self, wanted: Wanted, per_shard: int, read: Callable[[Mapping[str, Sequence[int]]], PairFirings]
    ) -> Filled:
        """Read what is wanted and not known, a block of examples at a time.

        Args:
            wanted: concepts of each example.
            per_shard: examples read at a time: what an interruption can lose.
            read: from some of the wanted pairs to their token activations.
        """
        missing = missing_pairs(wanted, self.known())
        if not missing:
            return Filled(0, 0, 0.0)
        blocks = blocks_of(list(missing.items()), per_shard)
        parts = (_KIND, self.sae, self.benchmark, self.fingerprint)
        name = content_id(list(missing.items()))
        shards = self.store.shard_set(*parts, fingerprint=name, n_shards=len(blocks))

        def save(index: int, block: Sequence[tuple[str, Sequence[int]]]) -> None:
            found = read(dict(block))
            shards.write(index, _arrays(found), n_rows=len(found.example_ids))

        return fill(shards, blocks, save, {"sae": self.sae, "benchmark": self.benchmark})


def _whole(path: Path) -> PairFirings | None:
    name = ShardName.parse(path.name)
    try:
        return name and _pairs(decode_arrays(inspect(path, name, path.parent.name)[0]))
    except (ValueError, OSError):
        return None


def _arrays(part: PairFirings) -> dict[str, np.ndarray]:
    names = json.dumps(part.example_ids).encode("utf-8")
    return {
        "example_ids": np.frombuffer(names, dtype=np.uint8),
        **{name: getattr(part, name) for name in _ARRAYS},
        **{name: getattr(part, name).astype(np.int32) for name in ("examples", "concept_ids")},
    }


def _pairs(arrays: dict[str, np.ndarray]) -> PairFirings:
    names = tuple(json.loads(arrays["example_ids"].tobytes()))
    return PairFirings(example_ids=names, **{name: arrays[name] for name in _ARRAYS})
