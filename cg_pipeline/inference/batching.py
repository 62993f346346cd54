"""Batches of similar length, bounded in tokens, so that memory does not grow with the number of texts.

Longest first: a batch that does not fit shows it at once, and what the first one took says how
large the others may be (`room`). When the device runs out of memory all the same, the token
budget is halved for all that is left; what is finished stays finished. On a CPU the budget given
is what bounds memory.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from cg_pipeline.inference.room import Memory, tokens_that_fit

R = TypeVar("R")


def map_in_batches(
    run: Callable[[list[int]], Sequence[R]],
    lengths: Sequence[int],
    batch_tokens: int,
    enough_tokens: int | None = None,
    memory: Memory | None = None,
) -> list[R]:
    """What `run` returns for each item, in the order of the items.

    Args:
        run: from the indices of one batch to one result per index.
        lengths: padded tokens that each item needs when alone.
        batch_tokens: most tokens of a batch, padding included; an item longer than that goes alone.
            Where there is a `memory`, of the first batch.
        enough_tokens: a batch of so many tokens takes no more items that would be padded by a tenth
            or more; None for as many items as there is room for.
        memory: what later batches may take, once it is known what the first one took; None for no more
            than `batch_tokens`.

    Raises:
        MemoryError: one item alone does not fit on the device.
    """
    waiting = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    results: dict[int, R] = {}
    while waiting:
        batch = next_batch(waiting, lengths, batch_tokens, enough_tokens or batch_tokens)
        if memory:
            memory.watch()
        answers = run_if_it_fits(run, batch)
        if answers is not None:
            results.update(zip(batch, answers, strict=True))
            waiting = waiting[len(batch) :]
            if memory:
                batch_tokens = max(batch_tokens, tokens_that_fit(memory, len(batch) * lengths[batch[0]]))
                memory = None  # measured once, on the longest
        elif len(batch) > 1:
            batch_tokens, memory = len(batch) * lengths[batch[0]] // 2, None
        else:
            raise MemoryError(
                f"A text of {lengths[batch[0]]} tokens does not fit on the device by itself; "
                "expected it to fit. Lower the model's max_tokens, or use a device with more memory."
            )
    return [results[index] for index in range(len(lengths))]


def next_batch(
    waiting: list[int], lengths: Sequence[int], batch_tokens: int, enough_tokens: int
) -> list[int]:
    """The longest waiting items that fit: all of them are padded to the first.

    Args:
        waiting: indices of the items, the longest first.
        lengths: of all items.
        batch_tokens: most tokens of a batch, padding included; a longer item goes alone.
        enough_tokens: from so many on, none is taken that would be padded by a tenth or more.
    """
    longest = max(1, lengths[waiting[0]])
    size = min(max(1, batch_tokens // longest), len(waiting))
    first = max(1, -(-enough_tokens // longest))
    padded = (n for n in range(first, size) if lengths[waiting[n]] < 0.9 * longest)
    return waiting[: next(padded, size)]


def pad_right(rows: Sequence[Int[np.ndarray, " _"]], fill: int) -> Int[Tensor, "batch seq"]:
    """Rows of ids as one tensor on the CPU, filled up on the right."""
    width = max(map(len, rows))
    return torch.from_numpy(
        np.stack([np.pad(row, (0, width - len(row)), constant_values=fill) for row in rows])
    )


def pad_left(rows: Sequence[Int[np.ndarray, " _"]], fill: int) -> Int[Tensor, "batch seq"]:
    """Rows of ids as one tensor on the CPU, filled up on the left."""
    return pad_right([row[::-1] for row in rows], fill).flip(-1)


def filled(lengths: Sequence[int], *, left: bool = False) -> Bool[Tensor, "batch seq"]:
    """Which places of a padded batch hold tokens."""
    mask = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    return mask.flip(-1) if left else mask


def enough_tokens(device: torch.device) -> int | None:
    """Tokens that keep a device busy: a CPU works no faster on a large batch, so padding is pure loss."""
    return 512 if device.type == "cpu" else None


def run_if_it_fits(run: Callable[[list[int]], Sequence[R]], batch: list[int]) -> Sequence[R] | None:
    """What `run` returns, or None when the device has no memory for it."""
    try:
        return run(batch)
    except torch.OutOfMemoryError:
        pass  # cleared below, once the failed frames and their tensors are gone
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None
