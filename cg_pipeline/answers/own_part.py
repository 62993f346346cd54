"""The part of a generated text that is the model's answer to this question."""

import re
import unicodedata

_LATER_QUESTION = re.compile(r"\n[ \t#*]{0,8}(?:question|problem|exercise|q)[ \t]?\d{0,4}[:.]", re.IGNORECASE)
_THINKING = "<think>"
_THOUGHT = "</think>"
_KEPT = "\n\t\u200c\u200d"


def own_part(text: str) -> str:
    """The text after the model's reasoning and before a question that it goes on to ask itself.

    Reasoning is what ends with `</think>`; an unfinished one holds no answer. A base model that
    has answered often writes the next "Question: …" and answers that too; a question that opens
    the text is an echo of the prompt and stays.
    """
    said = _visible(without_reasoning(text)).strip()
    later = _LATER_QUESTION.search(said)
    return said[: later.start()].rstrip() if later else said


def without_reasoning(text: str) -> str:
    """The text after the model's reasoning, every character as it is: for judges and checkers of form."""
    after = text.rpartition(_THOUGHT)[2].strip()
    return "" if after.startswith(_THINKING) else after


def _visible(text: str) -> str:
    """Without control and format characters (NUL, bidirectional marks), which no answer consists of."""
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    return "".join(c for c in lines if c in _KEPT or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
