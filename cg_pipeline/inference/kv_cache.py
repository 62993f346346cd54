"""What a model remembers of the rows it is generating for: keys and values of every token so far.

Why not transformers' own: it joins old and new with a copy of everything, at every layer and
every token, which costs a quarter of the time of a small model. Here new states are
written into room that was set aside for them.
"""

import inspect

from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from cg_pipeline.inference.models import LoadedModel

_ROOM_TOKENS = 64


def empty_cache(model: LoadedModel) -> DynamicCache:
    """A cache without tokens; layers that slide over a window, or keep a state, stay transformers' own."""
    cache = DynamicCache(config=model.module.config)
    cache.layers = [_RoomyLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache


def cache_argument(model: LoadedModel) -> str:
    """What the model calls its cache: the name is about to change in transformers, model by model."""
    known = inspect.signature(model.module.base_model.forward).parameters
    return "cache" if "cache" in known else "past_key_values"


class _RoomyLayer(DynamicLayer):
    """Keys and values of one layer as views of larger tensors, which are enlarged now and then."""

    def __init__(self) -> None:
        super().__init__()
        self._room: tuple[Tensor, Tensor] | None = None

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Write the new tokens' states after the old ones; all of them are returned."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        if self._room is None or end > self._room[0].shape[-2]:
            self._room = (
                _enlarged(self.keys, key_states, start, end + _ROOM_TOKENS),
                _enlarged(self.values, value_states, start, end + _ROOM_TOKENS),
            )
        self._room[0][..., start:end, :] = key_states
        self._room[1][..., start:end, :] = value_states
        self.keys, self.values = (room[..., :end, :] for room in self._room)
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep some rows, or repeat them."""
        super().batch_select_indices(indices)
        self._room = None


def _enlarged(old: Tensor | None, like: Tensor, n_used: int, n_tokens: int) -> Tensor:
    """Room for `n_tokens`, the first of them filled with what there was."""
    room = like.new_empty((*like.shape[:-2], n_tokens, like.shape[-1]))
    if n_used and old is not None:
        room[..., :n_used, :] = old
    return room
