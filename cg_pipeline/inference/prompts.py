r"""From a prompt's text to token ids, knowing which tokens are the text's own.

Why the text is never handed to the template: a benchmark may hold "<|im_end|>", and a
template has no quotes. The template is rendered once around a placeholder; the text then
takes the placeholder's place, and where the tokenizer would read part of the text as a
special token, that stretch is encoded with special tokens split into plain ones. For any
other text the ids are exactly those of `apply_chat_template(tokenize=True)`.

Why an empty system prompt may still show a system block: SmolLM2's and Qwen2.5's templates
add a system message of their own when none is given. An explicit empty one is the only
override that a template offers; it leaves `<|im_start|>system\n<|im_end|>\n`, a block
without text. Templates that add nothing get no system message at all.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from transformers import PreTrainedTokenizerBase

from cg_pipeline.specs import Model

_PLACEHOLDER = "\ue000text\ue000"
_SYSTEM_PLACEHOLDER = "\ue000system\ue000"
_TEMPLATE_SETTINGS = {"date_string": "26 Jul 2024", "enable_thinking": False}
"""Fixed, since some templates (Llama 3.2) print today's date, and some (Qwen 3) open a thinking block."""


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


@dataclass(frozen=True)
class _Frame:
    """What a rendered prompt has before and after the text."""

    head: str
    tail: str
    trims: bool
    """Whether the template strips white space around a message."""


def render_prompt(tokenizer: PreTrainedTokenizerBase, model: Model, text: str) -> RenderedPrompt:
    """Ids and masks of one prompt: one user message of a chat ending at the assistant's turn, or raw text.

    Raw text starts with exactly one BOS if the tokenizer adds one by itself, with none otherwise.

    Raises:
        ValueError: the model is a chat model and its tokenizer has no chat template.
    """
    frame = _chat_frame(tokenizer, model.system_prompt) if model.chat else _Frame("", "", False)
    content = text.strip() if frame.trims else text
    ids, starts, ends = _encode(tokenizer, frame.head, content, frame.tail)
    if not model.chat and (bos := _added_bos(tokenizer)) is not None:
        ids, starts, ends = [bos, *ids], [0, *starts], [0, *ends]
    spans = np.array([starts, ends], np.int64).T.reshape(-1, 2) - len(frame.head)
    return _masked(tokenizer, np.asarray(ids, np.int64), spans, len(content), text.find(content))


@lru_cache(maxsize=16)
def special_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Ids of every token flagged special, beyond the few that carry a role."""
    flagged = (token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special)
    return frozenset((*flagged, *tokenizer.all_special_ids))


@lru_cache(maxsize=16)
def end_of_turn(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """The special token that the chat template writes after an assistant's message, if it writes one."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": _PLACEHOLDER}]
    rendered = str(tokenizer.apply_chat_template(messages, tokenize=False, **_TEMPLATE_SETTINGS))
    after = rendered.partition(_PLACEHOLDER)[2].lstrip()
    ids, _, _ = _encode_piece(tokenizer, after, 0, split=False)
    return ids[0] if ids and ids[0] in special_ids(tokenizer) else None


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
    first: Any = tokenizer("a")["input_ids"]
    return tokenizer.bos_token_id if first and first[0] == tokenizer.bos_token_id else None


@lru_cache(maxsize=16)
def _chat_frame(tokenizer: PreTrainedTokenizerBase, system_prompt: str) -> _Frame:
    if not tokenizer.chat_template:
        raise ValueError(
            f"Tokenizer {tokenizer.name_or_path!r} has no chat template; expected one, since the model's "
            "spec says chat=True. Set chat=False, or use the weights of the instruction-tuned model."
        )
    system = system_prompt if system_prompt or _adds_system_text(tokenizer) else None
    rendered = _render(tokenizer, f" {_PLACEHOLDER} ", system)
    trims = f" {_PLACEHOLDER} " not in rendered
    head, tail = rendered.split(_PLACEHOLDER if trims else f" {_PLACEHOLDER} ")
    return _Frame(head, tail, trims)


def _adds_system_text(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether the template writes a system message of its own when the chat has none."""
    try:
        given = _render(tokenizer, _PLACEHOLDER, _SYSTEM_PLACEHOLDER)
    except Exception:  # a template refuses a system role by raising whatever it likes; then it adds none
        return False
    before, found, after = given.partition(_SYSTEM_PLACEHOLDER)
    bare = _render(tokenizer, _PLACEHOLDER, None)
    return bool(found) and bare != before + after and bare.startswith(before) and bare.endswith(after)


def _render(tokenizer: PreTrainedTokenizerBase, user: str, system: str | None) -> str:
    opening = [] if system is None else [{"role": "system", "content": system}]
    messages = [*opening, {"role": "user", "content": user}]
    return str(
        tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, **_TEMPLATE_SETTINGS
        )
    )
