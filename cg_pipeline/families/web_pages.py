"""Texts out of web pages: markers such as [title] and [edit] that they left behind."""

import re

_MARKER = re.compile(r"\[.*?\]")


def without_markers(text: str) -> str:
    """A text without the markers of web pages, such as [header]; a [title] ends a sentence."""
    text = _MARKER.sub("", text.strip().replace(" [title]", ". "))
    return text.replace("  ", " ").strip()
