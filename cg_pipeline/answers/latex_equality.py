r"""Whether two LaTeX answers are the same mathematics, decided by math-verify in a process of its own.

math-verify parses both with a grammar and compares them with sympy: numbers, fractions, roots,
sets, intervals, matrices, equations. A percent sign may be left out or applied; a decimal must
be exact to six places.

Why a process: its own time limits are POSIX signals, which work in the main thread alone, and
without one `9^{9^{9^9}}` runs forever. The versions of math-verify and what it parses and reckons with
count in the fingerprints of the policies that use it (`ScoringPolicy.libraries`).
"""

import json
import logging
import re
import resource
import signal
import sys
import unicodedata
from typing import Any

from cg_pipeline.processes.worker import Worker

LIMIT_S = 5.0
LONGEST = 400
"""Longest answer compared; a longer one is no answer but a text."""
_LONGEST_LIFE_S = 120
_SUPERSCRIPT = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_MEMORY_BYTES = 4 << 30


def same_mathematics(gold: str, said: str, limit_s: float = LIMIT_S) -> bool | None:
    """Whether both mean the same; None when that could not be decided in time.

    False also when one of them is no mathematics.
    """
    if len(said) > LONGEST or len(gold) > LONGEST:
        return False
    try:
        return bool(_WORKER.ask([_in_latex(gold), _in_latex(said)], limit_s))
    except TimeoutError:
        return None


def _in_latex(text: str) -> str:
    """Superscripts as exponents, which the grammar does not know otherwise: `5²` is 25."""
    return _SUPERSCRIPT.sub(_exponent, text)


def _exponent(found: re.Match[str]) -> str:
    return f"^{{{unicodedata.normalize('NFKC', found.group()).replace('−', '-')}}}"


def _compare(gold: str, said: str) -> bool:
    from math_verify import parse, verify  # pyright: ignore[reportMissingTypeStubs] - loads sympy, which only this process needs

    try:
        parsed: list[Any] = [parse(f"${text}$", parsing_timeout=None) for text in (gold, said)]  # type: ignore[arg-type]
        return bool(parsed[0] and parsed[1] and verify(parsed[0], parsed[1], timeout_seconds=None))
    except (ArithmeticError, MemoryError, RecursionError, TypeError, ValueError):
        return False


def main() -> None:
    """Answer pairs of texts, one JSON line each, until standard input ends."""
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    _compare("1", "1")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        signal.alarm(_LONGEST_LIFE_S)  # ends the process, should whoever asked be gone
        sys.stdout.write(f"{json.dumps(_compare(*json.loads(line)))}\n")
        sys.stdout.flush()
        signal.alarm(0)


_WORKER = Worker(main.__module__)
"""Named by what it runs, so that a policy's fingerprint sees the comparison that happens over there."""


if __name__ == "__main__":
    main()
