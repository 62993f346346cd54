"""Excerpts as questions: with the firing tokens marked to explain by, and as tests of a label.

Detection: is the concept in this excerpt? Fuzzing: are the marked words where it is? For fuzzing, a
held-out excerpt stands there twice, once with as many other words marked.

Source: arXiv 2410.13928 [given]; near misses among the negatives of both are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cg_pipeline.label_records import ConceptContext

NEAR_MISSES = ("kindred", "same_words")
OPEN, CLOSE = "⟦", "⟧"
"""What marked words stand between."""

_LINE_BREAK = "⏎"
_PLAIN = str.maketrans({OPEN: "[", CLOSE: "]", "\n": _LINE_BREAK, "\r": _LINE_BREAK})


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One excerpt put to whoever knows only the label."""

    text: str
    fits: bool
    """The right answer."""
    near_miss: bool = False
    """Whether the right answer is no, and the excerpt was chosen to tempt."""


def marked_text(context: ConceptContext, marked: Sequence[int] | None = None) -> str:
    """The excerpt on one line, runs of marked tokens between ⟦ and ⟧; for None its own marks."""
    chosen = set(context.marked if marked is None else marked)
    text = _one_line(context.text)
    parts: list[str] = []
    done = 0
    for first, last in _runs(sorted(chosen)):
        start, end = context.starts[first], context.ends[last]
        start += len(context.text[start:end]) - len(context.text[start:end].lstrip(" "))
        if start >= end or start < done:  # nothing but space, or a character in several tokens
            continue
        parts.append(f"{text[done:start]}{OPEN}{text[start:end]}{CLOSE}")
        done = end
    return "".join([*parts, text[done:]])


def detection_trials(contexts: Sequence[ConceptContext]) -> list[Trial]:
    """Held-out excerpts and silent ones, unmarked, in an order that tells nothing."""
    trials = [
        Trial(
            text=_one_line(context.text),
            fits=context.role == "held_out",
            near_miss=context.role in NEAR_MISSES,
        )
        for context in contexts
        if context.role != "shown"
    ]
    return _shuffled(trials)


def fuzzing_trials(contexts: Sequence[ConceptContext]) -> list[Trial]:
    """Held-out excerpts marked rightly and wrongly, and near misses with what makes them tempting marked."""
    trials: list[Trial] = []
    for number, context in enumerate(contexts):
        if context.role == "held_out":
            trials.append(Trial(text=marked_text(context), fits=True))
            if wrong := _misplaced(context, seed=number):
                trials.append(Trial(text=marked_text(context, wrong), fits=False))
        elif context.role in NEAR_MISSES:
            trials.append(Trial(text=marked_text(context), fits=False, near_miss=True))
    return _shuffled(trials)


def _misplaced(context: ConceptContext, seed: int) -> tuple[int, ...]:
    """As many tokens as are marked, drawn from those on which the concept is silent."""
    silent = [
        place
        for place, activation in enumerate(context.activations)
        if activation == 0 and context.text[context.starts[place] : context.ends[place]].strip()
    ]
    n = min(len(context.marked), len(silent))
    drawn = np.random.default_rng(seed).permutation(silent)[:n] if n else ()
    return tuple(sorted(map(int, drawn)))


def _shuffled(trials: list[Trial]) -> list[Trial]:
    order = np.random.default_rng(len(trials)).permutation(len(trials))
    return [trials[place] for place in order]


def _one_line(text: str) -> str:
    """Character for character, so that places in the text stay what they are."""
    shown = text.translate(_PLAIN)
    return "".join(letter if letter.isprintable() else " " for letter in shown)


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """First and last of each stretch of neighbouring places."""
    runs: list[tuple[int, int]] = []
    for place in places:
        if runs and place == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
    return runs
