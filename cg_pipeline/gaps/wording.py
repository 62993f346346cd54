"""The words of concepts: what they are compared by, and short names for groups of them."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cg_pipeline.gaps.legible import shorten
from cg_pipeline.records import Concept

_WORD = re.compile(r"(?<![\w…])[^\W_]{2,}(?![\w…])")
"""Two or more letters or digits; not a piece of a word, as in `…ing` or `pre…`."""

_FUNCTION_WORDS = frozenset(
    """
    a about after again all also an and any are aren as at be because been but by can could couldn
    did didn do does doesn don even fires for from had has hasn have haven he her hers him his how i
    if in into is isn it its just ll me more most much my near never no nor not of on one only or
    other our out over own promotes re she shouldn since so some such than that the their them then
    there these they this those through to too under until up us ve very was wasn we were weren what
    when where which while who whom whose why will with won would wouldn you your
    """.split()  # noqa: SIM905 (a list of a hundred quoted words would fill the page)
)
"""Words that name nothing; they name a group only where there is no other word."""

_LABEL, _TOKEN, _CONTEXT = 1.0, 0.5, 0.25
"""What a word counts for a name by where it stands: a label names, a context only surrounds."""

_NAME_TERMS = 3
_TERM_LENGTH = 24
_LABEL_LENGTH = 60


def words(text: str) -> list[str]:
    """Words in order and in lower case, without pieces of words."""
    return [word.lower() for word in _WORD.findall(text)]


def has_telling_word(text: str) -> bool:
    """Whether a text holds a word that names something: no function word, number or sign."""
    return not all(_says_little(word) for word in words(text))


def concept_document(concept: Concept) -> str:
    """A concept's words for TF-IDF: its label's twice, its tokens' and its contexts' once."""
    return " ".join([*words(concept.label), *words(" ".join(_texts(concept)))])


def word_spread(dictionary: Sequence[Concept]) -> Counter[str]:
    """In how many concepts of the dictionary each word occurs."""
    return Counter(word for concept in dictionary for word in set(concept_document(concept).split()))


def name_groups(groups: Sequence[Sequence[Concept]], spread: Counter[str]) -> list[str]:
    """A name for each group, members strongest first: the words that set it apart, never empty, never twice.

    The words with the highest class-based TF-IDF against the dictionary: mean over the
    members of 1, ½ or ¼ for a word in label, tokens or contexts, times log(1 + the commonest
    word's spread / the word's spread) over the dictionary. Words that two members share come
    first; function words, numbers and words of two letters last. Where a group has no words, its strongest
    member's label.

    Source: after the class-based TF-IDF of BERTopic, arXiv 2203.05794, which weighs whole texts.
    """
    names: list[str] = []
    for group in groups:
        ranked = _telling_words(group, spread)
        forms = _usual_forms(group)
        names.append(first_free(_candidates([forms[word] for word in ranked], group), names))
    return names


def first_free(candidates: Iterable[str], taken: Sequence[str]) -> str:
    """The first candidate not taken; when all are, the last one with a number."""
    name = ""
    for name in candidates:
        if name not in taken:
            return name
    return next(numbered for n in range(2, len(taken) + 3) if (numbered := f"{name} ({n})") not in taken)


def _texts(concept: Concept) -> tuple[str, ...]:
    return (concept.label, *concept.top_tokens, *concept.contexts)


def _naming_weights(concept: Concept) -> dict[str, float]:
    """Each word by the best place it stands in."""
    places = ((_CONTEXT, concept.contexts), (_TOKEN, concept.top_tokens), (_LABEL, (concept.label,)))
    return {word: weight for weight, texts in places for text in texts for word in words(text)}


def _telling_words(group: Sequence[Concept], spread: Counter[str]) -> list[str]:
    """The group's words, most telling first; the strongest member's words win ties."""
    totals: dict[str, float] = {}
    support: Counter[str] = Counter()
    for concept in group:
        for word, weight in _naming_weights(concept).items():
            totals[word] = totals.get(word, 0.0) + weight
            support[word] += 1
    shared = min(2, len(group))
    commonest = max(spread.values(), default=1)
    scores = {word: total * math.log1p(commonest / max(spread[word], 1)) for word, total in totals.items()}
    return sorted(
        scores,
        key=lambda word: (_says_little(word), support[word] < shared, -scores[word]),
    )


def _says_little(word: str) -> bool:
    return word in _FUNCTION_WORDS or word.isdigit() or (word.isascii() and len(word) < 3)


def _usual_forms(concepts: Sequence[Concept]) -> dict[str, str]:
    """Each word as it is mostly written: France, not france."""
    written = Counter(
        form for concept in concepts for text in _texts(concept) for form in _WORD.findall(text)
    )
    return {form.lower(): form for form in sorted(written, key=lambda form: (written[form], form))}


def _candidates(ranked: Sequence[str], group: Sequence[Concept]) -> Iterator[str]:
    """Names from short to longer: a second group with the same leading words gets one word more."""
    terms: list[str] = []
    for word in ranked:
        if len(terms) < _NAME_TERMS + 2 and not any(_same_stem(word, term) for term in terms):
            terms.append(word)
    shown = [shorten(term, _TERM_LENGTH) for term in terms]
    for n_terms in range(max(1, min(_NAME_TERMS, len(shown))), len(shown) + 1):
        yield ", ".join(shown[:n_terms])
    if not shown:
        yield shorten(group[0].label, _LABEL_LENGTH) or f"concept {group[0].concept_id}"


def _same_stem(word: str, other: str) -> bool:
    short, long = sorted((word.lower(), other.lower()), key=len)
    return long.startswith(short) and len(long) - len(short) <= 2 and len(short) >= 3
