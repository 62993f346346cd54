"""What a sentence may be saying: an answer stated in a whole sentence, taken apart without a grammar.

Of "The capital of France is Paris." these are "Paris" and "The capital of France": a statement with
one "is" has two sides, and which of them was asked for, only the question knows. A sentence with
"not", with an "or" or with more than one "is" is not taken apart, so that no list of candidates
turns into an answer.
"""

import re

_CONTRACTED = re.compile(r"\b(it|that|he|she|they)['’](?:s|re)\b", re.IGNORECASE)
_COPULA = re.compile(r"\b(?:is|are|was|were|would be|became)\b|(?<=\s)=(?=\s)")
_DOUBTFUL = re.compile(
    r"\b(?:not|never|neither|nor|either|or|if|whether|maybe|perhaps|possibly|might|unless|unclear|unknown)\b"
    r"|n['’]t\b|[?/]",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?:(?:sure|certainly|of course|okay|ok|absolutely|yes|well|(?:that['’]s |what )?(?:an? )?"
    r"(?:great|good|excellent|interesting|fascinating) question)(?: thing)?\s?[!,.:]\s+){1,2}",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s)?(?:(?:i (?:think|believe|guess|would say|am confident)"
    r"|based on [^,]{1,80},|according to [^,]{1,80},|probably|likely|most likely|it must be)(?: that)?\s)?",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\s*\(|\s[—–-]\s|,\s(?:the|an?|who|which|where|also|born|located|in|because|since|as|but"
    r"|I (?:think|believe|guess))\b"
)
_CLAUSE = re.compile(rf"{_ASIDE.pattern}|,?\s(?:who|which|that)\s")
_LED = re.compile(r"(?:\w+\s)?by\s|(?:in|on|at|from)\s", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"(?:[\w'’-]+\s){0,2}(?:by|in|on|at|as|from|after|to|into|of|with|around|near|about|called|named)\s",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*([^*\n:]{1,120})\*\*(?!\s?:)")
_PRONOUNS = ("it", "that", "this", "these", "he", "she", "they", "there", "which", "answer", "the answer")
_BARE = " \t*_`\"'“”"


def without_greeting(text: str) -> str:
    """The text without "Sure!" and the like before it."""
    return text[greeted.end() :] if (greeted := _GREETING.match(text)) else text


def sides(sentence: str) -> tuple[str, ...]:
    """Complement and subject of a statement; the complement without an aside, and after its preposition."""
    said = _CONTRACTED.sub(r"\1 is", sentence.replace("**", ""))
    copulas = list(_COPULA.finditer(said))
    if len(copulas) != 1 or _DOUBTFUL.search(said):
        return ()
    subject, complement = said[: copulas[0].start()], said[copulas[0].end() :].strip()
    subject = subject[_opening(subject) :]
    led = _PREPOSITION.match(complement)
    told = (
        complement,
        subject,
        _CLAUSE.split(complement, maxsplit=1)[0],
        complement[led.end() :] if led else "",
    )
    found = dict.fromkeys(map(_clean, told))
    return tuple(part for part in found if part and part.casefold() not in _PRONOUNS)


def names(sentence: str) -> tuple[str, ...]:
    """The sentence itself, without a hedge or preposition before it, an aside after it; its bold part."""
    bold = set(_BOLD.findall(sentence))
    said = sentence.replace("**", "")
    opened = said[_opening(said) :]
    led = _LED.match(opened)
    whole = (said, opened, opened[led.end() :] if led else "", _ASIDE.split(opened, maxsplit=1)[0])
    parts = (*(bold if len(bold) == 1 else ()), *whole)
    return tuple(dict.fromkeys(filter(None, map(_clean, parts))))


def emphasised(sentence: str) -> str | None:
    """The one bold part of a sentence; None where there is none, or more than one."""
    bold = set(_BOLD.findall(sentence))
    return _clean(bold.pop()) if len(bold) == 1 else None


def _opening(said: str) -> int:
    hedge = _HEDGE.match(said)
    return hedge.end() if hedge else 0


def _clean(text: str) -> str:
    return text.strip(_BARE).rstrip(".").strip(_BARE)
