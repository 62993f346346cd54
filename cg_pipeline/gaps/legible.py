"""Text that others wrote, made safe to read (nothing invisible, nothing endless, no Markdown), and numbers.

HTML is escaped by the template engine; here is what an engine does not know.
"""

import math
import re
import unicodedata

ELLIPSIS = "…"

NO_NUMBER = "–"
"""Shown where there is none."""

_JOINERS = "\u200c\u200d"
"""Zero-width joiners are letters' business in several scripts and in emoji: they stay."""

_BREAK = re.compile(r"\r\n?|[\n\x0b\x0c\x85\u2028\u2029]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&])")
_LINK = re.compile(r"(?i)(https?|ftp|mailto|www)(:|\.)")
_BLOCK = re.compile(r"^(#{1,6}(?=\s|$)|[-+=](?=[\s\-+=]|$)|\d{1,9}(?=[.)](\s|$)))")


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


def cut_at_word(text: str, length: int) -> str:
    """`shorten(text, length)` that ends with a whole word, unless too little were left of it."""
    short = shorten(text, length)
    kept = short.removesuffix(ELLIPSIS)
    whole = visible(text[: 4 * length + 40])
    if short == whole or not short.endswith(ELLIPSIS):
        return short
    if whole[len(kept) : len(kept) + 1] != " ":
        kept = kept.rpartition(" ")[0]
    if len(kept) < length / 2:
        return short
    closing = "”" if kept.count("“") > kept.count("”") and len(kept) < length - 1 else ""
    return kept.rstrip(" ,;:") + ELLIPSIS + closing


def escape_markdown(text: str) -> str:
    """`visible(text)` that Markdown shows as it stands: no mark-up, link, table cell, HTML or list."""
    escaped = _MARKDOWN.sub(r"\\\1", visible(text))
    escaped = _LINK.sub(r"\1\\\2", escaped)
    return _BLOCK.sub(lambda match: match[0] + "\\" if match[0][0].isdigit() else "\\" + match[0], escaped)


def decimal(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits, with more for one too small to be seen; – where there is none."""
    if value is None or math.isnan(value):
        return NO_NUMBER
    if value and abs(value) < 0.5 * 10**-digits:
        return f"{value:.2g}".replace("-", "−")
    return f"{value:,.{digits}f}".replace("-", "−")


def significant(value: float | None, digits: int = 3) -> str:
    """A number of any size with so many significant digits, whole above these; – where there is none."""
    if value is None or not math.isfinite(value):
        return NO_NUMBER
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")  # rounded: 9.996 is 10.0
    places = digits - 1 - int(exponent)
    shown = f"{value:,.{max(places, 0)}f}" if places <= 9 else f"{mantissa}e{exponent}"
    return shown.replace("-", "−")


def signed(value: float | None) -> str:
    """A difference with its sign, which one that rounds to nothing has not; – where there is none."""
    if value is None or math.isnan(value):
        return NO_NUMBER
    return "0.00" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")


def percent(share: float | None) -> str:
    """A share as people read it; – where there is none."""
    if share is None or math.isnan(share):
        return NO_NUMBER
    return f"{significant(100 * share, 2)}%" if 0 < share < 0.00995 else f"{100 * share:.1f}%"


def exact_percent(share: float) -> str:
    """A setting as it was set: 0.1 is 10%."""
    return f"{100 * share:g}%"


def counted(n: int, noun: str) -> str:
    """A count with its noun: 1 example, 1,200 examples."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
