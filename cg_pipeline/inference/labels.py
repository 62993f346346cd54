"""An automatic label for every concept, from the places where it fires most strongly.

Why no LLM: the embedded study must be readable without one, and a label that only quotes
what was seen cannot invent. A label names the words that carry the most activation, and
words that keep turning up around them but not around most other concepts:
`“capital”, “city” near “France”`. A single word is shown in its strongest place, since
dozens of concepts may fire on one little word: `“of” as in “species of fig”`. A label says
where a concept fires, not what it means; an LLM's label replaces it where there is one.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from cg_pipeline.inference.occurrences import Occurrence

_MAX_WORDS = 3
_MAX_NEIGHBOURS = 2
_MAX_TOKENS = 8
_MAX_CONTEXTS = 5
_MIN_SHARE = 0.08
_MAX_CONCEPT_SHARE = 0.03
_MIN_TEXTS = 3
_MAX_WORD_LENGTH = 24


def label_concepts(firings: Sequence[Sequence[Occurrence]], promoted: Sequence[Sequence[str]]) -> list[str]:
    """One label per concept, never empty; one that fires nowhere is labelled by the tokens it promotes."""
    neighbours = [frequent_neighbours(occurrences) for occurrences in firings]
    concepts_with = Counter(word.casefold() for found in neighbours for word in found)
    n_firing = sum(1 for occurrences in firings if occurrences)
    labels: list[str] = []
    for occurrences, found, tokens in zip(firings, neighbours, promoted, strict=True):
        near = _telling(found, concepts_with, n_firing)
        labels.append(_firing_label(occurrences, near) if occurrences else _silent_label(tokens))
    return labels


def strongest_tokens(occurrences: Sequence[Occurrence]) -> tuple[str, ...]:
    """Distinct tokens by the activation they carry in all, most first."""
    return tuple(_heaviest((o.token, o.activation) for o in occurrences))[:_MAX_TOKENS]


def strongest_contexts(occurrences: Sequence[Occurrence]) -> tuple[str, ...]:
    """Excerpts around the strongest firings, at most one per text."""
    by_text: dict[str, str] = {}
    for occurrence in occurrences:
        if len(by_text) < _MAX_CONTEXTS:
            by_text.setdefault(occurrence.text, occurrence.context())
    return tuple(dict.fromkeys(by_text.values()))


def frequent_neighbours(occurrences: Sequence[Occurrence]) -> dict[str, int]:
    """Words around the firings with the number of texts they are in: at least three, and a quarter of all."""
    texts: defaultdict[str, set[str]] = defaultdict(set)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    own = {occurrence.word.casefold() for occurrence in occurrences}
    for occurrence in occurrences:
        for word, form in occurrence.neighbours().items():
            texts[word].add(occurrence.text)
            forms[word][form] += 1
    least = max(_MIN_TEXTS, len({occurrence.text for occurrence in occurrences}) / 4)
    return {
        forms[word].most_common(1)[0][0]: len(found)
        for word, found in texts.items()
        if len(found) >= least and word not in own
    }


def _telling(found: dict[str, int], concepts_with: Counter[str], n_firing: int) -> list[str]:
    """The neighbours that set a concept apart: frequent around it, and around few others (tf-idf)."""
    most = max(1.0, _MAX_CONCEPT_SHARE * n_firing)
    telling = {word: n for word, n in found.items() if concepts_with[word.casefold()] <= most}
    scores = {
        word: n * math.log(1 + n_firing / concepts_with[word.casefold()]) for word, n in telling.items()
    }
    return sorted(scores, key=lambda word: (-scores[word], word))[:_MAX_NEIGHBOURS]


def _firing_label(occurrences: Sequence[Occurrence], near: list[str]) -> str:
    words = _head_words(occurrences)
    shown = ", ".join(map(_quoted, words))
    if near:
        return f"{shown} near {', '.join(map(_quoted, near))}"
    phrase = _strongest_place(words[0], occurrences).phrase()
    return f"{shown} as in “{phrase}”" if len(words) == 1 and phrase not in ("", words[0]) else shown


def _strongest_place(word: str, occurrences: Sequence[Occurrence]) -> Occurrence:
    return next((found for found in occurrences if word in (found.word, found.piece)), occurrences[0])


def _silent_label(promoted: Sequence[str]) -> str:
    if not promoted:
        return "never fires"
    return f"never fires; promotes {', '.join(map(_quoted, promoted[:_MAX_WORDS]))}"


def _head_words(occurrences: Sequence[Occurrence]) -> list[str]:
    """The words that carry most activation; a token found in many words is shown as a piece: `…ing`."""
    by_token: defaultdict[str, list[Occurrence]] = defaultdict(list)
    for occurrence in occurrences:
        by_token[occurrence.token.casefold()].append(occurrence)
    weights = _heaviest((_group_name(group), sum(o.activation for o in group)) for group in by_token.values())
    total = sum(weights.values())
    ranked = list(weights)
    telling = [word for word in ranked[:_MAX_WORDS] if weights[word] >= _MIN_SHARE * total]
    return telling or ranked[:_MAX_WORDS]


def _group_name(group: list[Occurrence]) -> str:
    words = _heaviest((occurrence.word, occurrence.activation) for occurrence in group)
    total = sum(occurrence.activation for occurrence in group)
    first, weight = next(iter(words.items()))
    return first if weight >= total / 2 else group[0].piece


def _heaviest(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Weight of each distinct text (case aside, shown as first met), heaviest first."""
    weights: defaultdict[str, float] = defaultdict(float)
    shown: dict[str, str] = {}
    for text, weight in pairs:
        shown.setdefault(text.casefold(), text)
        weights[text.casefold()] += weight
    return {shown[key]: weight for key, weight in sorted(weights.items(), key=lambda item: -item[1])}


def _quoted(word: str) -> str:
    return f"“{word if len(word) <= _MAX_WORD_LENGTH else word[: _MAX_WORD_LENGTH - 1] + '…'}”"
