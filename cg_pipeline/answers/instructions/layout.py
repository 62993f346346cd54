"""How a response is laid out: lists, sections, highlights, a title, JSON."""

import json
import re

_STAR = re.compile(r"^[^\S\n]*\*[^*].*$", re.MULTILINE)
_DASH = re.compile(r"^[^\S\n]*-", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*([^\n*]*)\*")
_DOUBLE_HIGHLIGHT = re.compile(r"\*\*([^\n*]*)\*\*")
_OPENINGS = ("```json", "```Json", "```JSON", "```")


def bullets(response: str, num_bullets: int) -> bool:
    """Exactly so many lines that begin with `*`, or with `-`: a rule `---` counts too."""
    return len(_STAR.findall(response)) + len(_DASH.findall(response)) == num_bullets


def highlights(response: str, num_highlights: int) -> bool:
    """At least so many parts between *single* or **double** stars, on one line."""
    found = [*_HIGHLIGHT.findall(response), *_DOUBLE_HIGHLIGHT.findall(response)]
    return sum(bool(part.strip()) for part in found) >= num_highlights


def sections(response: str, section_spliter: str, num_sections: int) -> bool:
    """At least so many times the word with a number after it."""
    marks = re.findall(rf"{re.escape(section_spliter.strip())}\s?\d+", response)
    return len(marks) >= num_sections


def title(response: str) -> bool:
    """A title <<in double angle brackets>>, on one line."""
    return any(_titled(line) for line in response.split("\n"))


def _titled(line: str) -> bool:
    begin, end = line.find("<<"), line.rfind(">>")
    return 0 <= begin < end - 2 and bool(line[begin : end + 2].lstrip("<").rstrip(">").strip())


def is_json(response: str) -> bool:
    """Nothing but JSON, which may stand in a code block, closed or not."""
    text = response.strip()
    for opening in _OPENINGS:
        text = text.removeprefix(opening)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True
