"""A label and its two tests, with fakes that know the answer, know nothing, or fail."""

import threading
from collections.abc import Sequence

import pytest

from cg_pipeline.labels.explaining import MAX_FAILURES, TRIALS_AT_ONCE, label_concepts, questions_of
from cg_pipeline.protocols import ConceptExplainer, LabellingFailed, LabelTester
from tests.labels.cases import context


def group(concept_id: int = 0) -> list:
    return [
        context(f"the cat sat {concept_id}", "cat", concept_id=concept_id),
        *(context(f"a cat ran {i} times", "cat", role="held_out", concept_id=concept_id) for i in range(4)),
        *(
            context(f"a dog ran {i} times", role="kindred", marked=("dog",), concept_id=concept_id)
            for i in range(4)
        ),
    ]


class Explainer:
    source, way = "llm:writer", "w1"

    def __init__(self, fails: int = 0) -> None:
        self.fails = fails
        self.shown: list[Sequence[str]] = []

    def explain(self, excerpts: Sequence[str]) -> str:
        self.shown.append(excerpts)
        if len(self.shown) <= self.fails:
            raise LabellingFailed("It is down.")
        return "cats"


class Reading:
    """Says yes where a text holds `⟦cat⟧`, or for detection `cat`: the label taken at its word."""

    source, way = "llm:tester", "t1"

    def judge(self, test: str, label: str, excerpts: Sequence[str]) -> list[bool]:
        assert label == "cats"
        assert len(excerpts) <= TRIALS_AT_ONCE
        return [("⟦cat⟧" if test == "fuzzing" else "cat") in text for text in excerpts]


class Yes(Reading):
    def judge(self, test: str, label: str, excerpts: Sequence[str]) -> list[bool]:
        return [True] * len(excerpts)


class Silent(Reading):
    def judge(self, test: str, label: str, excerpts: Sequence[str]) -> list[bool]:
        if test == "fuzzing":
            raise LabellingFailed("It declined to answer.", lasting=True)
        return super().judge(test, label, excerpts)


def label(contexts, explainer=None, tester=None, at_once=1, **how):
    return label_concepts(
        contexts,
        explainer or Explainer(),
        tester or Reading(),
        made="2026-05-31",
        reader="r",
        at_once=at_once,
        **how,
    )


def test_the_fakes_are_what_the_protocols_ask_for():
    assert isinstance(Explainer(), ConceptExplainer)
    assert isinstance(Reading(), LabelTester)


def test_a_label_with_its_scores():
    """Four held-out cats, four dogs; for fuzzing also the cats' excerpts with other words marked."""
    explainer = Explainer()
    [found] = label(group(), explainer).labels
    assert explainer.shown == [["the ⟦cat⟧ sat 0"]]
    assert (found.label, found.explainer, found.scorer) == ("cats", "llm:writer", "llm:tester")
    assert (found.made, found.reader, found.n_shown) == ("2026-05-31", "r", 1)
    assert (found.detection, found.n_detection) == (1.0, 8)
    assert (found.fuzzing, found.n_fuzzing) == (1.0, 12)
    assert (found.near_misses_told, found.n_near_misses) == (1.0, 8)


def test_who_says_yes_to_everything_scores_like_chance_and_tells_no_near_miss():
    [found] = label(group(), tester=Yes()).labels
    assert (found.detection, found.fuzzing, found.near_misses_told) == (0.5, 0.5, 0.0)


def test_a_test_without_answers_leaves_its_score_open():
    labelled = label(group(), tester=Silent())
    [found] = labelled.labels
    assert (found.detection, found.fuzzing, found.n_fuzzing) == (1.0, None, 0)
    assert labelled.troubles == {"It declined to answer.": len(questions_of(group())[2])}


def test_nothing_to_test_with_is_no_score():
    [found] = label(group()[:1]).labels
    assert (found.detection, found.n_detection, found.near_misses_told) == (None, 0, None)


def test_one_failure_does_not_stop_the_others():
    labelled = label([*group(0), *group(1)], Explainer(fails=1))
    assert [each.concept_id for each in labelled.labels] == [1]
    assert labelled.troubles == {"It is down.": 1}


def test_a_server_that_is_down_is_not_asked_for_ever():
    explainer = Explainer(fails=99)
    labelled = label([each for i in range(MAX_FAILURES + 5) for each in group(i)], explainer)
    assert labelled.labels == []
    assert len(explainer.shown) == MAX_FAILURES
    assert labelled.troubles["Not asked: the language model failed too often in a row before."] == 5


def test_a_server_that_never_gave_anything_usable_is_not_asked_for_ever():
    """Each answer is garbage for good: at the tenth it is the server, and each one is paid for."""

    class Garbage(Explainer):
        def explain(self, excerpts: Sequence[str]) -> str:
            self.shown.append(list(excerpts))
            raise LabellingFailed("It answered with nothing usable.", lasting=True)

    explainer = Garbage()
    labelled = label([each for i in range(MAX_FAILURES + 5) for each in group(i)], explainer)
    assert labelled.labels == []
    assert len(explainer.shown) == MAX_FAILURES


def test_concepts_are_asked_about_a_few_at_a_time_and_told():
    told: list[tuple[int, int]] = []
    meet = threading.Barrier(3)

    class Meeting(Explainer):
        def explain(self, excerpts: Sequence[str]) -> str:
            meet.wait(10)
            return super().explain(excerpts)

    labelled = label(
        [each for i in range(6) for each in group(i)],
        Meeting(),
        at_once=3,
        report=lambda *how: told.append(how),
    )
    assert [each.concept_id for each in labelled.labels] == list(range(6))
    assert told == [(n, 6) for n in range(1, 7)]


@pytest.mark.parametrize("change", ["explainer", "tester", "excerpts"])
def test_another_way_of_asking_shows(change: str):
    explainer, tester, contexts = Explainer(), Reading(), group()
    [before] = label(contexts, explainer, tester).labels
    if change == "explainer":
        explainer.way = "w2"
    elif change == "tester":
        tester.way = "t2"
    else:
        contexts = contexts[:-1]
    [after] = label(contexts, explainer, tester).labels
    assert before.asked != after.asked
