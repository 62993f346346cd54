"""Log-likelihood of every text of every example: rows made, put into batches, and taken apart again."""

from collections.abc import Sequence

import torch

from cg_pipeline.inference.batching import enough_tokens, map_in_batches, run_if_it_fits
from cg_pipeline.inference.likelihood import text_logprobs
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import Continued, PackedRow, group_by_beginning, pack
from cg_pipeline.inference.room import memory_of
from cg_pipeline.progress import Advance

Texts = Sequence[Continued]
"""What is scored for one example."""


def example_logprobs(
    model: LoadedModel, examples: Sequence[Texts], batch_tokens: int, advance: Advance
) -> list[tuple[float, ...]]:
    """Of every text of every example, in their order; examples that begin alike share a row.

    Args:
        model: who reads.
        examples: the texts of each.
        batch_tokens: most tokens of a batch, padding included; of the first one where memory is measured.
        advance: told of examples and tokens that have been read.

    Raises:
        MemoryError: one example alone does not fit on the device.
    """
    groups = group_by_beginning(examples, batch_tokens)
    members = [[examples[index] for index in group] for group in groups]
    lengths = [len(_row(some).input_ids) for some in members]

    def run(batch: list[int]) -> list[list[tuple[float, ...]]]:
        some = [members[place] for place in batch]
        found = _read_together(model, some) if len(some) > 1 else [_read_alone(model, some[0])]
        advance(sum(map(len, some)), sum(lengths[place] for place in batch))
        return found

    found = map_in_batches(run, lengths, batch_tokens, enough_tokens(model.device), memory_of(model.device))
    by_index = {
        index: logprobs
        for group, parts in zip(groups, found, strict=True)
        for index, logprobs in zip(group, parts, strict=True)
    }
    return [by_index[index] for index in range(len(examples))]


def _read_together(model: LoadedModel, rows: Sequence[Sequence[Texts]]) -> list[list[tuple[float, ...]]]:
    """One batch: for each row, for each of its examples, the log-likelihoods."""
    found = text_logprobs(model, [_row(members) for members in rows])
    return [_parted(logprobs, members) for logprobs, members in zip(found, rows, strict=True)]


def _read_alone(model: LoadedModel, members: Sequence[Texts]) -> list[tuple[float, ...]]:
    """One row as a batch of its own, halved as long as the device has no memory for it."""
    found = run_if_it_fits(lambda _: _read_together(model, [members]), [0])
    if found is not None:
        return found[0]
    if len(members) == 1:
        raise torch.OutOfMemoryError("one example alone")
    middle = len(members) // 2
    return _read_alone(model, members[:middle]) + _read_alone(model, members[middle:])


def _row(members: Sequence[Texts]) -> PackedRow:
    return pack([text for texts in members for text in texts])


def _parted(logprobs: tuple[float, ...], members: Sequence[Texts]) -> list[tuple[float, ...]]:
    rest = iter(logprobs)
    return [tuple(next(rest) for _ in texts) for texts in members]
