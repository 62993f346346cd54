"""THE METHOD ON ONE PAGE: one function per stage, in running order.

    rows ── collect_examples ── choose_examples ─┬─ complete ── score ─┐
                  │                              └─ read_concepts ─────┼─ choose_, read_, assemble_evidence
                  │                                     │              └─ measure_concepts    one benchmark
                  └─ fit_reader ── judge_reader (gate)  │                      │
                         │                              │               summarise_suite       a suite
                         └──────────────── judge_concepts ──┐                  │
    texts ── describe_concepts ──────────────────┴──────────┴── find_gaps ─────┘
                                                                    │
                                                               cluster_gaps ── write_report

A stage takes and returns the records of `records.py`; what it needs of the world comes in
through a protocol. Dagster (`defs/`) gives each stage its inputs and stores what it
returns; nothing here knows about that.

Source of the method: Bohacek et al., "Uncovering Competency Gaps in Large Language Models
and Their Benchmarks", arXiv 2512.20638.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from cg_pipeline.answers.grading import score_one
from cg_pipeline.curation import Posed, add_shots, find_near_duplicates, hold_out, limit_examples
from cg_pipeline.evidence.assembling import assemble_evidence as join_evidence
from cg_pipeline.evidence.pairs import Wanted, pairs_of
from cg_pipeline.evidence.strongest import Strongest, find_strongest
from cg_pipeline.evidence_records import ConceptEvidence, PairFirings
from cg_pipeline.gaps.clustering import group_gaps
from cg_pipeline.gaps.inputs import Report, ReportInputs
from cg_pipeline.gaps.naming import name_clusters
from cg_pipeline.gaps.report import build_report
from cg_pipeline.gaps.selection import select_gaps
from cg_pipeline.gaps.suite import combine_benchmarks
from cg_pipeline.health.concepts import measure_health
from cg_pipeline.health.gate import judge_fit
from cg_pipeline.health.sample import sample_examples
from cg_pipeline.health_records import ConceptHealth, FitArrays, GateFinding, ReaderFit
from cg_pipeline.items import Item
from cg_pipeline.label_records import ConceptLabel
from cg_pipeline.labels.merging import comparable_score
from cg_pipeline.protocols import (
    CodeRunner,
    ConceptEncoder,
    FitReader,
    Generation,
    GroupNamer,
    Judge,
    TextGenerator,
    TokenReader,
)
from cg_pipeline.records import (
    Completion,
    Concept,
    ConceptActivations,
    ConceptMetrics,
    Example,
    Gap,
    GapCluster,
    NearDuplicate,
    Score,
    SuiteMetrics,
    answer_id,
)
from cg_pipeline.specs import Benchmark, Evidence, Metric, Sae, Sampling, ScoringPolicy, Study
from cg_pipeline.stats.pass_at_k import mean_pass_at_k


def collect_examples(benchmark: Benchmark, rows: Iterable[Any]) -> Iterator[Example]:
    """One example per row, in the order of the rows, checked as `records.Example` says."""
    return (pose(benchmark, benchmark.to_item(row)) for row in rows)


def pose(benchmark: Benchmark, item: Item) -> Example:
    """The example a benchmark makes of an item."""
    prompt = benchmark.prompt(item)
    category = "all" if item.category is None else item.category
    head = benchmark.header_for(category)
    return Example(
        benchmark=benchmark.name,
        category=category,
        cluster=item.cluster,
        prompt=head + prompt.text,
        choices=item.choices,
        targets=item.answers,
        continuations=prompt.continuations,
        stems=tuple(head + stem for stem in prompt.stems),
        details=json.dumps(item.details, ensure_ascii=False, sort_keys=True) if item.details else "",
    )


def choose_examples(
    benchmark: Benchmark, posed: Sequence[Posed], shown: Sequence[Posed] | None, study: Study
) -> list[Example]:
    """What a study asks: a sample up to its limit, each example after the benchmark's worked ones.

    Worked examples are taken from `shown`; for None they are held out of the benchmark's own.
    """
    if shown is None:
        shown, posed = hold_out(posed, benchmark.n_shots)
    asked = [example for example, _ in posed]
    return add_shots(benchmark, limit_examples(asked, study.limit, study.seed), shown, asked)


def compare_benchmarks(examples: Sequence[Example]) -> list[NearDuplicate]:
    """Examples of different benchmarks that ask nearly the same: what a suite weighs twice."""
    return find_near_duplicates(examples)


def complete(benchmark: Benchmark, examples: Sequence[Example], model: TextGenerator) -> list[Completion]:
    """What the model answers: the likelihood of each choice, or text, greedy or sampled."""
    if benchmark.response == "choice":
        return model.choose(examples, benchmark.unconditional)
    drawn = benchmark.sampling or Sampling(n=1, temperature=0.0)
    how = Generation(
        max_new_tokens=benchmark.max_new_tokens,
        opening=benchmark.opening,
        stop=benchmark.stop,
        n_samples=drawn.n,
        temperature=drawn.temperature,
        top_p=drawn.top_p,
        seed=drawn.seed,
    )
    return model.generate(examples, how)


def score(
    policy: ScoringPolicy,
    examples: Sequence[Example],
    completions: Sequence[Completion],
    decider: Judge | CodeRunner | None = None,
    at_once: int = 1,
    watch: Callable[[Iterable[Score]], Iterable[Score]] = iter,
) -> list[Score]:
    """One score per completion, in the order of the examples: right, wrong, partial, or unscored(reason).

    A policy that asks a judge or runs code is given `decider`, and so many completions at a time; `watch`
    passes its scores on as they come.
    """
    by_id = {example.example_id: example for example in examples}
    answered = {completion.example_id for completion in completions}
    missing, strange = by_id.keys() - answered, answered - by_id.keys()
    if missing or strange:
        raise ValueError(
            f"{len(completions)} completions for {len(examples)} examples, "
            f"{len(missing)} of which have none; "
            f"{len(strange)} are about others; expected each example answered. "
            "Run `cg demo` again, or materialise completions after examples."
        )
    place = {name: index for index, name in enumerate(by_id)}
    ordered = sorted(completions, key=lambda each: (place[each.example_id], each.sample))
    if not (policy.judged or policy.runs_code):
        return [score_one(policy, by_id[each.example_id], each) for each in ordered]
    with ThreadPoolExecutor(max_workers=at_once) as threads:
        found = threads.map(lambda each: score_one(policy, by_id[each.example_id], each, decider), ordered)
        return list(watch(found))


def fit_reader(examples: Mapping[str, Sequence[Example]], reader: FitReader) -> tuple[ReaderFit, FitArrays]:
    """How well an SAE fits the model that reads, on a sample of a study's examples."""
    return reader.fit([example.prompt for example in sample_examples(examples)])


def judge_reader(fit: ReaderFit, sae: Sae) -> list[GateFinding]:
    """The gate: each figure against its bound. Nothing is read by an SAE that misses one."""
    return judge_fit(fit, sae)


def read_concepts(examples: Sequence[Example], reader: ConceptEncoder) -> ConceptActivations:
    """Saliency a_c(x) = (1/|x|) Σ_t z_c(x_t) of every concept in every example's prompt."""
    return reader.read([example.example_id for example in examples], [example.prompt for example in examples])


def read_completions(
    examples: Sequence[Example], completions: Sequence[Completion], reader: ConceptEncoder
) -> ConceptActivations:
    """The same over the tokens of every answer, read after its prompt: what the model had in mind itself."""
    prompts = {example.example_id: example.prompt for example in examples}
    turns = [(prompts[each.example_id], each.text) for each in completions]
    return reader.read_answers([answer_id(each) for each in completions], turns)


def describe_concepts(texts: Sequence[str], reader: ConceptEncoder) -> list[Concept]:
    """The concept dictionary: every latent of the SAE with an automatic label, rate and status."""
    return reader.describe(texts)


def mean_scores(scores: Sequence[Score]) -> dict[str, float]:
    """s(x) of every example: the mean over its scored answers, NaN when none could be scored."""
    values: dict[str, list[float]] = {}
    for each in scores:
        values.setdefault(each.example_id, []).extend([] if each.value is None else [each.value])
    return {name: float(np.mean(found)) if found else np.nan for name, found in values.items()}


def pass_rates(scores: Sequence[Score]) -> dict[str, float]:
    """pass@1 … pass@k of examples with several answers, right being 1; empty when each has one.

    Unscored answers are left out, not wrong: pass@k is over the examples with k scored answers.
    """
    values: dict[str, list[bool]] = {}
    for each in scores:
        values.setdefault(each.example_id, []).extend([] if each.value is None else [each.value == 1])
    counts = [(len(found), sum(found)) for found in values.values()]
    most = max((n for n, _ in counts), default=0)
    return {f"pass@{k}": mean_pass_at_k(counts, k) for k in range(1, most + 1)} if most > 1 else {}


def measure_concepts(
    model: str,
    benchmark: str,
    activations: ConceptActivations,
    scores: Sequence[Score],
    metrics: Mapping[str, Metric],
    study: Study,
) -> ConceptMetrics:
    """Every metric of the catalogue for every concept in one benchmark: χ_bench, χ_model and company."""
    values = _score_of_each(activations, scores)
    evidence = Evidence(saliency=activations.matrix(), scores=values, normaliser=study.normaliser)
    columns = {name: _column(metric, evidence, activations.n_concepts) for name, metric in metrics.items()}
    identity = {"model": model, "benchmark": benchmark, "concept_id": np.arange(activations.n_concepts)}
    return pd.DataFrame({**identity, **columns})


def measure_completions(
    model: str,
    benchmark: str,
    activations: ConceptActivations,
    scores: Sequence[Score],
    metrics: Mapping[str, Metric],
    study: Study,
) -> ConceptMetrics:
    """The same of answers, each with the score of its own.

    Several answers to one example are several rows, and n_eff does not know that they belong together.
    """
    own = [replace(each, example_id=answer_id(each), sample=0) for each in scores]
    return measure_concepts(model, benchmark, activations, own, metrics, study)


def _score_of_each(activations: ConceptActivations, scores: Sequence[Score]) -> np.ndarray:
    """s(x) of the examples of the activations, in their order."""
    values = mean_scores(scores)
    if set(values) != set(activations.example_ids):
        cells = sorted({f"{each.model!r} on {each.benchmark!r}" for each in scores})
        raise ValueError(
            f"{len(scores)} scores and {len(activations.example_ids)} activations "
            f"of {', '.join(cells) or 'a cell'} are not about the same examples. "
            "Run `cg demo` again, or materialise both after examples."
        )
    return np.array([values[name] for name in activations.example_ids], dtype=np.float64)


def _column(metric: Metric, evidence: Evidence, n_concepts: int) -> np.ndarray:
    values = np.asarray(metric.compute(evidence))
    if values.shape != (n_concepts,):
        raise ValueError(
            f"Metric {metric.name!r} (metrics/{metric.name}.py) gave an array of shape {values.shape}; "
            f"expected ({n_concepts},), one number per concept. Correct its function."
        )
    return values


def choose_evidence(activations: ConceptActivations, scores: Sequence[Score], study: Study) -> Strongest:
    """The examples in which each concept is strongest, right, wrong and unscored ones apart."""
    return find_strongest(activations, _score_of_each(activations, scores), study.n_evidence)


def read_evidence(examples: Sequence[Example], wanted: Wanted, reader: TokenReader) -> PairFirings:
    """Activations of the wanted concepts on the tokens of each example's prompt."""
    names, prompts = [each.example_id for each in examples], [each.prompt for each in examples]
    return pairs_of(reader.fire_each(prompts, [wanted[name] for name in names]), names, wanted)


def assemble_evidence(
    strongest: Strongest, activations: ConceptActivations, scores: Sequence[Score], firings: PairFirings
) -> ConceptEvidence:
    """What speaks for each concept: its strongest examples, and the tokens on which it fires in them."""
    return join_evidence(strongest, activations, _score_of_each(activations, scores), firings)


def summarise_suite(concept_metrics: ConceptMetrics) -> SuiteMetrics:
    """One row per concept over all benchmarks of one model: coverage counts zeros, performance skips NaN."""
    return combine_benchmarks(concept_metrics)


def judge_concepts(
    model: str,
    concepts: Sequence[Concept],
    labels: Iterable[ConceptLabel],
    arrays: FitArrays,
    activations: Iterable[ConceptActivations],
    study: Study,
) -> list[ConceptHealth]:
    """Which concepts can be trusted in a study; the others are quarantined, with their reasons."""
    scores = {each.concept_id: comparable_score(each) for each in labels if each.chosen}
    known = {concept_id: score for concept_id, score in scores.items() if score is not None}
    return measure_health(model, concepts, arrays, activations, known, study.health)


def find_gaps(
    suite: SuiteMetrics, concept_metrics: ConceptMetrics, concepts: Sequence[Concept], study: Study
) -> list[Gap]:
    """Missing, under- and over-represented concepts and model gaps, of the suite and of each benchmark.

    Only concepts that are `alive` take part: pass the dictionary through `health.quarantine.set_aside`.
    """
    return select_gaps(suite, concept_metrics, concepts, study.rules)


def cluster_gaps(
    gaps: Sequence[Gap],
    concepts: Sequence[Concept],
    reader: ConceptEncoder,
    study: Study,
    namer: GroupNamer | None = None,
) -> list[GapCluster]:
    """The suite's gaps in groups of kindred concepts, named automatically or, if one is given, by a namer."""
    settings = {"max_clusters": study.max_clusters, "seed": study.seed}
    clusters = group_gaps(gaps, concepts, reader.directions(), **settings)
    return name_clusters(clusters, concepts, namer)


def write_report(inputs: ReportInputs) -> Report:
    """Everything found about one model, as HTML and Markdown with figures."""
    return build_report(inputs)
