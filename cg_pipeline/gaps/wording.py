"""The words of concepts: what they are compared by, and short names for groups of them."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cg_pipeline.gaps.legible import shorten
from cg_pipeline.records import Concept

_WORD = re.compile(r"[^\W_]{2,}")

_FUNCTION_WORDS = frozenset(
    """
    a about after all also an and any are as at be been but by can could did do does fires for from
    had has have he her hers him his how i if in into is it its me more most my near never no nor
    not of on one only or other our out over own promotes she so some such than that the their them
    then there these they this those to too under up us very was we were what when where which who
    whom whose why will with would you your
    """.split()  # noqa: SIM905 (a list of a hundred quoted words would fill the page)
)
"""Words that name nothing; they name a group only where there is no other word."""

_NAME_TERMS = 3
_TERM_LENGTH = 24
_LABEL_LENGTH = 60


def words(text: str) -> list[str]:
    """Words of two or more letters or digits, in order and in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def concept_document(concept: Concept) -> str:
    """A concept's words for TF-IDF: its label three times, its tokens twice, its contexts once."""
    tokens = [word for token in concept.top_tokens for word in words(token)]
    contexts = [word for context in concept.contexts for word in words(context)]
    return " ".join(3 * words(concept.label) + 2 * tokens + contexts)


def name_groups(groups: Sequence[Sequence[Concept]]) -> list[str]:
    """A name for each group: the words of labels and tokens that set it apart, never empty, never twice.

    The words with the highest c-TF-IDF, (share of the group's members that have the word) ·
    log(1 + mean words per group / groups' count of the word); where a group has no words,
    its strongest member's label.

    Source: the class-based TF-IDF of BERTopic, arXiv 2203.05794, on words per concept instead of texts.
    """
    forms = _usual_forms([concept for group in groups for concept in group])
    counts = [Counter(word for concept in group for word in _naming_words(concept)) for group in groups]
    totals = sum(counts, Counter[str]())
    mean_words = totals.total() / max(len(groups), 1)
    names: list[str] = []
    for group, count in zip(groups, counts, strict=True):
        weights = {word: n / len(group) * math.log1p(mean_words / totals[word]) for word, n in count.items()}
        names.append(first_free(_candidates(weights, forms, group), names))
    return names


def first_free(candidates: Iterator[str], taken: Sequence[str]) -> str:
    """The first candidate not taken; when all are, the last one with a number."""
    name = ""
    for name in candidates:
        if name not in taken:
            return name
    return next(numbered for n in range(2, len(taken) + 3) if (numbered := f"{name} ({n})") not in taken)


def _naming_words(concept: Concept) -> set[str]:
    return {word for text in (concept.label, *concept.top_tokens) for word in words(text)}


def _usual_forms(concepts: Sequence[Concept]) -> dict[str, str]:
    """Each word as it is mostly written: France, not france."""
    texts = (text for concept in concepts for text in (concept.label, *concept.top_tokens))
    written = Counter(form for text in texts for form in _WORD.findall(text))
    return {form.lower(): form for form in sorted(written, key=lambda form: (written[form], form))}


def _candidates(
    weights: Mapping[str, float], forms: Mapping[str, str], group: Sequence[Concept]
) -> Iterator[str]:
    """Names from short to longer, so that a second group with the same leading words gets one word more."""
    ranked = sorted(weights, key=lambda word: (word in _FUNCTION_WORDS, word.isdigit(), -weights[word], word))
    terms: list[str] = []
    for word in ranked:
        if not any(_same_stem(word, term) for term in terms):
            terms.append(word)
        if len(terms) == _NAME_TERMS + 2:
            break
    shown = [shorten(forms[term], _TERM_LENGTH) for term in terms]
    for n_terms in range(min(_NAME_TERMS, len(shown)), len(shown) + 1):
        if n_terms:
            yield ", ".join(shown[:n_terms])
    if not shown:
        yield shorten(group[0].label, _LABEL_LENGTH) or f"concept {group[0].concept_id}"


def _same_stem(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return long.startswith(short) and len(long) - len(short) <= 2 and len(short) >= 3
