"""How a response is laid out: lists, sections, highlights, a title, JSON."""

import json
import re

_BULLET = re.compile(r"^[^\S\n]*(?:\*[^*]|-)", re.MULTILINE)
_HIGHLIGHT = re.compile(r"\*[^\n*]+\*")
_DOUBLE_HIGHLIGHT = re.compile(r"\*\*[^\n*]+\*\*")
_FENCE = re.compile(r"\A\s*```(?:json|JSON|Json)?\s*\n?(.*?)\n?```\s*\Z", re.DOTALL)


def bullets(response: str, num_bullets: int) -> bool:
    """Exactly so many points that begin with `*` or `-`."""
    return len(_BULLET.findall(response)) == num_bullets


def highlights(response: str, num_highlights: int) -> bool:
    """At least so many *highlighted* parts; as the authors count, **double stars** are counted too."""
    single = sum(bool(part.strip("*").strip()) for part in _HIGHLIGHT.findall(response))
    double = sum(bool(part.strip("*").strip()) for part in _DOUBLE_HIGHLIGHT.findall(response))
    return max(single, double) >= num_highlights


def sections(response: str, section_spliter: str, num_sections: int) -> bool:
    """At least so many sections that begin with the word and a number."""
    marks = re.findall(rf"\s?{re.escape(section_spliter)}\s?\d+\s?", response)
    return len(marks) >= num_sections


def title(response: str) -> bool:
    """A title <<in double angle brackets>>."""
    lines = (line[line.find("<<") : line.rfind(">>")] for line in response.splitlines() if "<<" in line)
    return any(line.strip("<> ") for line in lines)


def is_json(response: str) -> bool:
    """Nothing but JSON, which may stand in a code block."""
    fenced = _FENCE.match(response)
    try:
        json.loads(fenced[1] if fenced else response)
    except (ValueError, RecursionError):
        return False
    return True
