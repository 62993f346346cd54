r"""What a tokenizer's chat template writes around a user's message.

The template is rendered once around a placeholder, and never sees a text.

Why an empty system prompt may still show a system block: SmolLM2's and Qwen2.5's templates
add a system message of their own when none is given. An explicit empty one is the only
override that a template offers; it leaves `<|im_start|>system\n<|im_end|>\n`, a block
without text. Templates that add nothing get no system message at all.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from transformers import PreTrainedTokenizerBase

_PLACEHOLDER = "\ue000text\ue000"
_SYSTEM_PLACEHOLDER = "\ue000system\ue000"
_TEMPLATE_SETTINGS = {"date_string": "26 Jul 2024", "enable_thinking": False}
"""Fixed, since some templates (Llama 3.2) print today's date, and some (Qwen 3) open a thinking block."""


@dataclass(frozen=True)
class ChatFrame:
    """What a rendered prompt has before and after the text of one user message."""

    head: str
    tail: str
    trims: bool
    """Whether the template strips white space around a message."""


@lru_cache(maxsize=16)
def chat_frame(tokenizer: PreTrainedTokenizerBase, system_prompt: str) -> ChatFrame:
    """The frame of a chat of one user message that ends where the assistant's turn begins.

    Raises:
        ValueError: the tokenizer has no chat template, or one that does not write the message once.
    """
    if not tokenizer.chat_template:
        raise ValueError(
            f"Tokenizer {tokenizer.name_or_path!r} has no chat template; expected one, since the model's "
            "spec says chat=True. Set chat=False, or use the weights of the instruction-tuned model."
        )
    system = system_prompt if system_prompt or _adds_system_text(tokenizer) else None
    rendered = _render(tokenizer, f" {_PLACEHOLDER} ", system)
    if rendered.count(_PLACEHOLDER) != 1:
        raise ValueError(
            f"The chat template of {tokenizer.name_or_path!r} writes a user's message "
            f"{rendered.count(_PLACEHOLDER)} times; expected once. Set chat=False in the model's spec."
        )
    trims = f" {_PLACEHOLDER} " not in rendered
    head, tail = rendered.split(_PLACEHOLDER if trims else f" {_PLACEHOLDER} ")
    return ChatFrame(head, tail, trims)


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


@lru_cache(maxsize=16)
def end_of_turn(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """The special token that the chat template writes after an assistant's message, if it writes one."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": _PLACEHOLDER}]
    rendered = str(tokenizer.apply_chat_template(messages, tokenize=False, **_TEMPLATE_SETTINGS))
    after = rendered.partition(_PLACEHOLDER)[2].lstrip()
    encoded: Any = tokenizer(after, add_special_tokens=False)
    ids = encoded["input_ids"]
    return ids[0] if ids and ids[0] in special_ids(tokenizer) else None


@lru_cache(maxsize=16)
def special_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Ids of every token flagged special, beyond the few that carry a role."""
    flagged = (token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special)
    return frozenset((*flagged, *tokenizer.all_special_ids))
