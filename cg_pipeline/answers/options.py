"""Which of several lettered options a generated text chooses.

Understood are the letter ("B", "(b)", "**B.**", "option B", "The answer is B because …") and
the text of an option, which wins over letters: of "A B", "Vitamin C" or "C major" no letter is read where an
option is called so. What names two options, or none, or only one that it rejects ("not A"),
chooses none: None, never the first match. Where it is looked for, in this order: what follows
the last "answer is" (nowhere else when there is one: who announces "A or B" has not chosen),
the first line (of a text that names several letters only when it begins with the one it chooses), a last
sentence that concludes ("So …"), the last line, the whole text. An echo of the list of options is no choice.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cg_pipeline.answers.boxed import last_boxed
from cg_pipeline.answers.last import last_match
from cg_pipeline.answers.markers import announced, first_line, first_sentence
from cg_pipeline.answers.normal import normal_text
from cg_pipeline.answers.own_part import own_part

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST_PLACE = 4000
_SHORT = 60
_LONGEST_PROSE = 400
"""Longest text in which an option's words, said once and nowhere announced, count as choosing it."""

_WRAPPING = re.compile(r"\*\*|__|`|\\(?:text|mathrm|mathbf|textbf)\s?\{|[${}]")
_NOT = (
    r"(?:\bnot|n't|\bnor|\bneither|\bthan|\binstead of|\bexcept|\bunlike|\bno)\s"
    r"(?:(?:be|option|choice|the|answer|an?)\s){0,2}"
)
_WRONG = r"\s?(?:is|are|was|would be|seems)\s(?:not\b|incorrect|wrong|false|out\b)|\s?isn't\b"
_LONE = r"(?<![\w'’.-])(?:[{letters}](?![\w'’-])(?!(?<=[AI])\s(?!because|since|as|and|or|nor|is|would)\w))"
_FORM = r"(?:\(\s?[{any}]\s?\)|(?:option|choice|letter|answer)\s\(?[{letters}]\b\)?|{lone})"
_LEADING = (
    r"\W{{0,4}}(?:(?:option|choice|letter)\s)?"
    r"(?:\(?\[?([{any}])[\])](?!\w)|([{any}])[.:](?=\s|$)|({lone})|([{any}])$)"
)
_DISCUSSED = re.compile(
    r"\s(?:is|was|are|would|could|says|has|means)\b(?!.{0,12}(?:correct|right|best|answer|true)\b)"
)
_CONCLUDED = re.compile(r"(?<=[.!?]\s)(?:so|thus|therefore|hence)\b[^\n]*", re.IGNORECASE)
_LETTER_FIRST = re.compile(r"[B-HJ-Z]\s")
_LETTER_ALONE = re.compile(r"(?<![\w'’.-])[A-Z](?![\w'’-])")
_LIST_LINE = re.compile(r"^[^\S\n]{0,8}[^\w\s]{0,2}([A-Z])[.):]\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Choice:
    """An option that a text chooses."""

    index: int
    settled: bool
    """Whether the text went on after it, so that a cut at the limit cannot have changed it."""


def read_option(text: str, choices: Sequence[str]) -> Choice | None:
    """The one option that the text chooses."""
    own = own_part(text)
    said = _bare(boxed if (boxed := last_boxed(own)) else own)
    if not said or not 2 <= len(choices) <= len(LETTERS):
        return None
    texts = [_bare(choice) for choice in choices]
    after = announced(said) or ""
    if (index := _verbatim(after or said, texts)) is not None:
        return Choice(index, settled=bool(boxed) or len(said) == 1)
    bare = [normal_text(text) for text in texts]
    after = after[:_LONGEST_PLACE]
    words = normal_text(after) if _lettered(after, texts) is None else ""
    if words and bare.count(words) == 1 and not _is_another_letter(words, bare):
        return Choice(bare.index(words), settled=bool(boxed))
    for place, whole in _places(said, len(choices)):
        if (index := _chosen(place[:_LONGEST_PLACE], bare, texts)) is not None:
            more = bool(boxed) or len(place) < len(whole) or len(said) <= 3
            return Choice(index, settled=more or _goes_on(place, len(choices)))
    return None


def _bare(text: str) -> str:
    return _WRAPPING.sub("", text).strip()


def _places(said: str, n_choices: int) -> Iterator[tuple[str, str]]:
    """Where a choice may stand, each with the text it is the beginning of."""
    after = announced(said)
    if after:
        yield first_sentence(after), after
        return
    last = said.rpartition("\n")[2]
    if len(set(_LIST_LINE.findall(said))) < min(3, n_choices):
        if len(_letters_named(said[:_LONGEST_PLACE], n_choices)) < 2 or _opens(said, n_choices):
            yield first_sentence(first_line(said)), said
            yield first_line(said), said
        if concluded := last_match(_CONCLUDED, last[-_LONGEST_PLACE:]):
            yield concluded.group(), concluded.group()
        yield last, last
        yield said, said
    elif _is_no_list_line(said, last):
        yield last, last


def _is_no_list_line(said: str, last: str) -> bool:
    """Whether the last line belongs to no list: no letter begins it, or one told before and not in turn."""
    letters = _LIST_LINE.findall(f"{said} ")
    if not _LIST_LINE.match(f"{last} "):
        return True
    return letters[-1] in letters[:-1] and LETTERS.index(letters[-2]) + 1 != LETTERS.index(letters[-1])


def _chosen(place: str, choices: Sequence[str], texts: Sequence[str]) -> int | None:
    """The one option that a place names: by its very words, by the letter it begins with, or anywhere."""
    for read in (_verbatim, _lettered):
        if (index := read(place, texts)) is not None:
            return index
    may_be_words = len(place) <= 2 * max(map(len, choices)) + _SHORT
    words = normal_text(place) if may_be_words else ""
    if words in choices and not _is_another_letter(words, choices):
        return choices.index(words) if choices.count(words) == 1 else None
    kept, forms = _kept(place, len(choices)), _forms(len(choices))
    named = {_index(form) for form in re.findall(forms, _without_texts(kept, texts))}
    led = re.match(_filled(_LEADING, len(choices)), kept)
    if led and not _begins_with_text(kept, texts):
        return _led(led.group(), kept[led.end() :], choices)
    in_words = _named_in_words(kept, choices) if len(place) <= _LONGEST_PROSE else set[int]()
    if len(place) > _SHORT:
        named = {_index(form) for form in re.findall(forms, kept) if len(form) > 1}
    found = named | in_words
    return found.pop() if len(found) == 1 else None


def _verbatim(said: str, texts: Sequence[str]) -> int | None:
    """The one option whose text is all that is said, letter case, blanks and the last mark apart."""
    written, whole = [_as_written(text) for text in texts], _as_written(said)
    alone = written.count(whole) == 1 and not _is_another_letter(whole, written)
    return written.index(whole) if alone else None


def _lettered(said: str, texts: Sequence[str]) -> int | None:
    """The option whose letter and very text are all that is said: the A of "B. A only" is no article."""
    if (led := re.match(_filled(_LEADING, len(texts)), said)) is None:
        return None
    index, rest = _index(led.group()), _as_written(said[led.end() :].lstrip(" .:)-–—\n"))
    return index if rest and rest == _as_written(texts[index]) else None


def _as_written(text: str) -> str:
    return " ".join(text.split()).rstrip(".!? ").casefold()


def _begins_with_text(place: str, texts: Sequence[str]) -> bool:
    """Whether a place begins with an option's text whose first word looks like a letter ("C major")."""
    lettered = [re.escape(text) for text in texts if _LETTER_FIRST.match(text)]
    return re.match(rf"\W{{0,4}}(?:{'|'.join(lettered)})(?!\w)", place) is not None if lettered else False


def _without_texts(place: str, texts: Sequence[str]) -> str:
    """A place without the options' texts in which one letter stands alone: "Vitamin C" names no letter."""
    for text in sorted(texts, key=len, reverse=True):
        if " " in text and len(_LETTER_ALONE.findall(text)) == 1:
            place = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "|", place, flags=re.IGNORECASE)
    return place


def _kept(place: str, n_choices: int) -> str:
    """A place without the letters that it rejects."""
    forms = _forms(n_choices)
    return re.sub(f"{_NOT}{forms}|{forms}(?:{_WRONG})", " ", place, flags=re.IGNORECASE)


def _letters_named(place: str, n_choices: int) -> set[int]:
    return {_index(form) for form in re.findall(_forms(n_choices), _kept(place, n_choices)) if len(form) > 1}


def _opens(said: str, n_choices: int) -> bool:
    """Whether a text begins with the letter it chooses: whatever it tells of others afterwards."""
    line = _kept(first_line(said)[:_LONGEST_PLACE], n_choices)
    led = re.match(_filled(_LEADING, n_choices), line, re.IGNORECASE)
    return led is not None and not _DISCUSSED.match(line, led.end())


def _goes_on(place: str, n_choices: int) -> bool:
    """Whether two words or more follow the letter that a place begins with: not "B", nor "B and"."""
    led = re.match(_filled(_LEADING, n_choices), place)
    return led is not None and len(place[led.end() :].split()) > 1


def _led(opening: str, rest: str, choices: Sequence[str]) -> int | None:
    """The letter a place begins with, unless another letter, or another option's words, stand beside it."""
    letter = _index(opening)
    beside = re.match(rf"\W{{0,4}}(?:(?:and|or|both)\W{{1,3}})?({_forms(len(choices))})", rest)
    words = normal_text(first_sentence(rest.lstrip(" .:)-–—")))
    if words and words == choices[letter]:
        return letter
    if beside and _index(beside.group(1)) != letter:
        return None
    called_option = len(opening.split()) > 1
    doubtful = not called_option and _is_another_letter(LETTERS[letter].lower(), choices)
    return None if words in choices or doubtful else letter


def _is_another_letter(words: str, choices: Sequence[str]) -> bool:
    """Whether an option's text is a letter that names another one: which is meant, nobody can say."""
    named = LETTERS.lower().find(words) if len(words) == 1 else -1
    return 0 <= named < len(choices) and words in choices and choices[named] != words


def _named_in_words(place: str, choices: Sequence[str]) -> set[int]:
    """Options whose words stand in the place, outside a longer option's, and not rejected."""
    left, found = f" {normal_text(place)} ", set[int]()
    for words in sorted(set(choices), key=len, reverse=True):
        left = re.sub(rf" (?:not|than|nor|except|unlike) {re.escape(words)}(?= )", " ", left)
        if f" {words} " in left:
            left = left.replace(f" {words} ", " | ")
            found.update(index for index, choice in enumerate(choices) if choice == words)
    return {index for index in found if not _is_another_letter(choices[index], choices)}


@functools.cache
def _forms(n_choices: int) -> str:
    return _filled(_FORM, n_choices)


@functools.cache
def _filled(pattern: str, n_choices: int) -> str:
    letters = f"A-{LETTERS[n_choices - 1]}"
    lone = _LONE.format(letters=letters)
    return pattern.format(letters=letters, any=letters + letters.lower(), lone=lone)


def _index(form: str) -> int:
    """The option a form such as "(b)" or "option B" means: its last letter."""
    return LETTERS.index(re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", form)[-1].upper())
