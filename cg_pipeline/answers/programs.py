"""The Python program in a generated text, and how it joins the stub it was asked to complete.

A text goes on with the function's body, or shows the whole function, in a code block or in plain
sight. Of several blocks that define it the last one that compiles counts, for a model corrects itself
downwards. Helpers, imports and constants that it needs are taken from the other blocks; what a block
does besides with the function (asserts, prints, `if __name__ == "__main__"`) is not run, as the authors
cut a completion before such lines.

A method of a class is no function: what defines `Solution.name` alone does not pass, here as with them.
"""

import ast
import re
import textwrap
from collections.abc import Iterable, Sequence, Set

from cg_pipeline.answers.code_blocks import Block, code_blocks, outside_blocks
from cg_pipeline.answers.python_code import Statement, compiles, statements_of

_PYTHON = ("", "python", "python3", "py", "py3", "ipython", "sage")
_OUTSIDE = re.compile(r"\n(?=class |def |#|@|if |print\b|assert |```|~~~|[A-Z][a-z]+[ ,:])")
"""Where a completion of a function leaves it; HumanEval's stop texts (arXiv 2107.03374) and a few more."""
_AFTER = r"\n(?=if |print\b|assert |```|~~~|>>> |[A-Z][a-z]+[ ,:])"
"""Where a text leaves a function that it shows whole: helpers may follow it."""
_DEFINITION = r"^(?:async )?def {name}\b"
_RETURNS = re.compile(r"^[ \t]*(?:return|yield)\b", re.MULTILINE)
_SHOWS = re.compile(r"\b(?:print|input|stdin|argv|main|testmod)\b|__name__")
"""What a demonstration does: it talks to somebody."""


def joined_program(stub: str, text: str, entry_point: str) -> str:
    """The stub completed: by a whole function in a code block or in plain sight, else by its body.

    A whole function replaces the stub's, whose imports and helpers stay before it.
    """
    said, before = _said(text, entry_point), _without(stub, entry_point)
    inside = _begins_inside(said, entry_point)
    whole = None if inside else _whole(said, entry_point, before)
    if whole is not None:
        return f"{before}\n{whole}\n"
    block = None if inside else _body_block(said)
    body = _OUTSIDE.split(said, maxsplit=1)[0] if block is None else block
    return _completed(stub, body)


def is_finished(text: str, entry_point: str) -> bool:
    """Whether a text cut at its limit had finished its program: it went on to something else after it."""
    said = _said(text, entry_point)
    if _begins_inside(said, entry_point):
        return _OUTSIDE.search(said) is not None
    if blocks := code_blocks(said):
        told = any(_answers(block, entry_point) or _is_body(block) for block in blocks)
        return told and all(block.closed for block in blocks)
    if _defines(said, entry_point):
        return not said.endswith(_in_plain_sight(said, entry_point))
    return _OUTSIDE.search(said) is not None


def begins_function(stub: str, entry_point: str) -> bool:
    """Whether a stub is the beginning of a program that a body would complete."""
    ways = (f"{stub.rstrip()}\n{margin}pass\n" for margin in ("    ", "  ", "\t"))
    return _defines(stub, entry_point) and any(map(compiles, ways))


def _said(text: str, name: str) -> str:
    """The text after the model's reasoning; a function that opens it, all indented, is put at the margin."""
    said = text.rpartition("</think>")[2]
    opening = re.match(rf"\s*?^([ \t]+)(?:async )?def {re.escape(name)}\b", said, re.MULTILINE)
    return re.sub(rf"^{opening[1]}", "", said, flags=re.MULTILINE) if opening else said


def _begins_inside(said: str, name: str) -> bool:
    """Whether the text goes straight on with the function's body; what follows that is another matter.

    It is indented, or returns something before it defines the function once more.
    """
    first = next((line for line in said.split("\n") if line.strip()), "")
    if first.lstrip().startswith(("```", "~~~")):
        return False
    before = re.split(_DEFINITION.format(name=re.escape(name)), said, maxsplit=1, flags=re.MULTILINE)
    returns = re.compile(r"^return\b", re.MULTILINE)
    return first.startswith(("  ", "\t")) or (len(before) > 1 and returns.search(before[0]) is not None)


def _whole(said: str, name: str, before: str) -> str | None:
    """The whole function with all that it needs; None where the text shows none."""
    blocks = code_blocks(said)
    answers = [block.code for block in blocks if _answers(block, name)]
    others = [block.code for block in blocks if block.language in _PYTHON]
    if not answers and _defines(outside := outside_blocks(said), name):
        shown = _in_plain_sight(outside, name)
        answers = [shown] if compiles(shown) or not others else []
    if not answers:
        return None
    readable = [code for code in (_readable(code, name) for code in answers) if compiles(code)]
    written = [code for code in readable if not _is_empty(code, name)]
    chosen = (written or readable or answers)[-1]
    own = _without_demonstrations(statements_of(chosen), name)
    if not own:
        return chosen
    helpers = [each for code in others if code != chosen for each in statements_of(code)]
    given = frozenset(_bound_by(statements_of(before)))
    return "\n".join(each.code for each in (*_needed(helpers, own, name, given), *own))


def _answers(block: Block, name: str) -> bool:
    """Whether a block defines the function: Python, or what compiles as Python whatever it is called."""
    if block.language not in _PYTHON and not compiles(block.code):
        return False
    return _defines(block.code, name) or name in _bound_by(statements_of(block.code))


def _readable(code: str, name: str) -> str:
    """Code that compiles as it is, or else as far as the function goes."""
    return code if compiles(code) else _in_plain_sight(code, name)


def _is_empty(code: str, name: str) -> bool:
    """Whether the function is only announced: a docstring, `pass` or `...`."""
    last = [each.node for each in statements_of(code) if name in each.binds][-1:]
    functions = [node for node in last if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(
        all(isinstance(node, ast.Pass) or _is_constant(node) for node in each.body) for each in functions
    )


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _without_demonstrations(statements: Sequence[Statement], name: str) -> list[Statement]:
    """The statements that make up the program: what only tries the function or talks is left out."""
    users = _reached({name}, [(each.needs, each.binds) for each in statements if each.defines])
    wanted = _reached({name}, [(each.binds, each.needs) for each in statements])
    return [each for each in statements if each.defines or each.binds & wanted or not _tries(each, users)]


def _tries(statement: Statement, users: set[str]) -> bool:
    return (
        isinstance(statement.node, ast.Assert)
        or bool(statement.needs & users)
        or _SHOWS.search(statement.code) is not None
    )


def _reached(begin: Set[str], links: Sequence[tuple[Set[str], Set[str]]]) -> set[str]:
    """These names and all that links lead to from them: any name on a link's left to all on its right."""
    leading: dict[str, list[int]] = {}
    for place, (origins, _) in enumerate(links):
        for name in origins:
            leading.setdefault(name, []).append(place)
    reached, waiting, left = set(begin), list(begin), {*range(len(links))}
    while waiting:
        for place in left.intersection(leading.pop(waiting.pop(), ())):
            left.remove(place)
            more = links[place][1] - reached
            reached |= more
            waiting += more
    return reached


def _needed(
    helpers: Sequence[Statement], own: Sequence[Statement], name: str, given: frozenset[str]
) -> list[Statement]:
    """Statements of other blocks that bind what the program lacks, and what those lack in turn."""
    usable = [s for s in helpers if name not in s.binds and (s.defines or name not in s.needs)]
    bound = given | frozenset(_bound_by(own))
    wanted = {n for s in own for n in s.needs} - bound
    wanted = _reached(wanted, [(each.binds - bound, each.needs - bound) for each in usable])
    return [s for s in usable if s.binds & wanted or (wanted and "*" in s.binds)]


def _bound_by(statements: Iterable[Statement]) -> set[str]:
    return {name for each in statements for name in each.binds}


def _body_block(said: str) -> str | None:
    """The block that holds a body alone: the last one that returns something, else the last one."""
    blocks = [block for block in code_blocks(said) if block.language in _PYTHON]
    bodies = [block for block in blocks if _is_body(block)]
    return (bodies or blocks)[-1].code if blocks else None


def _is_body(block: Block) -> bool:
    """Whether a block returns something outside of any function."""
    return block.language in _PYTHON and _RETURNS.search(block.code) is not None and not compiles(block.code)


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


def _completed(stub: str, body: str) -> str:
    """The stub with a body, indented in the first way that compiles."""
    ways = list(dict.fromkeys(_indentations(body)))
    programs = [
        f"{stub}{'' if stub.endswith(chr(10)) or way.startswith(chr(10)) else chr(10)}{way}\n" for way in ways
    ]
    return next((program for program in programs if compiles(program)), programs[0])


def _indentations(body: str) -> list[str]:
    """A body as it is; wholly moved; or, where only its first line lost its indentation, that line moved.

    Moved wholly comes first of the two: what moves one line can compile and leave the rest outside.
    """
    first = next((line for line in body.split("\n") if line.strip()), "")
    moved = textwrap.indent(textwrap.dedent(body), "    ")
    if first[:1] in (" ", "\t"):
        return [body, moved]
    return [moved, f"    {body.lstrip()}"]
