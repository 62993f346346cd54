r"""What a tokenizer's chat template writes around the messages of a chat.

The template is rendered once around placeholders, and never sees a text.

Why an empty system prompt may still show a system block: SmolLM2's and Qwen2.5's templates
add a system message of their own when none is given. An explicit empty one is the only
override that a template offers; it leaves `<|im_start|>system\n<|im_end|>\n`, a block
without text. Templates that add nothing get no system message at all.
"""

import itertools
from collections.abc import Sequence
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
    """What a rendered chat has before, between and after the texts of its messages."""

    parts: tuple[str, ...]
    """One more than there are messages."""
    trims: tuple[bool, ...]
    """For each message whether the template strips white space around it."""

    @property
    def head(self) -> str:
        """What comes before the first message's text."""
        return self.parts[0]

    @property
    def tail(self) -> str:
        """What comes after the last message's text."""
        return self.parts[-1]


@lru_cache(maxsize=64)
def chat_frame(tokenizer: PreTrainedTokenizerBase, system_prompt: str, n_earlier: int = 0) -> ChatFrame:
    """The frame of a chat that ends where the assistant's next turn begins.

    Args:
        tokenizer: whose template is rendered.
        system_prompt: the system message; empty for none.
        n_earlier: questions asked and answered before the last one.

    Raises:
        ValueError: the tokenizer has no chat template, or one that does not write every message once.
    """
    if not tokenizer.chat_template:
        raise ValueError(
            f"Tokenizer {tokenizer.name_or_path!r} has no chat template; expected one, since the model's "
            "spec says chat=True. Set chat=False, or use the weights of the instruction-tuned model."
        )
    system = system_prompt if system_prompt or _adds_system_text(tokenizer) else None
    names = [f"{_PLACEHOLDER}{index}\ue001" for index in range(2 * n_earlier + 1)]
    rendered = _render(tokenizer, [f" {name} " for name in names], system)
    for name, role in zip(names, itertools.cycle(("user", "assistant"))):
        if rendered.count(name) != 1:
            written = rendered.count(name)
            raise ValueError(
                f"The chat template of {tokenizer.name_or_path!r} writes a message of the {role} "
                f"{written} times; expected once. Set chat=False in the model's spec."
            )
    trims = tuple(f" {name} " not in rendered for name in names)
    parts: list[str] = []
    for name, trim in zip(names, trims, strict=True):
        before, rendered = rendered.split(name if trim else f" {name} ")
        parts.append(before)
    return ChatFrame((*parts, rendered), trims)


def _adds_system_text(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether the template writes a system message of its own when the chat has none."""
    try:
        given = _render(tokenizer, [_PLACEHOLDER], _SYSTEM_PLACEHOLDER)
    except Exception:  # a template refuses a system role by raising whatever it likes; then it adds none
        return False
    before, found, after = given.partition(_SYSTEM_PLACEHOLDER)
    bare = _render(tokenizer, [_PLACEHOLDER], None)
    return bool(found) and bare != before + after and bare.startswith(before) and bare.endswith(after)


def _render(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], system: str | None) -> str:
    """A chat whose messages are by the user and the assistant in turn."""
    messages = [] if system is None else [{"role": "system", "content": system}]
    for index, text in enumerate(texts):
        messages.append({"role": "assistant" if index % 2 else "user", "content": text})
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
