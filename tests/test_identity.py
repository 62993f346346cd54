"""Which edit of the catalogue asks for which stages to be run again, and which for none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from cg_pipeline import identity
from cg_pipeline.answers.grading import grade
from cg_pipeline.formats import plain
from cg_pipeline.health_specs import HealthRules, PublishedFigures, ReaderGate
from cg_pipeline.items import Item
from cg_pipeline.label_specs import Labelling, NeuronpediaExport
from cg_pipeline.metrics import METRICS
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.scoring import POLICIES
from cg_pipeline.specs import (
    Benchmark,
    Evidence,
    GapRules,
    HubWeights,
    LocalRows,
    LocalWeights,
    Metric,
    Model,
    Sae,
    SaeDirectory,
    SaeRelease,
    SaeTraining,
    Sampling,
    ScoringPolicy,
    ServedModel,
    Study,
)


class Row(dict[str, str]):
    """A raw row."""


class OtherRow(dict[str, str]):
    """A raw row with other fields."""

    extra = 1


def to_item(row: Any) -> Item:
    return Item(question=row["q"], answers=(row["a"],))


def to_item_anew(row: Any) -> Item:
    return Item(question=row["q"] + "!", answers=(row["a"],))


def example(question: str, answer: str, category: str = "c") -> Example:
    return Example(benchmark="quiz", category=category, cluster="", prompt=question, targets=(answer,))


def always_right(example: Example, completion: Completion) -> Score:
    return grade(completion, 1.0)


def ones(evidence: Evidence) -> np.ndarray:
    return np.ones(evidence.saliency.shape[1])


def counted(examples: Sequence[Example], scores: Sequence[Score]) -> dict[str, float]:
    return {"n": float(len(scores))}


READING_MODEL = Model(
    name="base",
    title="Base",
    weights=LocalWeights(path="models/base"),
    licence="MIT",
    chat=False,
    max_tokens=99,
    reader="sae",
)
TRAINING = SaeTraining(
    k=8,
    n_tokens=100,
    n_epochs=1,
    context_tokens=16,
    chat_share=0.5,
    learning_rate=1e-3,
    batch_tokens=32,
    seed=0,
)

BENCHMARK = Benchmark(
    name="quiz",
    title="Quiz",
    scope="Sums.",
    licence="MIT",
    source=LocalRows(path="quiz.jsonl"),
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="numeric",
    max_new_tokens=8,
)
SAE = Sae(
    name="sae",
    title="Reader",
    model=READING_MODEL,
    hookpoint="blocks.1.hook_resid_post",
    weights=SaeDirectory(path="saes/sae"),
    d_sae=16,
    licence="MIT",
    training=TRAINING,
)
STUDY = Study(name="study", title="Study", models=("chatty",), benchmarks=("quiz",))
MODEL = replace(READING_MODEL, name="chatty", chat=True)


@dataclass(frozen=True)
class World:
    """Everything the fingerprints of one cell are made from."""

    examples: tuple[Example, ...] = (example("2 + 2?", "4"),)
    benchmark: Benchmark = BENCHMARK
    model: Model = MODEL
    sae: Sae = SAE
    policy: ScoringPolicy = POLICIES["numeric"]
    metrics: tuple[Metric, ...] = tuple(METRICS.values())
    study: Study = STUDY
    sample: str = "sample"
    weights: str = "weights"
    files: str = ""
    namer: str = "automatic"
    judge: str = "none"
    engine: str = "transformers"
    origin: str = "file"
    label_file: str = "label file"
    chosen: tuple[int, ...] = (1, 2)
    answered: tuple[str, ...] = ("a label",)

    @property
    def titles(self) -> list[str]:
        return [self.model.title, self.sae.title, self.benchmark.title]

    def fingerprints(self) -> dict[str, str]:
        examples = identity.examples_id(self.examples)
        completions = identity.completions_id(
            self.examples, self.benchmark, self.model, self.engine, self.files
        )
        scores = identity.scores_id(completions, self.policy, self.judge)
        activations = identity.activations_id(self.examples, self.sae, self.weights)
        concepts = identity.concepts_id(self.sample, self.sae, self.weights)
        reader = identity.reader_id(self.sae, self.weights)
        contexts = identity.concept_contexts_id(self.sample, reader, self.chosen)
        asked = identity.llm_labels_id(contexts, self.answered)
        files = {"own:mine.csv": self.label_file}
        labels = identity.concept_labels_id(concepts, files, asked, self.sae.labels)
        measured = identity.concept_metrics_id(scores, activations, self.metrics, self.study)
        said = identity.completion_activations_id(completions, self.sae, self.weights)
        weighed = identity.completion_metrics_id(scores, said, self.metrics, self.study)
        suite = identity.suite_metrics_id({self.benchmark.name: measured})
        fit = identity.reader_fit_id(self.examples, self.sae, self.weights)
        gate = identity.reader_gate_id(fit, self.sae)
        health = identity.concept_health_id(
            concepts, labels, fit, {self.benchmark.name: activations}, self.study
        )
        gaps = identity.gaps_id(suite, concepts, health, self.study)
        clusters = identity.gap_clusters_id(gaps, labels, self.study, self.namer)
        evidence = identity.evidence_id(scores, activations, self.study)
        kept = {self.benchmark.name: evidence}
        report = identity.gap_report_id(clusters, kept, self.study, self.titles)
        names = (
            identity.benchmark_rows_id([self.origin]),
            examples,
            identity.near_duplicates_id({self.benchmark.name: examples}),
            completions,
            scores,
            concepts,
            identity.label_files_id(files),
            contexts,
            asked,
            labels,
            fit,
            gate,
            activations,
            measured,
            said,
            weighed,
            evidence,
            suite,
            health,
            gaps,
            clusters,
            report,
        )
        return dict(zip(identity.STAGES, names, strict=True))


WORLD = World()
EXAMPLES = ["examples", "near_duplicates"]
NOTHING: list[str] = []
REPORT = ["gap_report"]
CLUSTERS = ["gap_clusters", *REPORT]
GAPS = ["gaps", *CLUSTERS]
METRICS_ON = ["concept_metrics", "suite_metrics", *GAPS]
HEALTH = ["concept_health", *GAPS]
FIT = ["reader_fit", "reader_gate", *HEALTH]
ANSWERS = ["completion_activations", "completion_metrics"]
METRICS_EDITED = [*METRICS_ON, "completion_metrics"]
READING = [*FIT, "activations", "evidence", *ANSWERS, *METRICS_ON]
SCORES = ["scores", "evidence", *METRICS_EDITED]
COMPLETIONS = ["completions", *ANSWERS, *SCORES]
LABELS = ["concept_labels", *HEALTH]
EXCERPTS = ["concept_contexts", "llm_labels", *LABELS]
DICTIONARY = ["concepts", "concept_labels", *HEALTH]
READ_ALL = ["concepts", *EXCERPTS, *READING]


def benchmark(**changes: Any) -> World:
    return replace(WORLD, benchmark=replace(WORLD.benchmark, **changes))


def model(**changes: Any) -> World:
    return replace(WORLD, model=replace(WORLD.model, **changes))


def sae(**changes: Any) -> World:
    return replace(WORLD, sae=replace(WORLD.sae, **changes))


def reading_model(**changes: Any) -> World:
    return sae(model=replace(READING_MODEL, **changes))


def study(**changes: Any) -> World:
    return replace(WORLD, study=replace(WORLD.study, **changes))


def world(**changes: Any) -> World:
    return replace(WORLD, **changes)


EXPORT = NeuronpediaExport(model_id="m", source_id="0-res", as_of="2026-05-31")
JUDGED = replace(WORLD, policy=replace(WORLD.policy, judged=True))
RUN = replace(WORLD, policy=replace(WORLD.policy, runs_code=True))
ONES = Metric(name="ones", description="One.", compute=ones)

EDITS: list[tuple[World, list[str]]] = [
    # What only people read.
    (benchmark(title="Other"), REPORT),
    (benchmark(scope="Other."), NOTHING),
    (benchmark(licence="Other"), NOTHING),
    (benchmark(source=LocalRows(path="moved.jsonl")), NOTHING),
    (model(title="Other"), REPORT),
    (model(licence="Other"), NOTHING),
    (sae(title="Other"), REPORT),
    (sae(licence="Other"), NOTHING),
    (reading_model(title="Other"), NOTHING),
    (study(title="Other"), REPORT),
    # The benchmark.
    (world(examples=(example("2 + 2?", "4", category="sums"),)), EXAMPLES),
    (world(origin="other file"), ["benchmark_rows"]),  # what they hold shows in the examples
    (world(weights="other weights"), READ_ALL),
    (benchmark(to_item=to_item_anew), NOTHING),  # what it asks shows in the examples themselves
    (benchmark(row=OtherRow), NOTHING),
    (benchmark(version=2), COMPLETIONS),
    (benchmark(stop=("\n",)), COMPLETIONS),
    (benchmark(sampling=Sampling(n=2, temperature=0.7)), COMPLETIONS),
    (benchmark(unconditional="Answer:"), COMPLETIONS),
    (benchmark(max_new_tokens=9), COMPLETIONS),
    (benchmark(response="choice", max_new_tokens=0), COMPLETIONS),
    (world(examples=(example("2 + 3?", "5"),)), [*EXAMPLES, *COMPLETIONS, *READING]),
    # The model that answers.
    (model(weights=HubWeights(repo="a/b", revision="0" * 40)), COMPLETIONS),
    (model(weights=LocalWeights(path="models/moved")), NOTHING),  # what is in its files counts
    (world(files="other files"), COMPLETIONS),
    (model(chat=False), COMPLETIONS),
    (model(system_prompt="Be brief."), COMPLETIONS),
    (model(dtype="bfloat16"), COMPLETIONS),
    (model(max_tokens=100), COMPLETIONS),
    (model(version=2), COMPLETIONS),
    (world(engine="vllm"), COMPLETIONS),
    (model(reader="other"), NOTHING),  # the other reader's own fingerprint is what differs
    # Scoring.
    (world(policy=replace(WORLD.policy, version=2)), SCORES),
    (world(policy=replace(WORLD.policy, score=always_right)), SCORES),
    (world(policy=POLICIES["likelihood"]), SCORES),
    (world(policy=replace(WORLD.policy, summarise=counted)), SCORES),
    (world(policy=replace(WORLD.policy, libraries=("pytest",))), SCORES),
    (world(policy=replace(WORLD.policy, libraries=("no-such-thing",))), SCORES),
    # The reader.
    (sae(hookpoint="blocks.2.hook_resid_post"), READ_ALL),
    (sae(weights=SaeRelease(release="r", sae_id="s", file="a/b/c.npz")), READ_ALL),
    (sae(dtype="bfloat16"), READ_ALL),
    (sae(trained_on="base", accepts=("bos", "context")), NOTHING),  # only what is checked
    (sae(d_sae=32), READ_ALL),
    (sae(token_mask="all"), READ_ALL),
    (sae(version=2), READ_ALL),
    (sae(training=replace(TRAINING, seed=1)), NOTHING),  # what training gave is in the weights
    (sae(training=None), NOTHING),
    (reading_model(dtype="float16"), READ_ALL),
    (reading_model(weights=HubWeights(repo="a/b", revision="0" * 40)), READ_ALL),
    (reading_model(weights=LocalWeights(path="models/moved")), NOTHING),  # its files are in `weights`
    (sae(dense_threshold=0.2), DICTIONARY),
    (world(sample="other sample"), [*DICTIONARY, *EXCERPTS]),
    # Labels: whatever is done to them, nothing that runs a model and no metric is made anew.
    (world(label_file="other labels"), ["label_files", *LABELS]),
    (world(answered=("another label",)), ["llm_labels", *LABELS]),
    (world(chosen=(3,)), ["concept_contexts"]),
    (sae(labels=Labelling(precedence=("automatic",))), LABELS),
    (sae(labels=Labelling(low_score=0.9)), LABELS),
    (sae(labels=Labelling(sources=(EXPORT,))), NOTHING),  # what it holds is in a file of its own
    # Metrics and the study.
    (world(metrics=(*WORLD.metrics, ONES)), METRICS_EDITED),
    (world(metrics=(replace(WORLD.metrics[0], version=2), *WORLD.metrics[1:])), METRICS_EDITED),
    (world(metrics=(replace(WORLD.metrics[0], compute=ones), *WORLD.metrics[1:])), METRICS_EDITED),
    (world(metrics=(replace(WORLD.metrics[0], description="Other."), *WORLD.metrics[1:])), NOTHING),
    (study(normaliser="none"), METRICS_EDITED),
    (study(rules=GapRules(under_share=0.2)), GAPS),
    (study(rules=GapRules(min_n_eff=5.0)), GAPS),
    (study(n_evidence=5), ["evidence", *REPORT]),
    (study(read_completions=True), REPORT),
    (study(max_clusters=5), CLUSTERS),
    # Bounds of trust: judged anew, and nothing is read or measured again.
    (sae(gate=ReaderGate(min_explained_variance=0.7)), ["reader_gate"]),
    (sae(published=PublishedFigures(l0=32.0, source="somewhere")), ["reader_gate"]),
    (study(health=HealthRules(max_cosine=0.8)), HEALTH),
    (study(seed=1), CLUSTERS),
    (world(namer="some-llm"), CLUSTERS),
]


def differing(one: World, other: World) -> list[str]:
    first, second = one.fingerprints(), other.fingerprints()
    return [stage for stage in identity.STAGES if first[stage] != second[stage]]


@pytest.mark.parametrize(("edited", "stages"), EDITS)
def test_an_edit_changes_the_stages_that_depend_on_it_and_no_other(edited, stages):
    assert differing(WORLD, edited) == [stage for stage in identity.STAGES if stage in stages]


@pytest.mark.parametrize(("asks", "stages"), [(WORLD, NOTHING), (JUDGED, SCORES), (RUN, SCORES)])
def test_who_decides_matters_where_somebody_is_asked(asks, stages):
    """Giving leave to run programs, or another judge, scores again: what was unscored may not be now."""
    assert sorted(differing(asks, replace(asks, judge="llm:other"))) == sorted(stages)


def test_another_version_of_a_library_that_decides_scores_again(monkeypatch: pytest.MonkeyPatch):
    reads = world(policy=POLICIES["math_equivalence"])
    here = reads.fingerprints()["scores"]
    monkeypatch.setattr(identity, "_version", lambda name: "99.0" if name == "sympy" else "1.0")
    one = reads.fingerprints()["scores"]
    monkeypatch.setattr(identity, "_version", lambda name: "1.0")
    assert len({here, one, reads.fingerprints()["scores"]}) == 3


def test_the_engine_here_is_nothing_to_a_model_elsewhere():
    served = model(weights=ServedModel(base_url="http://a/v1", model="m"))
    assert differing(served, replace(served, engine="vllm")) == NOTHING


def test_equal_catalogues_have_equal_fingerprints():
    assert WORLD.fingerprints() == World().fingerprints()
    assert len(set(WORLD.fingerprints().values())) == len(identity.STAGES)


def test_models_with_one_reader_share_their_activations():
    other = replace(model(name="other"), files="other files")
    assert differing(WORLD, other) == [stage for stage in identity.STAGES if stage in COMPLETIONS]


def test_what_a_gated_repository_asks_for_changes_no_answer():
    open_one, gated = (HubWeights(repo="a/b", revision="0" * 40, gated=terms) for terms in ("", "its terms"))
    assert differing(model(weights=open_one), model(weights=gated)) == NOTHING


def test_two_models_never_share_answers():
    """Fault F1: a cache without the model in its key serves one model's answers for another."""
    revisions = [model(weights=HubWeights(repo="a/b", revision=digit * 40)) for digit in "01"]
    assert differing(*revisions)[0] == "completions"


def test_activations_follow_what_is_read_not_where_it_stands():
    one, two = (example(question, "4") for question in ("2 + 2?", "1 + 3?"))
    assert identity.activations_id([one, two], WORLD.sae, "weights") != identity.activations_id(
        [two, one], WORLD.sae, "weights"
    )
    recategorised = replace(one, category="other")
    assert identity.activations_id([one], WORLD.sae, "weights") == identity.activations_id(
        [recategorised], WORLD.sae, "weights"
    )


def test_a_suite_counts_each_benchmark_by_name_in_any_order():
    one = identity.suite_metrics_id({"a": "1", "b": "2"})
    assert one == identity.suite_metrics_id({"b": "2", "a": "1"})
    assert one != identity.suite_metrics_id({"a": "2", "b": "1"})


@pytest.mark.parametrize("stage", identity.STAGES)
def test_a_stage_s_version_changes_it_and_what_depends_on_it(stage: str, monkeypatch: pytest.MonkeyPatch):
    depends = {
        "benchmark_rows": ["benchmark_rows"],
        "near_duplicates": ["near_duplicates"],
        "examples": EXAMPLES,  # what they say shows in their ids
        "completions": COMPLETIONS,
        "scores": SCORES,
        "concepts": DICTIONARY,
        "label_files": ["label_files"],  # what they hold shows in concept_labels
        "concept_contexts": EXCERPTS,
        "llm_labels": EXCERPTS[1:],
        "concept_labels": LABELS,
        "reader_fit": FIT,
        "reader_gate": ["reader_gate"],  # what waits for it does not depend on it
        "activations": ["activations", "concept_health", "evidence", *METRICS_ON],
        "completion_activations": ANSWERS,
        "completion_metrics": ANSWERS[1:],
        "concept_health": HEALTH,
        "concept_metrics": METRICS_EDITED,
        "evidence": ["evidence", *REPORT],
        "suite_metrics": METRICS_ON[1:],
        "gaps": GAPS,
        "gap_clusters": CLUSTERS,
        "gap_report": REPORT,
    }
    before = WORLD.fingerprints()
    monkeypatch.setattr(identity, "STAGES", {**identity.STAGES, stage: identity.STAGES[stage] + 1})
    after = WORLD.fingerprints()
    assert {name for name in before if before[name] != after[name]} == set(depends[stage])


def test_an_unknown_stage_has_no_fingerprint():
    with pytest.raises(KeyError, match="gap_reprot"):
        identity.stage_id("gap_reprot")


def test_labels_of_whichever_concepts_are_current_while_what_was_read_is():
    base = identity.concept_contexts_id("sample", "reader")
    chosen = identity.concept_contexts_id("sample", "reader", [3, 4])
    assert chosen.startswith(f"{base}-")
    asked = identity.llm_labels_id(chosen, ["a"])
    assert asked.startswith(f"{identity.llm_labels_id(base)}-")
    assert not asked.startswith(identity.llm_labels_id(identity.concept_contexts_id("other", "reader")))


def test_labels_that_are_yet_to_be_fetched_are_no_labels():
    unfetched = identity.concept_labels_id("c", None, "", WORLD.sae.labels)
    assert unfetched != identity.concept_labels_id("c", {}, "", WORLD.sae.labels)


@pytest.mark.parametrize(
    ("chat", "response", "changes"),
    [(True, "choice", True), (False, "choice", False), (True, "generation", False)],
)
def test_choices_that_bring_their_texts_are_asked_anew_of_chat_models(monkeypatch, chat, response, changes):
    """They once went through the chat template; no other cell is touched."""
    model = replace(READING_MODEL, chat=chat)
    limit = 5 if response == "generation" else 0
    benchmark = replace(BENCHMARK, response=response, max_new_tokens=limit)
    asked = Example(
        benchmark="quiz", category="c", cluster="", prompt="a _ b", choices=("x", "y"), targets=("x",)
    )
    filled = replace(asked, stems=("a x", "a y"), continuations=("b", "b"))
    before = {each: identity.completions_id([each], benchmark, model) for each in (asked, filled)}
    monkeypatch.setattr(identity, "_without_template", lambda *_: [])
    after = {each: identity.completions_id([each], benchmark, model) for each in (asked, filled)}
    assert before[asked] == after[asked]
    assert (before[filled] != after[filled]) == changes


def answer(question: str, text: str = "4", stop: str = "end", **fields: Any) -> Completion:
    return Completion(
        model="chatty",
        benchmark="quiz",
        example_id=question,
        text=text,
        stop=stop,  # pyright: ignore[reportArgumentType]
        n_prompt_tokens=1,
        n_completion_tokens=1,
        **fields,
    )


@pytest.mark.parametrize("stop", ["end", "length", "choice", "overflow", "refused"])
def test_completions_are_whole_when_each_example_had_its_chance(stop):
    assert identity.answered_id("abc", [answer("a"), answer("b", stop=stop)]) == "abc"
    assert not identity.is_part_of("abc", "abc")


@pytest.mark.parametrize("stop", ["timed_out", "failed"])
def test_completions_are_told_by_what_came_while_some_are_to_be_asked_again(stop):
    found = [answer("a"), answer("b", "", stop)]
    part = identity.answered_id("abc", found)
    assert part != "abc"
    assert identity.is_part_of(part, "abc")
    assert not identity.is_part_of(part, "ab")
    assert identity.answered_id("abc", list(found)) == part
    others = [
        [answer("a", "5"), found[1]],
        [answer("a", choice_logprobs=(-1.0, -2.0)), found[1]],
        [answer("c"), found[1]],
        [found[0], replace(found[1], sample=1)],
        [found[0], replace(found[1], stop="failed" if stop == "timed_out" else "timed_out")],
        [answer("a", "", stop), found[1]],
    ]
    assert part not in {identity.answered_id("abc", each) for each in others}
