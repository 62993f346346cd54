"""One concept after another: a label from the excerpts shown, then two tests of it on others.

A test that got no answer leaves its excerpts out; what remains is scored, with its n. A concept
that got no label is told as a trouble and asked about again the next time. What was answered
is kept by who answers, so a run that was killed asks only what is missing.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from cg_pipeline.label_records import ConceptContext, LlmLabel
from cg_pipeline.labels.trials import Trial, detection_trials, fuzzing_trials, marked_text
from cg_pipeline.protocols import ConceptExplainer, LabellingFailed, LabelTest, LabelTester
from cg_pipeline.records import content_id
from cg_pipeline.stats.balanced import balanced_accuracy

TRIALS_AT_ONCE = 5
"""Excerpts in one question."""
MAX_FAILURES = 10
"""Failures in a row after which nothing more is asked: the server is down, not the question bad."""


@dataclass
class Labelled:
    """What came of asking about some concepts."""

    labels: list[LlmLabel] = field(default_factory=list[LlmLabel])
    """In the order of the concepts; those without an answer are missing."""
    troubles: Counter[str] = field(default_factory=Counter[str])
    """Why labels or verdicts are missing, in sentences, and how often."""


def questions_of(
    contexts: Sequence[ConceptContext],
) -> tuple[list[str], list[list[Trial]], list[list[Trial]]]:
    """Of one concept: the excerpts to explain by, and the questions of both tests."""
    shown = [marked_text(context) for context in contexts if context.role == "shown"]
    return shown, _in_groups(detection_trials(contexts)), _in_groups(fuzzing_trials(contexts))


def by_concept(contexts: Sequence[ConceptContext]) -> dict[int, list[ConceptContext]]:
    """The excerpts of each concept, in their order."""
    found: dict[int, list[ConceptContext]] = {}
    for context in contexts:
        found.setdefault(context.concept_id, []).append(context)
    return found


def label_concepts(
    contexts: Sequence[ConceptContext],
    explainer: ConceptExplainer,
    tester: LabelTester,
    *,
    made: str,
    reader: str,
    at_once: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Labelled:
    """A label with its tests for every concept that has excerpts.

    Args:
        contexts: excerpts of all concepts.
        explainer: writes labels.
        tester: knows only a label, and is asked where it fits.
        made: today.
        reader: hash of the SAE and what it reads.
        at_once: concepts under way at a time; changes no answer.
        report: told how many concepts are done, of how many.
    """
    patience = _Patience()
    groups = by_concept(contexts)

    def ask(group: list[ConceptContext]) -> LlmLabel | None:
        return _label(group, explainer, tester, patience, made, reader)

    found = Labelled(troubles=patience.troubles)
    with ThreadPoolExecutor(at_once) as threads:
        for done, label in enumerate(threads.map(ask, groups.values()), start=1):
            found.labels.extend([] if label is None else [label])
            report(done, len(groups))
    return found


class _Patience:
    """Counts failures in a row over all threads, and gives up on a server that is down."""

    def __init__(self) -> None:
        self.troubles: Counter[str] = Counter()
        self._n_in_a_row = 0
        self._answered = False
        self._lock = threading.Lock()

    def answer_of(self, ask: Callable[[], object]) -> object | None:
        """What asking gives; None when it fails, or has failed too often."""
        if self._n_in_a_row >= MAX_FAILURES:
            self._count("Not asked: the language model failed too often in a row before.", failed=False)
            return None
        try:
            answer = ask()
        except LabellingFailed as failure:
            # A question that will never be answered may be a bad one; where none ever was, it is the server.
            self._count(str(failure), failed=not (failure.lasting and self._answered))
            return None
        with self._lock:
            self._n_in_a_row, self._answered = 0, True
        return answer

    def _count(self, trouble: str, *, failed: bool) -> None:
        with self._lock:
            self.troubles[trouble] += 1
            self._n_in_a_row += failed


def _label(
    contexts: list[ConceptContext],
    explainer: ConceptExplainer,
    tester: LabelTester,
    patience: _Patience,
    made: str,
    reader: str,
) -> LlmLabel | None:
    shown, detection, fuzzing = questions_of(contexts)
    label = patience.answer_of(lambda: explainer.explain(shown))
    if not isinstance(label, str):
        return None
    detected = list(_answered(label, "detection", detection, tester, patience))
    fuzzed = list(_answered(label, "fuzzing", fuzzing, tester, patience))
    near = [trial.fits == verdict for trial, verdict in (*detected, *fuzzed) if trial.near_miss]
    return LlmLabel(
        sae=contexts[0].sae,
        concept_id=contexts[0].concept_id,
        explainer=explainer.source,
        label=label,
        made=made,
        n_shown=len(shown),
        scorer=tester.source,
        detection=_accuracy(detected),
        n_detection=len(detected),
        fuzzing=_accuracy(fuzzed),
        n_fuzzing=len(fuzzed),
        near_misses_told=sum(near) / len(near) if near else None,
        n_near_misses=len(near),
        reader=reader,
        asked=content_id(
            explainer.way, tester.way, [(each.text, each.role, each.marked) for each in contexts]
        ),
    )


def _answered(
    label: str,
    test: LabelTest,
    questions: Sequence[Sequence[Trial]],
    tester: LabelTester,
    patience: _Patience,
) -> Iterator[tuple[Trial, bool]]:
    for trials in questions:
        verdicts = patience.answer_of(partial(tester.judge, test, label, [each.text for each in trials]))
        if isinstance(verdicts, list):
            yield from zip(trials, verdicts, strict=True)


def _accuracy(answered: Sequence[tuple[Trial, bool]]) -> float | None:
    return balanced_accuracy([trial.fits for trial, _ in answered], [verdict for _, verdict in answered])


def _in_groups(trials: list[Trial]) -> list[list[Trial]]:
    return [trials[start : start + TRIALS_AT_ONCE] for start in range(0, len(trials), TRIALS_AT_ONCE)]
