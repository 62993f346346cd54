"""Prompts as padded batches that know of each token what kind it is and whether it counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from cg_pipeline.health_records import PLACES
from cg_pipeline.inference.batching import enough_tokens, filled, next_batch, pad_right
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import RenderedPrompt

CONTENT, FIRST, TEMPLATE, BOS = (PLACES.index(name) for name in ("content", "first", "template", "bos"))

Row = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Token ids, which tokens count, and the kind of each, of one prompt."""


@dataclass(frozen=True, kw_only=True)
class PromptBatch:
    """Some prompts, padded on the right."""

    rows: tuple[Row, ...]
    input_ids: Int[Tensor, "batch seq"]
    kept: Bool[Tensor, "batch seq"]
    """Which tokens are no padding."""
    counts: Bool[Tensor, "batch seq"]
    """Which tokens count."""
    places: Int[Tensor, "batch seq"]
    """Kind of each token, as an index in `PLACES`."""

    @property
    def predicted(self) -> Bool[Tensor, "batch seq"]:
        """Content tokens that follow one: what they cost tells what the state before them was worth."""
        own = self.kept & ((self.places == CONTENT) | (self.places == FIRST))
        after = torch.zeros_like(own)
        after[:, 1:] = own[:, :-1]
        return own & after

    @property
    def n_bos(self) -> int:
        """BOS tokens at the start of a prompt, at most."""
        return max((int((places == BOS).sum()) for _, _, places in self.rows), default=0)


def prompt_row(prompt: RenderedPrompt, bos: int | None, token_mask: str) -> Row:
    """One prompt, each token with its kind."""
    ids, content = prompt.input_ids, prompt.content_mask
    places = np.where(content, CONTENT, TEMPLATE)
    if content.any():
        places[int(content.argmax())] = FIRST
    leading = (ids == bos).cumprod().astype(bool) & ~content
    return ids, prompt.counted(token_mask), np.where(leading, BOS, places)


def padded(rows: Sequence[Row], device: torch.device) -> PromptBatch:
    """The rows as one batch on the device."""
    ids, counts, places = zip(*rows, strict=True)
    return PromptBatch(
        rows=tuple(rows),
        input_ids=pad_right(ids, 0).to(device),
        kept=filled([len(each) for each in ids]).to(device),
        counts=pad_right([each.astype(np.int64) for each in counts], 0).bool().to(device),
        places=pad_right(places, TEMPLATE).to(device),
    )


def batches_of(rows: Sequence[Row], batch_tokens: int, device: torch.device) -> Iterator[PromptBatch]:
    """Rows of like length together, longest first; those without a token are left out.

    Args:
        rows: the prompts.
        batch_tokens: most tokens of a batch, padding included; a longer row goes alone.
        device: where the batches are to lie.
    """
    lengths = [len(ids) for ids, _, _ in rows]
    waiting = sorted((i for i in range(len(rows)) if lengths[i]), key=lambda i: -lengths[i])
    while waiting:
        batch = next_batch(waiting, lengths, batch_tokens, enough_tokens(device) or batch_tokens)
        yield padded([rows[i] for i in batch], device)
        waiting = waiting[len(batch) :]


def bos_of(reader: LoadedModel) -> int | None:
    """The model's BOS token, if it has one."""
    found = reader.tokenizer.bos_token_id
    return found if isinstance(found, int) else None
