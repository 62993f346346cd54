r"""From a prompt's text to token ids, knowing which tokens are the text's own.

Why the text is never handed to the template: a benchmark may hold "<|im_end|>", and a
template has no quotes. The text is put between what `chat_templates` says comes before
and after it; where the tokenizer would read part of the text as a special token, that
stretch is encoded with special tokens split into plain ones. For any other text the ids
are exactly those of `apply_chat_template(tokenize=True)`.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from jaxtyping import Bool, Int
from transformers import PreTrainedTokenizerBase

from cg_pipeline.inference.chat_templates import ChatFrame, chat_frame, special_ids
from cg_pipeline.specs import Model


@dataclass(frozen=True)
class RenderedPrompt:
    """Token ids of one prompt, whole: nothing is ever cut."""

    input_ids: Int[np.ndarray, " seq"]
    content_mask: Bool[np.ndarray, " seq"]
    """Tokens of the text itself: not of the template, not special."""
    special_mask: Bool[np.ndarray, " seq"]
    """BOS, turn markers and the like."""
    spans: Int[np.ndarray, "seq 2"]
    """Characters of the text that a content token covers: first, one past the last; (0, 0) elsewhere."""

    def without_tokens(self) -> "RenderedPrompt":
        """An empty prompt, for a text that is not to be read."""
        return RenderedPrompt(
            self.input_ids[:0], self.content_mask[:0], self.special_mask[:0], self.spans[:0]
        )

    def counted(self, token_mask: str) -> Bool[np.ndarray, " seq"]:
        """Which tokens a `token_mask` of an SAE spec counts."""
        if token_mask == "content":
            return self.content_mask
        return ~self.special_mask if token_mask == "no_special" else np.ones_like(self.special_mask)


def render_prompt(tokenizer: PreTrainedTokenizerBase, model: Model, text: str) -> RenderedPrompt:
    """Ids and masks of one prompt: one user message of a chat ending at the assistant's turn, or raw text.

    Raw text starts with exactly one BOS if the tokenizer adds one by itself, with none otherwise.

    Raises:
        ValueError: the model is a chat model and its tokenizer has no chat template.
    """
    frame = chat_frame(tokenizer, model.system_prompt) if model.chat else ChatFrame("", "", False)
    content = text.strip() if frame.trims else text
    ids, starts, ends = _encode(tokenizer, frame.head, content, frame.tail)
    if not model.chat and (bos := _added_bos(tokenizer)) is not None:
        ids, starts, ends = [bos, *ids], [0, *starts], [0, *ends]
    spans = np.array([starts, ends], np.int64).T.reshape(-1, 2) - len(frame.head)
    return _masked(tokenizer, np.asarray(ids, np.int64), spans, len(content), text.find(content))


def _masked(
    tokenizer: PreTrainedTokenizerBase,
    ids: Int[np.ndarray, " seq"],
    spans: Int[np.ndarray, "seq 2"],
    length: int,
    offset: int,
) -> RenderedPrompt:
    """Masks from spans counted from the content's first character, which is `offset` into the text."""
    special = np.isin(ids, list(special_ids(tokenizer)))
    content = (spans[:, 0] < length) & (spans[:, 1] > 0) & ~special
    covered = np.where(content[:, None], spans.clip(0, length) + offset, 0)
    return RenderedPrompt(ids, content, special, covered)


def _encode(
    tokenizer: PreTrainedTokenizerBase, head: str, text: str, tail: str
) -> tuple[list[int], list[int], list[int]]:
    """Ids with the characters each covers, the text kept free of special tokens."""
    whole = _encode_piece(tokenizer, head + text + tail, 0, split=False)
    end = len(head) + len(text)
    special = special_ids(tokenizer)
    if not any(i in special and a < end and b > len(head) for i, a, b in zip(*whole, strict=True)):
        return whole
    before, after = _nearest_markers(tokenizer, head, tail)
    pieces = (
        _encode_piece(tokenizer, head[:before], 0, split=False),
        _encode_piece(tokenizer, head[before:] + text + tail[:after], before, split=True),
        _encode_piece(tokenizer, tail[after:], end + after, split=False),
    )
    ids, starts, ends = ([value for piece in pieces for value in piece[column]] for column in range(3))
    return ids, starts, ends


def _nearest_markers(tokenizer: PreTrainedTokenizerBase, head: str, tail: str) -> tuple[int, int]:
    """Where the head's last special token ends and the tail's first one begins."""
    special = special_ids(tokenizer)
    in_head = [
        b for i, _, b in zip(*_encode_piece(tokenizer, head, 0, split=False), strict=True) if i in special
    ]
    in_tail = [
        a for i, a, _ in zip(*_encode_piece(tokenizer, tail, 0, split=False), strict=True) if i in special
    ]
    return (in_head[-1] if in_head else 0), (in_tail[0] if in_tail else len(tail))


def _encode_piece(
    tokenizer: PreTrainedTokenizerBase, text: str, offset: int, *, split: bool
) -> tuple[list[int], list[int], list[int]]:
    """Ids of a stretch with their first and last characters, counted from `offset`.

    A tokenizer may leave white space out of a token's offsets; it is given back here, so that
    a token of nothing but white space covers something.
    """
    encoded: Any = tokenizer(
        text,
        add_special_tokens=False,
        return_offsets_mapping=True,
        split_special_tokens=split,
        truncation=False,
    )
    ends = [offset + end for _, end in encoded["offset_mapping"]]
    previous = [offset, *ends[:-1]]
    starts = [
        min(offset + start, last)
        for (start, _), last in zip(encoded["offset_mapping"], previous, strict=False)
    ]
    return list(encoded["input_ids"]), starts, ends


def _added_bos(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """The BOS that the tokenizer puts before a text by itself, if it does."""
    first, bos = cast(Any, tokenizer("a")["input_ids"]), cast(Any, tokenizer.bos_token_id)
    return bos if first and first[0] == bos else None
