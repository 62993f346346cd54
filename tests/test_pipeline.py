"""The method from rows to report: a model that cannot do one subject, a reader that knows its word."""

import dataclasses
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypedDict

import numpy as np
import pandas as pd
import pytest

from cg_pipeline import pipeline
from cg_pipeline.answers.grading import grade
from cg_pipeline.formats import plain
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.items import Item
from cg_pipeline.metrics import METRICS
from cg_pipeline.protocols import ConceptEncoder, Generation, NamedGroup, TextGenerator
from cg_pipeline.records import Completion, Concept, ConceptActivations, Example, Score, outcome_of
from cg_pipeline.specs import Benchmark, GapRules, LocalRows, Metric, ScoringPolicy, Study
from tests.gaps.small_study import MODEL, activations_of, concept, evidence_of, health_of, tiny_sae

WORDS = ("river", "bread", "comet", "violin", "tax", "glacier")
WEAK, ABSENT = WORDS.index("violin"), WORDS.index("glacier")
STUDY = Study(
    name="toy",
    title="A toy study",
    models=("tiny",),
    benchmarks=("spoken", "chosen"),
    rules=GapRules(model_gap_share=0.2, min_n_eff=5.0),
)


class Row(TypedDict):
    """One toy question about one word."""

    word: str
    number: int


def to_item(row: Row) -> Item:
    question = f"Question {row['number']} about a {row['word']}?"
    return Item(category=row["word"], question=question, answers=(row["word"],))


def compare(example: Example, completion: Completion) -> Score:
    if not completion.text:
        return grade(completion, None, reason="unparsed")
    return grade(completion, float(completion.text == example.targets[0]), answer=completion.text)


SPOKEN = Benchmark(
    name="spoken",
    title="Spoken answers",
    scope="Words.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/spoken.jsonl"),
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="compare",
    max_new_tokens=7,
)
POLICY = ScoringPolicy(name="compare", score=compare)
ROWS = [Row(word=word, number=number) for number in range(10) for word in WORDS if word != "glacier"]


class ToyModel:
    """Answers with the word asked about, save that it cannot do violins and sometimes says nothing."""

    def __init__(self) -> None:
        self.limits: list[int] = []

    def generate(self, examples: Sequence[Example], how: Generation) -> list[Completion]:
        self.limits.append(how.max_new_tokens)
        return [self._answer(example, "end") for example in examples]

    def choose(self, examples: Sequence[Example], unconditional: str = "") -> list[Completion]:
        return [self._answer(example, "choice") for example in examples]

    def _answer(self, example: Example, stop: str) -> Completion:
        text = "cello" if "violin" in example.prompt else example.targets[0]
        return Completion(
            model="tiny",
            benchmark=example.benchmark,
            example_id=example.example_id,
            text="" if "Question 3 " in example.prompt else text,
            stop=stop,
            n_prompt_tokens=4,
            n_completion_tokens=1,
        )


class ToyReader:
    """One concept per word, active by 1 where its word is."""

    n_concepts = len(WORDS)

    def read(self, example_ids: Sequence[str], texts: Sequence[str]) -> ConceptActivations:
        active = [[float(word in text) for word in WORDS] for text in texts]
        return activations_of(np.array(active), example_ids)

    def read_answers(self, answer_ids: Sequence[str], turns: Sequence[tuple[str, str]]) -> ConceptActivations:
        return self.read(answer_ids, [answer for _, answer in turns])

    def describe(self, texts: Sequence[str]) -> list[Concept]:
        return [
            concept(number, word, rate=sum(word in text for text in texts) / len(texts))
            for number, word in enumerate(WORDS)
        ]

    def directions(self) -> np.ndarray:
        return np.eye(len(WORDS))


class ToyNamer:
    source = "toy namer"

    def name_group(self, kind: str, labels: Sequence[str]) -> NamedGroup:
        return NamedGroup(name=f"{kind}: {', '.join(labels)}", explanation="Named by a toy.")


def run(study: Study = STUDY) -> ReportInputs:
    model, reader = ToyModel(), ToyReader()
    texts = [f"A text about a {word}." for word in WORDS]
    concepts = pipeline.describe_concepts(texts, reader)
    spoken = list(pipeline.collect_examples(SPOKEN, ROWS))
    chosen = [dataclasses.replace(example, benchmark="chosen") for example in spoken[:40]]
    examples = {"spoken": spoken, "chosen": chosen}
    by_choice = dataclasses.replace(SPOKEN, name="chosen", response="choice", max_new_tokens=0)
    specs = {"spoken": SPOKEN, "chosen": by_choice}
    completions = {name: pipeline.complete(specs[name], examples[name], model) for name in examples}
    scores = {name: pipeline.score(POLICY, examples[name], completions[name]) for name in examples}
    activations = {name: pipeline.read_concepts(examples[name], reader) for name in examples}
    metrics = pd.concat(
        [
            pipeline.measure_concepts("tiny", name, activations[name], scores[name], METRICS, study)
            for name in examples
        ]
    )
    suite = pipeline.summarise_suite(metrics)
    gaps = pipeline.find_gaps(suite, metrics, concepts, study)
    return ReportInputs(
        model=MODEL,
        study=study,
        sae=tiny_sae(reader.n_concepts),
        benchmarks=specs,
        examples=examples,
        completions=completions,
        scores=scores,
        evidence={n: evidence_of(activations[n], examples[n], scores[n], study) for n in examples},
        concepts=concepts,
        health=[health_of(each) for each in concepts],
        concept_metrics=metrics,
        suite=suite,
        gaps=gaps,
        clusters=pipeline.cluster_gaps(gaps, concepts, reader, study, ToyNamer()),
    )


@pytest.fixture(scope="module")
def toy() -> ReportInputs:
    return run()


def read_anew(toy: ReportInputs) -> ConceptActivations:
    return pipeline.read_concepts(toy.examples["spoken"], ToyReader())


def test_where_every_row_is_shown_none_is_left_to_ask():
    item = to_item({"word": "river", "number": 1})
    shown = dataclasses.replace(SPOKEN, n_shots=1)
    with pytest.raises(ValueError, match="Of 1 rows n_shots, 1, are held out to be shown; expected more"):
        pipeline.choose_examples(shown, [(pipeline.pose(shown, item), item)], None, STUDY)


def test_the_fakes_fit_the_protocols():
    assert isinstance(ToyModel(), TextGenerator)
    assert isinstance(ToyReader(), ConceptEncoder)


def test_the_planted_gaps_are_found(toy: ReportInputs):
    strongest = {(gap.scope, gap.kind): gap.concept_id for gap in reversed(toy.gaps)}
    for scope in ("suite", "spoken", "chosen"):
        assert strongest[scope, "model_gap"] == WEAK
        assert strongest[scope, "missing"] == ABSENT


def test_the_weak_concept_scores_0_and_the_others_1(toy: ReportInputs):
    performance = toy.suite.set_index("concept_id")["performance"]
    assert performance[WEAK] == 0
    assert performance.drop([WEAK, ABSENT]).eq(1).all()
    assert np.isnan(performance[ABSENT])


def test_unscored_answers_are_left_out_and_counted(toy: ReportInputs):
    assert [score.reason for score in toy.scores["spoken"] if score.value is None] == ["unparsed"] * 5
    row = toy.concept_metrics.query("benchmark == 'spoken'").set_index("concept_id").loc[WEAK]
    assert (row["n_examples"], row["n_scored"]) == (10, 9)


def test_groups_are_named_by_the_namer(toy: ReportInputs):
    names = {cluster.kind: cluster.name for cluster in toy.clusters}
    assert names["model_gap"] == "model_gap: violin"
    assert {cluster.name_source for cluster in toy.clusters} == {"toy namer"}


def test_what_speaks_for_a_concept_is_split_by_how_it_went(toy: ReportInputs):
    rows = list(toy.evidence["spoken"].of([WEAK, 0]).rows())
    sides = {(row.concept_id, row.side, row.rank) for row in rows}
    assert {(WEAK, "wrong", rank) for rank in (1, 2, 3)} | {(WEAK, "unscored", 1)} == {
        side for side in sides if side[0] == WEAK
    }
    assert {side for side in sides if side[0] == 0} == {
        (0, "right", 1),
        (0, "right", 2),
        (0, "right", 3),
        (0, "unscored", 1),
    }
    prompts = {example.example_id: example.prompt for example in toy.examples["spoken"]}
    assert all("violin" in prompts[row.example_id] for row in rows if row.concept_id == WEAK)
    assert list(toy.evidence["spoken"].of([ABSENT]).rows()) == []


def test_the_report_names_what_was_found(toy: ReportInputs):
    report = pipeline.write_report(toy)
    assert "Spoken answers" in report.html
    assert "model_gap: violin" in report.html
    assert "Model gaps: 1" in report.markdown


def test_a_repeated_run_finds_the_same(toy: ReportInputs):
    again = run()
    pd.testing.assert_frame_equal(again.concept_metrics, toy.concept_metrics)
    assert (again.gaps, again.clusters) == (toy.gaps, toy.clusters)


def test_generation_gets_the_limit_of_the_benchmark_and_choice_none():
    model = ToyModel()
    examples = list(pipeline.collect_examples(SPOKEN, ROWS[:2]))
    assert {completion.stop for completion in pipeline.complete(SPOKEN, examples, model)} == {"end"}
    chosen = dataclasses.replace(SPOKEN, response="choice", max_new_tokens=0)
    assert {completion.stop for completion in pipeline.complete(chosen, examples, model)} == {"choice"}
    assert model.limits == [7]


def test_scores_come_in_the_order_of_the_examples_whatever_that_of_the_completions():
    examples = list(pipeline.collect_examples(SPOKEN, ROWS[:6]))
    completions = ToyModel().generate(examples, Generation(max_new_tokens=7))
    scores = pipeline.score(POLICY, examples, completions[::-1])
    assert [score.example_id for score in scores] == [example.example_id for example in examples]


def test_a_missing_or_foreign_completion_is_refused():
    examples = list(pipeline.collect_examples(SPOKEN, ROWS[:3]))
    completions = ToyModel().generate(examples, Generation(max_new_tokens=7))
    with pytest.raises(
        ValueError, match="2 completions for 3 examples, 1 of which have none; 0 are about others"
    ):
        pipeline.score(POLICY, examples, completions[:2])
    with pytest.raises(
        ValueError, match="3 completions for 2 examples, 0 of which have none; 1 are about others"
    ):
        pipeline.score(POLICY, examples[:2], completions)


def test_scores_and_activations_are_matched_by_example_and_not_by_place(toy: ReportInputs):
    activations, scores = read_anew(toy), toy.scores["spoken"]
    found = pipeline.measure_concepts("tiny", "spoken", activations, scores[::-1], METRICS, STUDY)
    expected = toy.concept_metrics.query("benchmark == 'spoken'")
    pd.testing.assert_frame_equal(found, expected)


def test_scores_of_other_examples_are_refused(toy: ReportInputs):
    activations, scores = read_anew(toy), toy.scores["spoken"]
    with pytest.raises(
        ValueError, match="49 scores and 50 activations of 'tiny' on 'spoken' are not about the same"
    ):
        pipeline.measure_concepts("tiny", "spoken", activations, scores[1:], METRICS, STUDY)


def test_every_metric_of_the_catalogue_is_a_column(toy: ReportInputs):
    assert list(toy.concept_metrics.columns) == ["model", "benchmark", "concept_id", *METRICS]


@pytest.mark.parametrize("wrong", [1.0, np.ones(3), np.ones((6, 1))])
def test_a_metric_gives_one_number_per_concept(toy: ReportInputs, wrong: object):
    broken = {"broken": Metric(name="broken", description="", compute=lambda evidence: wrong)}
    activations, scores = read_anew(toy), toy.scores["spoken"]
    with pytest.raises(ValueError, match=r"Metric 'broken' \(metrics/broken\.py\) gave .*; expected \("):
        pipeline.measure_concepts("tiny", "spoken", activations, scores, broken, STUDY)


def test_the_studys_normaliser_is_used(toy: ReportInputs):
    plain = run(dataclasses.replace(STUDY, normaliser="none"))
    scaled = toy.suite["coverage"] / plain.suite["coverage"]
    assert (scaled.dropna() > 1).all()
    assert [(gap.kind, gap.concept_id) for gap in plain.gaps] == [
        (gap.kind, gap.concept_id) for gap in toy.gaps
    ]


def test_an_empty_benchmark_is_measured_as_empty():
    empty = activations_of(np.zeros((0, 6)), [])
    found = pipeline.measure_concepts("tiny", "spoken", empty, [], METRICS, STUDY)
    assert (found["coverage"] == 0).all()
    assert found["performance"].isna().all()
    assert (found["n_examples"] == 0).all()


def test_rows_that_make_no_sense_are_refused_where_they_are():
    with pytest.raises(ValueError, match="prompt is ' '; expected text"):
        list(pipeline.collect_examples(dataclasses.replace(SPOKEN, to_item=_nonsense), ROWS[:1]))


def _nonsense(row: Row) -> Item:
    return Item(category="any", question=" ", answers=("x",))


def score_of(example_id: str, sample: int, value: float | None) -> Score:
    return Score(
        model="m",
        benchmark="b",
        example_id=example_id,
        sample=sample,
        outcome=outcome_of(value),
        value=value,
        reason="" if value is not None else "unparsed",
        answer="",
    )


def test_pass_rates_of_repeated_answers():
    scores = [score_of("a", i, value) for i, value in enumerate((1.0, 0.0, 0.5))]
    scores += [score_of("b", i, value) for i, value in enumerate((0.0, None, None))]
    # a: 1 of 3 right; b: 0 of 1, the unscored ones left out, so that only a has two answers or more.
    assert pipeline.pass_rates(scores) == pytest.approx({"pass@1": 1 / 6, "pass@2": 2 / 3, "pass@3": 1.0})


def test_single_answers_have_no_pass_rates():
    assert pipeline.pass_rates([score_of("a", 0, 1.0), score_of("b", 0, 0.0)]) == {}
    assert pipeline.pass_rates([]) == {}


def test_answers_are_read_after_their_own_prompts_each_with_its_own_score():
    """Two answers to one example: the one with the word is right, the other one wrong."""
    examples = list(pipeline.collect_examples(SPOKEN, ROWS[:2]))
    (given, *_) = ToyModel().generate(examples, Generation(max_new_tokens=7))
    answers = [
        dataclasses.replace(given, example_id=example.example_id, sample=sample, text=text)
        for example in examples[::-1]
        for sample, text in enumerate((example.targets[0], "comet"))
    ]
    read = pipeline.read_completions(examples, answers, ToyReader())
    ids = [example.example_id for example in examples[::-1]]
    assert read.example_ids == (ids[0], f"{ids[0]}#1", ids[1], f"{ids[1]}#1")

    scores = pipeline.score(POLICY, examples, answers)
    found = pipeline.measure_completions("tiny", "spoken", read, scores, METRICS, STUDY)
    of = found.set_index("concept_id")
    right, wrong = (WORDS.index(word) for word in (examples[0].targets[0], "comet"))
    assert (of.loc[right, "performance"], of.loc[right, "n_examples"]) == (1.0, 1)
    assert (of.loc[wrong, "performance"], of.loc[wrong, "n_examples"]) == (0.0, 2)
    with pytest.raises(ValueError, match="not about the same examples"):
        pipeline.measure_completions("tiny", "spoken", read, scores[1:], METRICS, STUDY)


class ToyJudge:
    source = "me"

    def decide(self, prompt: str, verdicts: Sequence[str]) -> str:
        return verdicts[0]


def test_a_policy_that_asks_is_given_whom_to_ask_many_at_a_time():
    examples = list(pipeline.collect_examples(SPOKEN, ROWS[:6]))
    completions = ToyModel().generate(examples, Generation(max_new_tokens=7))
    together = threading.Barrier(3, timeout=20)

    def ask(example: Example, completion: Completion, judge: Any) -> Score:
        together.wait()  # breaks unless three are under way at once
        return grade(completion, 1.0, answer=judge.source)

    for asks in ({"judged": True}, {"runs_code": True}):
        policy = ScoringPolicy(name="asks", score=ask, **asks)
        scores = pipeline.score(policy, examples, completions, ToyJudge(), at_once=3)
        assert [score.example_id for score in scores] == [example.example_id for example in examples]
        assert {score.answer for score in scores} == {"me"}


def test_scores_that_take_time_can_be_watched_as_they_come():
    examples = list(pipeline.collect_examples(SPOKEN, ROWS[:6]))
    completions = ToyModel().generate(examples, Generation(max_new_tokens=7))
    seen: list[str] = []

    def ask(example: Example, completion: Completion, judge: Any) -> Score:
        return grade(completion, 1.0, answer=judge.source)

    def watch(scores: Iterable[Score]) -> Iterator[Score]:
        for score in scores:
            seen.append(score.example_id)
            yield score

    policy = ScoringPolicy(name="asks", score=ask, judged=True)
    scores = pipeline.score(policy, examples, completions[::-1], ToyJudge(), 2, watch)
    assert seen == [score.example_id for score in scores] == [example.example_id for example in examples]
