"""Whether an answer has reached one of the texts before which it ends.

A stop text may lie across several tokens, or end in the middle of one, so it is looked for
in text, not in ids: in the last few tokens first, then in the whole answer.
"""

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

_MORE_TOKENS = 8
"""Looked at beyond the stop text's bytes: a token may be a part of a character, or write nothing."""


def answer_text(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """The text of generated ids, without special tokens."""
    text = str(tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))
    return text.replace("\0", "\ufffd")  # byte-level tokens can spell NUL, which no database keeps


def stops_here(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int], stop: Sequence[str]) -> bool:
    """Whether one of the texts has just been written."""
    window = max((len(text.encode()) for text in stop), default=0) + _MORE_TOKENS
    if not stop or not _found(answer_text(tokenizer, ids[-window:]), stop):
        return False
    return _found(answer_text(tokenizer, ids), stop)


def cut_before(text: str, stop: Sequence[str]) -> str:
    """The text up to where the first of the stop texts begins."""
    places = [place for each in stop if (place := text.find(each)) >= 0]
    return text[: min(places)] if places else text


def _found(text: str, stop: Sequence[str]) -> bool:
    return any(each in text for each in stop)
