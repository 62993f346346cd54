"""Where batches of hidden states to train on come from: shards on disk, or a model that reads on.

Both hand out pools, each mixed by a seeded generator. Between two pools a source is at a position that can
be written down; one that goes on from there hands out the same batches, to the last bit where the model
reads the same way again.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from cg_pipeline.inference.harvest import load_shard
from cg_pipeline.inference.mixing_buffer import MixingBuffer
from cg_pipeline.inference.reading_plan import TokenSequence
from cg_pipeline.inference.token_stream import StreamPosition, TokenStream
from cg_pipeline.specs import SaeTraining

_SHARDS_MIXED = 6
_SAMPLED_TOKENS = 50_000


@dataclass(frozen=True)
class Position:
    """Where a source is: small things that JSON can hold, and tensors."""

    place: dict[str, Any]
    tensors: dict[str, Tensor] = field(default_factory=dict[str, Tensor])


@runtime_checkable
class BatchSource(Protocol):
    """Batches of float32 states in main memory."""

    def sample(self) -> Float[Tensor, "n_tokens d_model"]:
        """Some of what is trained on, to centre and scale by; before the first pool."""
        ...

    def next_pool(self) -> Iterator[Float[Tensor, "batch d_model"]]:
        """The batches of the next pool; none when everything was handed out."""
        ...

    def position(self) -> Position:
        """Where the source is, between two pools."""
        ...

    def restore(self, position: Position) -> None:
        """Go on from there."""
        ...


class ShardBatches:
    """Batches without end from shards: each epoch takes them in a new order and mixes a few at a time."""

    def __init__(self, shards: Sequence[Path], training: SaeTraining) -> None:
        """Nothing is read yet."""
        self._shards, self._batch_tokens = shards, training.batch_tokens
        self._generator = torch.Generator().manual_seed(training.seed)
        self._order: list[int] = []

    def sample(self) -> Float[Tensor, "n_tokens d_model"]:
        """The last shard."""
        return load_shard(self._shards[-1]).float()

    def next_pool(self) -> Iterator[Float[Tensor, "batch d_model"]]:
        """The next few shards of the epoch; its last pool may be of fewer."""
        if not self._order:
            self._order = torch.randperm(len(self._shards), generator=self._generator).tolist()
        taken, self._order = self._order[:_SHARDS_MIXED], self._order[_SHARDS_MIXED:]
        pool = torch.cat([load_shard(self._shards[index]) for index in taken])
        size = min(self._batch_tokens, len(pool))
        order = torch.randperm(len(pool), generator=self._generator)
        for start in range(0, len(pool) - size + 1, size):
            yield pool[order[start : start + size]].float()

    def position(self) -> Position:
        """Which shards of this epoch are left, and the generator."""
        return Position({"order": self._order}, {"generator": self._generator.get_state()})

    def restore(self, position: Position) -> None:
        """Go on from there."""
        self._order = list(position.place["order"])
        self._generator.set_state(position.tensors["generator"])


class StreamedBatches:
    """Batches from a mixing buffer, which the model fills up again between two pools."""

    def __init__(
        self,
        stream: TokenStream,
        read: Callable[[Sequence[TokenSequence]], Iterator[Float[Tensor, "n_tokens d_model"]]],
        buffer: MixingBuffer,
        training: SaeTraining,
    ) -> None:
        """Nothing is read yet.

        Args:
            stream: what is read.
            read: states of the counted tokens of sequences, batch by batch.
            buffer: where they are held.
            training: settings.
        """
        self._stream, self._read, self._buffer, self._training = stream, read, buffer, training
        self._generator = torch.Generator().manual_seed(training.seed)

    def sample(self) -> Float[Tensor, "n_tokens d_model"]:
        """Some of the first buffer full."""
        self._fill()
        return self._buffer.held(_SAMPLED_TOKENS).float()

    def next_pool(self) -> Iterator[Float[Tensor, "batch d_model"]]:
        """All but the share that is kept, of a full buffer; everything once the stream is over."""
        self._fill()
        keep = 0 if self._stream.is_over else round(self._buffer.capacity * self._training.kept_share)
        yield from self._buffer.draw(self._training.batch_tokens, keep, self._generator)

    def position(self) -> Position:
        """The stream's position, the generator, and what the buffer holds."""
        tensors = {"generator": self._generator.get_state(), **self._buffer.snapshot()}
        return Position(json.loads(json.dumps(asdict(self._stream.position))), tensors)

    def restore(self, position: Position) -> None:
        """Go on from there; nothing is read twice."""
        self._stream.seek(StreamPosition(**position.place))
        self._generator.set_state(position.tensors["generator"])
        self._buffer.restore(position.tensors)

    def _fill(self) -> None:
        sequences = self._stream.take(self._buffer.capacity - self._buffer.n_held)
        for states in self._read(sequences) if sequences else ():
            self._buffer.put(states)
