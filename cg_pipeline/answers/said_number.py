r"""The one number that a sentence gives.

Reasons ("since …") and brackets are left out. Then, in this order: what an equation comes to; the
number that the sentence opens with; what follows "so" or "is"; the number that no preposition or
article makes a circumstance ("in 3 hours", "the 24 cookies"). Of alternatives ("5 or 6"), and
where several different numbers are left, none.
"""

import re
from collections.abc import Sequence

from cg_pipeline.answers.numbers import Number, numbers_in

_ASIDE = re.compile(
    r"(?<=[a-z\d%]\s)\([^()]{0,200}\)|,?\s\b(?:because|since|given that|considering)\b.*"
    r"|,\s(?:as|for\s(?!an?\s|the\s))\s?.*"
    r"|,\s(?:which (?:is|are|was)\s)?\d[\d.,/]{0,20}%?\s(?:\w{1,20}\s)?"
    r"(?:more|less|fewer|times|higher|lower)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_LEADING = re.compile(
    r"\A\W{0,9}(?:so|thus|that|and)?\W{0,3}"
    r"(?:after|when|if|since|as|with|because|given|before|by|for|in|during|at|out of|of)\b"
    r"(?:[^,]|,(?=\d)){0,200},(?!\d)",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"(?<![<>!])=|≈|\\approx|\b(?:equals|(?:is|be) equal to)\b")
_OPENING = re.compile(
    r"\W{0,9}(?:(?:about|around|approximately|roughly|exactly|only|just|nearly|almost|likely|probably|precisely"
    r"|(?:an?|the) total of|it is|it's|that is|that's|equal to|[a-z]\s?=)\s{0,3})*\W{0,9}",
    re.IGNORECASE,
)
_OPERATOR = re.compile(
    r"(?:\s?[A-Za-z%]{1,12}){0,2}\s{0,3}(?:[-+*/×÷·^]|\\times|\\cdot|\\div|\bx\b"
    r"|\b(?:plus|minus|times|divided by|multiplied by)\b|%\sof)[\s(]{0,3}(?:the )?\s?",
)
_BREAK = re.compile(r"[,;:—]|\.\s|\s-\s|\b(?:not|when|if|where|i\.e)\b")
_LISTED = re.compile(r"(?:\s?\w{1,12})?\s?,\s?(?:(?:or|and)\s(?:maybe\s|perhaps\s|possibly\s)?)?")
_TOGETHER = re.compile(r"(?:\s\w{1,12})?\s(?:and|or|to)\s")
_CONCLUDES = re.compile(
    r"\b(?:so|thus|therefore|hence|then|giving|making|leaving|meaning|totall?ing|\Athat"
    r"|which (?:is|means|gives|makes|leaves|equals|totals)|(?:for|with|to) (?:an?|the) total(?: of)?"
    r"|rounds (?:up |down |off )?to)\b",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"\b(?:is|are|was|were|be|have|has|makes|(?<!to )(?:make|leave|give)|totals?|leaves|gives"
    r"|(?:comes?|amounts?) to)\b",
    re.IGNORECASE,
)
_CIRCUMSTANCE = re.compile(
    r"\b(?:in|after|for|of|from|over|at|per|within|with|during|on|by|between|among|the|these|those|all|every"
    r"|each|day|week|month|year|step|than|until|before|across|to|not|his|her|their|its|any)\s{1,3}"
    r"(?:(?:the|all|these|those|about|only|just|(?<=to\s)[a-z]{2,20})\s{1,3})?$",
    re.IGNORECASE,
)
_BEFORE = 30
_LONGEST = 1000


def said_number(sentence: str, announced: bool = False) -> Number | None:
    """The number that a sentence, which has been through `plain`, gives; None for none or several.

    Only where it is `announced` as an answer does the number count that it opens with.
    """
    if len(sentence) > _LONGEST:
        return None
    main = _without_asides(sentence)
    numbers = numbers_in(main)
    if len({number.value for number in numbers}) < 2:
        return next(iter(numbers), None)
    opens = announced and opens_with(main, numbers[0])
    if equals := [place.end() for place in _EQUALS.finditer(main, numbers[0].end if opens else 0)]:
        return _of_equation(main, numbers, equals, opens)
    if opens and (opening := _opening(main, numbers)):
        return opening
    return _after_expression(main, numbers) if opens else _concluded(main, numbers)


def opens_with(sentence: str, number: Number) -> bool:
    """Whether nothing but "about", "a total of" or "x =" stands before a number."""
    return _OPENING.fullmatch(sentence, 0, number.start) is not None


def _of_equation(main: str, numbers: Sequence[Number], equals: Sequence[int], opens: bool) -> Number | None:
    """What the last equation comes to, or what is concluded from it; None when the opening says otherwise."""
    if _CONCLUDES.search(main, equals[-1], numbers[-1].start):
        return _concluded(main, numbers)
    result, first = _result(main, numbers, equals[-1], opens), numbers[0]
    apart = opens and _BREAK.search(main, first.end, equals[0])
    if not apart or _CONCLUDES.search(main, first.end, equals[0]):
        return result
    return first if result is None or result.value == first.value else None


def _without_asides(sentence: str) -> str:
    """Reasons and brackets blanked out, every place kept, where a number is left outside of them."""
    sentence = _without_parts(sentence)
    for pattern in (_ASIDE, _LEADING):
        main = pattern.sub(_blank, sentence)
        sentence = main if numbers_in(main) else sentence
    return sentence


def _without_parts(sentence: str) -> str:
    """A statement without what it lists after a colon: "You have 5 objects: 2 pens and 3 pads"."""
    told, colon, parts = sentence.partition(": ")
    if not colon or "=" in parts or not _COPULA.search(told) or not numbers_in(told):
        return sentence
    return told + " " * (len(colon) + len(parts))


def _blank(aside: re.Match[str]) -> str:
    return " " * len(aside.group())


def _result(main: str, numbers: Sequence[Number], equals: int, opens: bool) -> Number | None:
    """What follows the last "=", or what stands before it where an expression follows."""
    after = [number for number in numbers if number.start >= equals]
    if after and not _in_expression(main, after):
        return after[0]
    return numbers[0] if opens and not _in_expression(main, numbers) else None


def _in_expression(main: str, numbers: Sequence[Number]) -> bool:
    """Whether an operator joins the first two numbers; "of" after a fraction is one."""
    if len(numbers) < 2:
        return False
    first, between = main[numbers[0].start : numbers[0].end], main[numbers[0].end : numbers[1].start]
    return _OPERATOR.fullmatch(between) is not None or ("/" in first and between.strip() == "of")


def _opening(main: str, numbers: Sequence[Number]) -> Number | None:
    """The number at the opening, unless its clause has others beside it or it begins a list."""
    first, second = numbers[0], numbers[1]
    if _in_expression(main, numbers) or _LISTED.fullmatch(main, first.end, second.start):
        return None
    clause_end = broken.start() if (broken := _BREAK.search(main, first.end)) else len(main)
    beside = [number for number in _uncircumstanced(main, numbers) if first.end < number.start < clause_end]
    return None if beside else first


def _after_expression(main: str, numbers: Sequence[Number]) -> Number | None:
    """What a sentence comes to that opens with an expression, or with a number that is not alone."""
    rest = list(numbers)
    while _in_expression(main, rest):
        rest = rest[1:]
    if len(rest) < len(numbers):
        rest = rest[1:]
        return _only(rest) or (_concluded(main, rest) if rest else None)
    return _concluded(main, rest, by_itself=False)


def _concluded(main: str, numbers: Sequence[Number], by_itself: bool = True) -> Number | None:
    """The one number after the last "so" and then "is"; `by_itself`: also the one without either."""
    start = 0
    for pattern in (_CONCLUDES, _COPULA):
        places = [place.end() for place in pattern.finditer(main, start) if place.end() <= numbers[-1].start]
        start = places[-1] if places else start
    left = [number for number in numbers if number.start >= start]
    if start == 0 and not by_itself:
        return None
    plainly = _uncircumstanced(main, left, start)
    if not plainly:
        return _only(_uncircumstanced(main, numbers)) or _only(left)
    if start and _OPENING.fullmatch(main, start, left[0].start) and len(left) > 1:
        return _only(plainly) or _opening(main, left)
    return _only(plainly)


def _only(numbers: Sequence[Number]) -> Number | None:
    return numbers[0] if len({number.value for number in numbers}) == 1 else None


def _uncircumstanced(main: str, numbers: Sequence[Number], start: int = 0) -> list[Number]:
    """Those that no preposition or article introduces, nor "and" beside one that it does."""
    kept: list[Number] = []
    before = None
    for number in numbers:
        introduced = _CIRCUMSTANCE.search(main[max(start, number.start - _BEFORE) : number.start])
        joined = before is not None and _TOGETHER.fullmatch(main, before.end, number.start)
        if introduced or joined:
            before = number
        else:
            kept.append(number)
            before = None
    return kept
