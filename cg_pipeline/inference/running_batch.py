"""Rows that a causal language model goes on writing, one token each at a time.

Prompts are padded on the left, where the attention mask hides the padding and positions
start at the first real token, so that a batch answers as each prompt alone would. What all
prompts begin with (worked examples, a system message) is read once, and so is a prompt
that several answers go on from. Rows that are done leave the batch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from cg_pipeline.inference.batching import filled, pad_left
from cg_pipeline.inference.kv_cache import cache_argument, empty_cache
from cg_pipeline.inference.likelihood import head_logits
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import n_shared

_LEAST_SHARED = 16
"""A shorter common beginning is not worth a forward pass of its own."""


class RunningBatch:
    """A batch after its prompts have been read; `logits` are about each row's next token."""

    logits: Float[Tensor, "batch vocab"]

    def __init__(self, model: LoadedModel, prompts: Sequence[Int[np.ndarray, " _"]]) -> None:
        """Read the prompts, each different one once."""
        self._model = model
        self._cache = empty_cache(model)
        self._mask = torch.ones(1, 0, dtype=torch.long, device=model.device)
        self._positions = torch.zeros(1, dtype=torch.long, device=model.device)
        different = list({prompt.tobytes(): prompt for prompt in prompts}.values())
        place = {prompt.tobytes(): index for index, prompt in enumerate(different)}
        start = _n_beginning(different)
        if start:
            self._read(different[:1], 0, start)
            self.keep([0] * len(different))
        self._read(different, start, None)
        self.keep([place[prompt.tobytes()] for prompt in prompts])

    def feed(self, tokens: Int[Tensor, " batch"]) -> None:
        """Append one token to each row."""
        self._positions = self._positions + 1
        self._forward(tokens[:, None], torch.ones_like(tokens)[:, None], self._positions[:, None])

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with some of the rows; a row may be kept several times."""
        if list(rows) == list(range(len(self._mask))):
            return
        chosen = torch.tensor(rows, device=self._model.device)
        self._cache.batch_select_indices(chosen)
        self._mask, self._positions = self._mask[chosen], self._positions[chosen]
        self.logits = self.logits[chosen]

    def _read(self, prompts: Sequence[Int[np.ndarray, " _"]], start: int, end: int | None) -> None:
        parts = [prompt[start:end] for prompt in prompts]
        mask = filled([len(part) for part in parts], left=True).long().to(self._model.device)
        positions = (start + mask.cumsum(-1) - 1).clamp(min=0)
        self._positions = positions[:, -1]
        self._forward(pad_left(parts, 0).to(self._model.device), mask, positions)

    def _forward(
        self,
        ids: Int[Tensor, "batch new"],
        mask: Int[Tensor, "batch new"],
        positions: Int[Tensor, "batch new"],
    ) -> None:
        self._mask = torch.cat([self._mask.expand(len(ids), -1), mask], dim=-1)
        module: Any = self._model.module.base_model
        outputs = module(
            input_ids=ids,
            attention_mask=self._mask,
            position_ids=positions,
            use_cache=True,
            **{cache_argument(self._model): self._cache},
        )
        self.logits = head_logits(self._model, outputs.last_hidden_state[:, -1])


def _n_beginning(prompts: Sequence[Int[np.ndarray, " _"]]) -> int:
    """Tokens that all prompts begin with, if it pays to read them apart; one is left to every prompt."""
    first = prompts[0]
    shared = min(len(prompt) for prompt in prompts) - 1
    for prompt in prompts[1:]:
        shared = min(shared, n_shared(first, prompt))
    return shared if len(prompts) > 1 and shared >= _LEAST_SHARED else 0
