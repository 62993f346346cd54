"""Which example a logged answer is about, told by content, never by position.

An answer belongs to the example whose prompt is what the model was given, or what it ends with
after worked examples; where prompts are worded differently, to the one example whose prompt holds
the question of the logged row. The choices must be the same texts, in whatever order, and the
right one must be the same. What fits no example, or several, is left out and told.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cg_pipeline.records import Example
from cg_pipeline.sources.eval_logs.logged import LoggedAnswer, flat, normal

_ANCHOR_WORDS = 4
_LEAST_SHARE = 0.5
_LONGEST_INDEX = 10
_ASKING = re.compile(
    r"quest|query|goal|sentence|ctx|context|prompt|input|problem|passage|stor[yi]|premis|hypoth|article|text$",
    re.IGNORECASE,
)
"""Names of fields that hold what is asked, in the rows of public benchmarks."""


@dataclass(frozen=True)
class Match:
    """One logged answer and its example."""

    example: Example
    logged: LoggedAnswer
    order: tuple[int, ...]
    """For each of the example's choices, its place among the logged ones; empty without choices."""


@dataclass
class Matching:
    """What fits together, and what does not."""

    matches: list[Match] = field(default_factory=list[Match])
    strays: list[tuple[LoggedAnswer, str]] = field(default_factory=list[tuple[LoggedAnswer, str]])
    """Logged answers that are not taken, each with the reason."""
    absent: list[Example] = field(default_factory=list[Example])
    """Examples that no logged answer is about."""


def match(examples: Sequence[Example], answers: Sequence[LoggedAnswer]) -> Matching:
    """Every logged answer with its example, or with the reason it has none."""
    index, found = _Index(examples), Matching()
    taken: dict[tuple[str, int], str] = {}
    for answer in answers:
        outcome = _place(index, answer)
        if isinstance(outcome, str):
            found.strays.append((answer, outcome))
            continue
        key = (outcome.example.example_id, answer.sample)
        if key in taken:
            found.strays.append((answer, f"repeats {taken[key]}"))
            continue
        taken[key] = answer.place
        found.matches.append(outcome)
    answered = {match.example.example_id for match in found.matches}
    found.absent = [example for example in examples if example.example_id not in answered]
    return found


def _place(index: "_Index", answer: LoggedAnswer) -> Match | str:
    if answer.loss:
        return answer.loss
    candidates = index.candidates(answer)
    if not candidates:
        return "no example asks this"
    fitting = [(example, order) for example in candidates if (order := _order(example, answer)) is not None]
    if not fitting:
        return "its choices are others"
    agreeing = [(example, order) for example, order in fitting if _same_key(example, answer, order)]
    if not agreeing:
        return "its right answer is another"
    if len(agreeing) > 1:
        return f"{len(agreeing)} examples ask this"
    return Match(agreeing[0][0], answer, agreeing[0][1])


class _Index:
    """Examples found by their whole prompt, its end, or words in it."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self._examples = examples
        self._whole: dict[str, list[int]] = defaultdict(list)
        self._by_last_line: dict[str, list[int]] = defaultdict(list)
        self._anchors: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._flat = [f" {_words_only(example.prompt)} " for example in examples]
        self._normal = [normal(example.prompt) for example in examples]
        for i, text in enumerate(self._normal):
            self._whole[text].append(i)
            self._by_last_line[text.rpartition("\n")[2]].append(i)
            for anchor in set(_anchors(self._flat[i].split())):
                self._anchors[anchor].append(i)

    def candidates(self, answer: LoggedAnswer) -> list[Example]:
        """Examples that the answer may be about, by the strongest sign there is."""
        found = self._by_prompt(normal(answer.prompt)) or self._by_fields(answer)
        return [self._examples[i] for i in found]

    def _by_prompt(self, prompt: str) -> list[int]:
        if not prompt:
            return []
        if whole := self._whole.get(prompt):
            return whole
        ends = [
            i for i in self._by_last_line.get(prompt.rpartition("\n")[2], ()) if self._ends_with(prompt, i)
        ]
        longest = max((len(self._normal[i]) for i in ends), default=0)
        return [i for i in ends if len(self._normal[i]) == longest]

    def _ends_with(self, prompt: str, i: int) -> bool:
        return prompt.endswith(f"\n{self._normal[i]}")

    def _by_fields(self, answer: LoggedAnswer) -> list[int]:
        """Examples whose prompt holds most of what the logged row asks."""
        texts = _asking(answer)
        total = sum(map(len, texts))
        held: dict[int, int] = defaultdict(int)
        for text in texts:
            for i in self._holding(text):
                held[i] += len(text)
        most = max(held.values(), default=0)
        return [i for i, n in held.items() if n == most] if total and most >= _LEAST_SHARE * total else []

    def _holding(self, text: str) -> Iterator[int]:
        anchors = list(_anchors(text.split()))
        pool: Sequence[int] = range(len(self._flat))
        if anchors:
            pool = min((self._anchors.get(anchor, []) for anchor in anchors), key=len)
        return (i for i in pool if f" {text} " in self._flat[i])


def _words_only(text: str) -> str:
    """Words and numbers, without punctuation: formats differ in colons and full stops."""
    return " ".join(re.findall(r"\w+", flat(text)))


def _anchors(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(words[i : i + _ANCHOR_WORDS]) for i in range(len(words) - _ANCHOR_WORDS + 1))


def _asking(answer: LoggedAnswer) -> set[str]:
    """The texts of a row that ask something: those so named, else all; choices and single words are not."""
    choices = {_words_only(text) for order in answer.orders for text in order}
    named = [(name, _words_only(text)) for name, text in answer.fields]
    usable = [(name, text) for name, text in named if " " in text and text not in choices]
    asking = {text for name, text in usable if _ASKING.search(name)}
    return asking or {text for _, text in usable}


def _order(example: Example, answer: LoggedAnswer) -> tuple[int, ...] | None:
    """For each choice of the example its place in the log; None when the choices do not agree."""
    if not answer.logprobs and not (example.choices and answer.orders):
        return ()
    if answer.logprobs and len(set(example.continuations)) == 1:
        return _places_of_stems(example, answer)  # likelihoods of whole choices are another measure
    n = len(answer.logprobs) or len(example.choices)
    for own in (example.choices, example.continuations):
        for listed in answer.orders:
            if len(own) == len(listed) == n and (order := _places(own, listed)) is not None:
                return order
    return _places_of_stems(example, answer)


def _places(own: Sequence[str], listed: Sequence[str]) -> tuple[int, ...] | None:
    places = {flat(text): place for place, text in enumerate(listed)}
    names = [flat(text) for text in own]
    same = len(places) == len(listed) == len(set(names)) and set(names) == set(places)
    return tuple(places[name] for name in names) if same else None


def _places_of_stems(example: Example, answer: LoggedAnswer) -> tuple[int, ...] | None:
    """Where choices are filled into a sentence, each context ends with one of the example's stems."""
    if not example.stems or len(example.stems) != len(answer.contexts):
        return None
    stems, contexts = [flat(stem) for stem in example.stems], [flat(text) for text in answer.contexts]
    found = [[i for i, context in enumerate(contexts) if context.endswith(stem)] for stem in stems]
    places = tuple(each[0] for each in found if len(each) == 1)
    return places if len(set(places)) == len(stems) else None


def _same_key(example: Example, answer: LoggedAnswer, order: tuple[int, ...]) -> bool:
    """Whether the right choice is the same one; a key that cannot be read as a choice is not compared."""
    if not order:
        return True
    right, target = order[example.choices.index(example.targets[0])], answer.target.strip()
    if target.isdecimal() and len(target) < _LONGEST_INDEX:
        return int(target) == right or flat(target) == flat(example.targets[0])
    if len(target) == 1 and "A" <= target <= "Z":
        return ord(target) - ord("A") == right or flat(target) == flat(example.targets[0])
    known = {flat(text) for text in example.choices}
    return flat(target) not in known or flat(target) == flat(example.targets[0])
