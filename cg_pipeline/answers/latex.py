r"""The mathematical answer in a generated text, and short forms of it that need no algebra.

Read are, in this order, the last `\boxed{…}`, what follows the last "answer is", the last
formula between dollars or `\( \)` ("$5$ and $-3$" are one), and a last line that is a formula or
number by itself.
"""

import re

from cg_pipeline.answers.boxed import has_open_box, last_boxed
from cg_pipeline.answers.markers import announced, first_sentence
from cg_pipeline.answers.own_part import own_part

_FORMULA = re.compile(
    r"\$\$([^$]{1,400})\$\$|\$([^$\n]{1,400})\$"
    r"|\\\(((?:(?!\\\))[^\n]){1,400})\\\)|\\\[((?:(?!\\\]).){1,400})\\\]",
    re.DOTALL,
)
_CONJOINED = re.compile(r",?\s{1,3}(?:and|or)\s{1,3}")
_LISTED = re.compile(rf"{_CONJOINED.pattern}|,\s{{0,3}}")
_BARE = re.compile(r"[-+−]?[\d\\({\[.a-z=^_+\-*/,)}\] ]{1,60}", re.ASCII)
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_LONGEST = 400
_SPACING = re.compile(r"\\[,;!: ]|~|\\(?:left|right|displaystyle)(?![A-Za-z])|\s+")
_SMALL_FRACTION = re.compile(r"\\[dt]frac(?![A-Za-z])")
_TEXT = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s?\{([^{}]{0,200})\}")


def latex_answer(text: str) -> str | None:
    """The answer as LaTeX, without dollars; None when there is none, or its box is not closed."""
    said = own_part(text)
    if has_open_box(said):
        return None
    boxed = last_boxed(said)
    if boxed is not None:
        return boxed or None
    after = announced(said)
    if after:
        sentence = first_sentence(after)
        return _clean(_last_formula(sentence, _LISTED) or sentence)
    last = said.rpartition("\n")[2].strip(" *.")
    alone = _BARE.fullmatch(last) and not _WORD.search(last)
    return _clean(_last_formula(said) or (last if alone else ""))


def is_settled(text: str) -> bool:
    """Whether a text cut at its limit had finished its answer: a closed box, or an announced sentence."""
    said = own_part(text)
    if has_open_box(said):
        return False
    after = announced(said)
    return last_boxed(said) is not None or (after is not None and len(first_sentence(after)) < len(after))


def squeezed(latex: str) -> str:
    r"""The same without what only changes looks: blanks, `\left`, `\dfrac`, `\text{…}`, a full stop."""
    text = _SMALL_FRACTION.sub(r"\\frac", latex.replace("−", "-"))
    return _SPACING.sub("", _TEXT.sub(r"\1", text)).strip("$").rstrip(".").replace("{,}", ",")


def _last_formula(text: str, joined_by: re.Pattern[str] = _CONJOINED) -> str:
    """The last formula, and those before it that nothing but a conjunction parts from it."""
    parts, after = list[str](), len(text)
    for found in reversed(list(_FORMULA.finditer(text))):
        if parts and not joined_by.fullmatch(text, found.end(), after):
            break
        parts.append(next(filter(None, found.groups()), ""))
        after = found.start()
    return ", ".join(dict.fromkeys(reversed(parts)))


def _clean(text: str) -> str | None:
    return (text.strip().strip("$*`").strip().rstrip(".").strip() or None) if len(text) <= _LONGEST else None
