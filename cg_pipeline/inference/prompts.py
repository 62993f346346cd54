r"""From a prompt's text, or a prompt and its answer, to token ids, knowing which tokens are the text's own.

Why the text is never handed to the template: a benchmark may hold "<|im_end|>", and a
template has no quotes. Texts are put between what `chat_templates` says comes before
and after them; where the tokenizer would read part of a text as a special token, that
stretch is encoded with special tokens split into plain ones. For any other text the ids
are exactly those of `apply_chat_template(tokenize=True)`.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

import numpy as np
from jaxtyping import Bool, Int
from transformers import PreTrainedTokenizerBase

from cg_pipeline.inference.chat_templates import ChatFrame, chat_frame, special_ids
from cg_pipeline.specs import Model


@dataclass(frozen=True)
class RenderedPrompt:
    """Token ids of one prompt."""

    input_ids: Int[np.ndarray, " seq"]
    content_mask: Bool[np.ndarray, " seq"]
    """Tokens of the text itself: not of the template, not special."""
    special_mask: Bool[np.ndarray, " seq"]
    """BOS, turn markers and the like."""
    spans: Int[np.ndarray, "seq 2"]
    """Characters of the text that a content token covers: first, one past the last; (0, 0) elsewhere."""
    n_before: int = 0
    """First tokens that never count, whatever the mask: the question that an answer follows."""

    def without_tokens(self) -> "RenderedPrompt":
        """An empty prompt, for a text that is not to be read."""
        return RenderedPrompt(
            self.input_ids[:0], self.content_mask[:0], self.special_mask[:0], self.spans[:0]
        )

    def counted(self, token_mask: str) -> Bool[np.ndarray, " seq"]:
        """Which tokens a `token_mask` of an SAE spec counts."""
        if token_mask == "content":
            return self.content_mask
        after = np.arange(len(self.input_ids)) >= self.n_before
        return after & ~self.special_mask if token_mask == "no_special" else after


def render_prompt(
    tokenizer: PreTrainedTokenizerBase, model: Model, text: str, shots: Sequence[str] = ()
) -> RenderedPrompt:
    """Ids and masks of one prompt, whole: nothing is ever cut here.

    A chat model gets worked examples as earlier turns, the text as the user's last message, and the
    assistant's turn begun. Otherwise the worked examples come first, an answer after a space, a
    blank line after each; and there is exactly one BOS if the tokenizer adds one by itself, none
    otherwise. The masks and spans are about `text` alone.

    Args:
        tokenizer: the model's.
        model: its spec.
        text: what is asked.
        shots: question, answer, question, answer, and so on.

    Raises:
        ValueError: the model is a chat model and its tokenizer has no chat template, or a question of
            the worked examples has no answer.
    """
    if len(shots) % 2:
        raise ValueError(
            f"there are {len(shots)} texts of worked examples; expected question and answer in turn. "
            "Remove the last, or add its answer."
        )
    frame = chat_frame(tokenizer, model.system_prompt, len(shots) // 2) if model.chat else _plain_frame(shots)
    return _rendered(tokenizer, model, frame, (*shots, text))


def render_answer(
    tokenizer: PreTrainedTokenizerBase, model: Model, question: str, answer: str
) -> RenderedPrompt:
    """Ids and masks of an answer after its question, as the assistant's turn or after a space of raw text.

    The masks and spans are about the answer alone; none of the tokens before it ever counts.

    Args:
        tokenizer: the model's that reads, which may be another than the one that answered.
        model: its spec.
        question: what was asked.
        answer: what was answered; white space at its start stands for the space of raw text.

    Raises:
        ValueError: the model is a chat model and its tokenizer has no chat template.
    """
    if model.chat:
        asked = chat_frame(tokenizer, model.system_prompt)
        frame = ChatFrame((*asked.parts, ""), (*asked.trims, False))
    else:
        frame = ChatFrame(("", "" if answer[:1].isspace() else " ", ""), (False, False))
    found = _rendered(tokenizer, model, frame, (question, answer))
    own = found.content_mask
    return replace(found, n_before=int(own.argmax()) if own.any() else len(own))


def _rendered(
    tokenizer: PreTrainedTokenizerBase, model: Model, frame: ChatFrame, messages: Sequence[str]
) -> RenderedPrompt:
    """The messages in their frame; masks and spans are about the last one."""
    texts = [
        _encodable(text.strip() if trim else text) for text, trim in zip(messages, frame.trims, strict=True)
    ]
    ids, starts, ends = _encode(tokenizer, frame.parts, texts)
    start = sum(map(len, frame.parts[:-1])) + sum(map(len, texts[:-1]))
    if not model.chat and (bos := added_bos(tokenizer)) is not None:
        ids, starts, ends = [bos, *ids], [0, *starts], [0, *ends]
    spans = np.array([starts, ends], np.int64).T.reshape(-1, 2) - start
    offset = _encodable(messages[-1]).find(texts[-1])
    return _masked(tokenizer, np.asarray(ids, np.int64), spans, len(texts[-1]), offset)


def plain_ids(tokenizer: PreTrainedTokenizerBase, text: str) -> Int[np.ndarray, " seq"]:
    """Ids of a text by itself, without any special token."""
    options: Any = {"add_special_tokens": False, "split_special_tokens": True, "truncation": False}
    encoded: Any = tokenizer(_encodable(text), **options)
    return np.asarray(encoded["input_ids"], np.int64)


def _encodable(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which no tokenizer takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=16)
def added_bos(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """The BOS that the tokenizer puts before a text by itself, if it does."""
    first, bos = cast(Any, tokenizer("a")["input_ids"]), cast(Any, tokenizer.bos_token_id)
    return bos if first and first[0] == bos else None


def _plain_frame(shots: Sequence[str]) -> ChatFrame:
    return ChatFrame(("", *(" ", "\n\n") * (len(shots) // 2), ""), (False,) * (len(shots) + 1))


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
    tokenizer: PreTrainedTokenizerBase, parts: Sequence[str], texts: Sequence[str]
) -> tuple[list[int], list[int], list[int]]:
    """Ids with the characters each covers, the texts kept free of special tokens.

    Args:
        tokenizer: the model's.
        parts: what is trusted to hold special tokens: before, between and after the texts.
        texts: what is not.
    """
    laid = [piece for pair in zip(parts, (*texts, ""), strict=True) for piece in pair]
    edges = np.cumsum([0, *map(len, laid)]).tolist()
    whole = _encode_piece(tokenizer, "".join(laid), 0, split=False)
    inside = list(zip(edges[1::2], edges[2::2], strict=True))[:-1]
    special = special_ids(tokenizer)
    if not any(
        i in special and a < end and b > start
        for i, a, b in zip(*whole, strict=True)
        for start, end in inside
    ):
        return whole
    return _encode_stretches(tokenizer, "".join(laid), _stretches(tokenizer, parts, edges[::2], inside))


def _stretches(
    tokenizer: PreTrainedTokenizerBase,
    parts: Sequence[str],
    starts: Sequence[int],
    inside: Sequence[tuple[int, int]],
) -> list[tuple[int, int]]:
    """Each text with what surrounds it, as far as the nearest special tokens of the template.

    Args:
        tokenizer: the model's.
        parts: what the template writes.
        starts: where each part begins, and at last where everything ends.
        inside: where each text begins and ends.
    """
    special = special_ids(tokenizer)
    markers = [
        (a, b)
        for part, start in zip(parts, starts, strict=False)
        for i, a, b in zip(*_encode_piece(tokenizer, part, start, split=False), strict=True)
        if i in special
    ]
    found = {
        (
            max((b for _, b in markers if b <= start), default=0),
            min((a for a, _ in markers if a >= end), default=starts[-1]),
        )
        for start, end in inside
    }
    return sorted(found)


def _encode_stretches(
    tokenizer: PreTrainedTokenizerBase, whole: str, stretches: Sequence[tuple[int, int]]
) -> tuple[list[int], list[int], list[int]]:
    """Ids of it all: special tokens are split inside the stretches and whole outside of them."""
    cuts = [0, *(edge for stretch in stretches for edge in stretch), len(whole)]
    pieces = [
        _encode_piece(tokenizer, whole[start:end], start, split=bool(index % 2))
        for index, (start, end) in enumerate(itertools.pairwise(cuts))
    ]
    ids, starts, ends = ([value for piece in pieces for value in piece[column]] for column in range(3))
    return ids, starts, ends


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
