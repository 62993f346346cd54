"""Text that others wrote, made safe to read: nothing invisible, nothing endless, no Markdown.

HTML is escaped by the template engine; here is what an engine does not know.
"""

import re
import unicodedata

ELLIPSIS = "…"

_JOINERS = "\u200c\u200d"
"""Zero-width joiners are letters' business in several scripts and in emoji: they stay."""

_BREAK = re.compile(r"\r\n?|[\n\x0b\x0c\x85\u2028\u2029]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_LINK = re.compile(r"(?i)(https?|ftp|mailto|www)(:|\.)")
_BLOCK = re.compile(r"^(#{1,6}(?=\s|$)|[-+=](?=[\s\-+=]|$)|\d{1,9}(?=[.)]))")


def visible(text: str) -> str:
    """One line in which every control, direction mark, stray surrogate and odd space can be seen.

    Line breaks become ⏎, other invisible characters their code point as ⟨U+202E⟩.
    """
    return " ".join("".join(_shown(char) for char in _BREAK.sub(" ⏎ ", text)).split())


def _shown(char: str) -> str:
    category = unicodedata.category(char)
    if char == "\t":
        return " "
    if category in {"Cc", "Cs"} or (category == "Cf" and char not in _JOINERS):
        return f"⟨U+{ord(char):04X}⟩"
    return char


def shorten(text: str, length: int) -> str:
    """`visible(text)` of at most `length` characters, the last one an ellipsis where something was cut."""
    head = visible(text[: 4 * length + 40])
    if len(head) <= length and len(text) <= 4 * length + 40:
        return head
    cut = head[: length - 1]
    while cut and len(cut) < len(head) and unicodedata.combining(head[len(cut)]):
        cut = cut[:-1]  # a letter keeps its accents or goes with them
    return cut.rstrip() + ELLIPSIS


def escape_markdown(text: str) -> str:
    """`visible(text)` that CommonMark and GitHub show as it stands: no mark-up, link, table cell, HTML or list."""
    escaped = _MARKDOWN.sub(r"\\\1", visible(text))
    escaped = _LINK.sub(r"\1\\\2", escaped)
    return _BLOCK.sub(lambda match: match[0] + "\\" if match[0][0].isdigit() else "\\" + match[0], escaped)
