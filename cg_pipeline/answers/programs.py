"""The Python program in a generated text, and how it joins the stub it was asked to complete."""

import re

_FENCE = re.compile(
    r"^[ \t]{0,8}```[ \t]*([\w+-]{0,20})[^\n]*\n(.*?)(?:^[ \t]{0,8}```|\Z)", re.DOTALL | re.MULTILINE
)
_PYTHON = ("", "python", "python3", "py")
_OUTSIDE = re.compile(r"\n(?=class |def |#|@|if |print\b|assert |```|[A-Z][a-z]+[ ,:])")
"""Where a completion of a function leaves it; HumanEval's stop texts (arXiv 2107.03374) and a few more."""
_AFTER = r"\n(?=if |print\b|assert |```|[A-Z][a-z]+[ ,:])"
"""Where a text leaves a function that it shows whole: helpers may follow it."""
_DEFINITION = r"^(?:async )?def {name}\b"


def joined_program(stub: str, text: str, entry_point: str) -> str:
    """The stub completed: by a whole function in a code block or in plain sight, else by its body.

    A whole function replaces the stub's, whose imports and helpers stay before it.
    """
    code, said = fenced(text), _said(text)
    inside = _begins_inside(said, entry_point)
    if not inside and _defines(said if code is None else code, entry_point):
        whole = _in_plain_sight(said, entry_point) if code is None else code
        return f"{_without(stub, entry_point)}\n{whole}\n"
    body = _OUTSIDE.split(said, maxsplit=1)[0] if inside or code is None else code
    return f"{stub}{'' if stub.endswith(chr(10)) or body.startswith(chr(10)) else chr(10)}{_indented(body)}\n"


def is_finished(text: str, entry_point: str) -> bool:
    """Whether a text cut at its limit had finished its program: it went on to something else after it."""
    said = _said(text)
    if _begins_inside(said, entry_point):
        return _OUTSIDE.search(said) is not None
    if blocks := list(_FENCE.finditer(said)):
        return fenced(text) is not None and all(block[0].endswith("```") for block in blocks)
    if _defines(said, entry_point):
        return not said.endswith(_in_plain_sight(said, entry_point))
    return _OUTSIDE.search(said) is not None


def fenced(text: str) -> str | None:
    """The last code block that is Python; None without one. An unclosed one counts as far as it goes."""
    found = _FENCE.finditer(_said(text))
    blocks = [match[2] for match in found if match[1].lower() in _PYTHON]
    defining = [block for block in blocks if re.search(r"^\s{0,8}def ", block, re.MULTILINE)]
    return (defining or blocks or [None])[-1]


def _said(text: str) -> str:
    """The text after the model's reasoning, indentation kept."""
    return text.rpartition("</think>")[2]


def _begins_inside(said: str, name: str) -> bool:
    """Whether the text goes straight on with the function's body; what follows that is another matter.

    It is indented, or returns something before it defines the function once more.
    """
    first = next((line for line in said.split("\n") if line.strip()), "")
    if first.lstrip().startswith("```"):
        return False
    before = re.split(_DEFINITION.format(name=re.escape(name)), said, maxsplit=1, flags=re.MULTILINE)
    returns = re.compile(r"^return\b", re.MULTILINE)
    return first.startswith(("  ", "\t")) or (len(before) > 1 and returns.search(before[0]) is not None)


def _in_plain_sight(said: str, name: str) -> str:
    """A whole function that no block surrounds, without what is said before and after it."""
    begun = re.search(r"^(?:import \w|from [\w.]+ import |@|class |(?:async )?def )", said, re.MULTILINE)
    code = said[begun.start() :] if begun else said
    first = re.search(_DEFINITION.format(name=re.escape(name)), code, re.MULTILINE)
    begin = first.end() if first else 0
    ends = [
        found.start()
        for pattern in (_AFTER, rf"\n{_DEFINITION.format(name=re.escape(name))[1:]}")
        if (found := re.compile(pattern).search(code, begin))
    ]
    return code[: min(ends)] if ends else code


def _defines(code: str, name: str) -> bool:
    return re.search(_DEFINITION.format(name=re.escape(name)), code, re.MULTILINE) is not None


def _without(stub: str, name: str) -> str:
    """What stands before the function that is to be completed: imports and helpers."""
    found = re.search(_DEFINITION.format(name=re.escape(name)), stub, re.MULTILINE)
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
