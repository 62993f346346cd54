"""The Python program in a generated text, and how it joins the stub it was asked to complete."""

import re

_FENCE = re.compile(
    r"^[ \t]{0,8}```[ \t]*([\w+-]{0,20})[^\n]*\n(.*?)(?:^[ \t]{0,8}```|\Z)", re.DOTALL | re.MULTILINE
)
_PYTHON = ("", "python", "python3", "py")
_OUTSIDE = re.compile(r"\n(?=class |def |#|@|if |print\b|assert |```|[A-Z][a-z]+[ ,:])")
"""Where a completion of a function leaves it; HumanEval's stop texts (arXiv 2107.03374) and a few more."""


def joined_program(stub: str, text: str, entry_point: str) -> str:
    """The stub completed: by a whole function in a code block or in plain sight, else by its body.

    A whole function replaces the stub's, whose imports and helpers stay before it.
    """
    code = fenced(text)
    said = text.rpartition("</think>")[2] if code is None else code
    if _defines(said, entry_point):
        return f"{_without(stub, entry_point)}\n{said}\n"
    body = said if code is not None else _OUTSIDE.split(said, maxsplit=1)[0]
    return f"{stub}{'' if stub.endswith(chr(10)) or body.startswith(chr(10)) else chr(10)}{_indented(body)}\n"


def fenced(text: str) -> str | None:
    """The last code block that is Python; None without one. An unclosed one counts as far as it goes."""
    found = _FENCE.finditer(text.rpartition("</think>")[2])
    blocks = [match[2] for match in found if match[1].lower() in _PYTHON]
    defining = [block for block in blocks if re.search(r"^\s{0,8}def ", block, re.MULTILINE)]
    return (defining or blocks or [None])[-1]


def _defines(code: str, name: str) -> bool:
    return re.search(rf"^(?:async )?def {re.escape(name)}\b", code, re.MULTILINE) is not None


def _without(stub: str, name: str) -> str:
    """What stands before the function that is to be completed: imports and helpers."""
    found = re.search(rf"^(?:async )?def {re.escape(name)}\b", stub, re.MULTILINE)
    return stub[: found.start()] if found else stub


def _indented(body: str) -> str:
    """The body, indented when the model began it at the margin."""
    first = next((line for line in body.split("\n") if line.strip()), "")
    if first[:1] in (" ", "\t"):
        return body
    lines = body.split("\n")
    flat = all(line[:1] not in (" ", "\t") for line in lines[1:] if line.strip()) or body.startswith("\n")
    if not flat:
        return f"    {body.lstrip()}"
    return "\n".join(f"    {line}" if line.strip() else line for line in lines)
