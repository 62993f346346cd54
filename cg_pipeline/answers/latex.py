r"""The mathematical answer in a generated text, and short forms of it that need no algebra.

Read are, in this order, the last `\boxed{…}`, what follows the last "answer is", the last
formula between dollars or `\( \)`, and a last line that is a formula or number by itself.
"""

import re

from cg_pipeline.answers.boxed import has_open_box, last_boxed
from cg_pipeline.answers.last import last_match
from cg_pipeline.answers.markers import announced, first_sentence
from cg_pipeline.answers.own_part import own_part

_FORMULA = re.compile(
    r"\$\$([^$]{1,400})\$\$|\$([^$\n]{1,400})\$"
    r"|\\\(((?:(?!\\\))[^\n]){1,400})\\\)|\\\[((?:(?!\\\]).){1,400})\\\]",
    re.DOTALL,
)
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
        return _clean(formula) if (formula := _last_formula(sentence)) else _clean(sentence)
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


def _last_formula(text: str) -> str:
    found = last_match(_FORMULA, text)
    return next(filter(None, found.groups()), "") if found else ""


def _clean(text: str) -> str | None:
    return (text.strip().strip("$*`").strip().rstrip(".").strip() or None) if len(text) <= _LONGEST else None
