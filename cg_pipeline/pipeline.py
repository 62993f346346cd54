"""THE METHOD ON ONE PAGE: one function per stage, in running order.

    rows ── collect_examples ─┬─ complete ── score ─┐
                              └─ read_concepts ─────┴─ measure_concepts        one benchmark
                                                             │
    texts ── describe_concepts ──────┐                summarise_suite          a suite
                                     └── find_gaps ──────────┘
                                             │
                                        cluster_gaps ── write_report

A stage takes and returns the records of `records.py`; what it needs of the world comes in
through a protocol. Dagster (`defs/`) gives each stage its inputs and stores what it
returns; nothing here knows about that.

Source of the method: Bohacek et al., "Uncovering Competency Gaps in Large Language Models
and Their Benchmarks", arXiv 2512.20638.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cg_pipeline.gaps.clustering import group_gaps
from cg_pipeline.gaps.inputs import Report, ReportInputs
from cg_pipeline.gaps.naming import name_clusters
from cg_pipeline.gaps.report import build_report
from cg_pipeline.gaps.selection import select_gaps
from cg_pipeline.gaps.suite import combine_benchmarks
from cg_pipeline.protocols import ConceptEncoder, GroupNamer, TextGenerator
from cg_pipeline.records import (
    Completion,
    Concept,
    ConceptActivations,
    ConceptMetrics,
    Example,
    Gap,
    GapCluster,
    Score,
    SuiteMetrics,
)
from cg_pipeline.specs import Benchmark, Evidence, Metric, ScoringPolicy, Study


def collect_examples(benchmark: Benchmark, rows: Iterable[Any]) -> Iterator[Example]:
    """One example per row, in the order of the rows, checked as `records.Example` says."""
    return (benchmark.to_example(row) for row in rows)


def complete(benchmark: Benchmark, examples: Sequence[Example], model: TextGenerator) -> list[Completion]:
    """What the model answers: the likelihood of each choice, or greedy text."""
    if benchmark.response == "choice":
        return model.choose(examples)
    return model.generate(examples, benchmark.max_new_tokens, benchmark.opening)


def score(
    policy: ScoringPolicy, examples: Sequence[Example], completions: Sequence[Completion]
) -> list[Score]:
    """One score per example, in their order: right, wrong, partial, or unscored with a reason."""
    by_id = {completion.example_id: completion for completion in completions}
    missing = [example.example_id for example in examples if example.example_id not in by_id]
    if missing or len(by_id) != len(examples):
        raise ValueError(
            f"{len(completions)} completions for {len(examples)} examples, "
            f"{len(missing)} of which have none; expected one each. "
            "Materialise completions again after examples."
        )
    return [policy.score(example, by_id[example.example_id]) for example in examples]


def read_concepts(examples: Sequence[Example], reader: ConceptEncoder) -> ConceptActivations:
    """Saliency a_c(x) = (1/|x|) Σ_t z_c(x_t) of every concept in every example's prompt."""
    return reader.read([example.example_id for example in examples], [example.prompt for example in examples])


def describe_concepts(texts: Sequence[str], reader: ConceptEncoder) -> list[Concept]:
    """The concept dictionary: every latent of the SAE with an automatic label, rate and status."""
    return reader.describe(texts)


def measure_concepts(
    model: str,
    benchmark: str,
    activations: ConceptActivations,
    scores: Sequence[Score],
    metrics: Mapping[str, Metric],
    study: Study,
) -> ConceptMetrics:
    """Every metric of the catalogue for every concept in one benchmark: χ_bench, χ_model and company."""
    by_id = {score.example_id: score for score in scores}
    if set(by_id) != set(activations.example_ids) or len(scores) != len(activations.example_ids):
        raise ValueError(
            f"{len(scores)} scores and {len(activations.example_ids)} activations "
            f"of {model!r} on {benchmark!r} are not about the same examples. "
            "Materialise both again after examples."
        )
    values = [by_id[name].value for name in activations.example_ids]
    evidence = Evidence(
        saliency=activations.matrix(),
        scores=np.array([np.nan if value is None else value for value in values], dtype=np.float64),
        normaliser=study.normaliser,
    )
    columns = {name: _column(metric, evidence, activations.n_concepts) for name, metric in metrics.items()}
    identity = {"model": model, "benchmark": benchmark, "concept_id": np.arange(activations.n_concepts)}
    return pd.DataFrame({**identity, **columns})


def _column(metric: Metric, evidence: Evidence, n_concepts: int) -> np.ndarray:
    values = np.asarray(metric.compute(evidence))
    if values.shape != (n_concepts,):
        raise ValueError(
            f"Metric {metric.name!r} (metrics/{metric.name}.py) gave an array of shape {values.shape}; "
            f"expected ({n_concepts},), one number per concept. Correct its function."
        )
    return values


def keep_study(concept_metrics: ConceptMetrics, study: Study) -> ConceptMetrics:
    """The rows about the study's benchmarks; others may have been materialised beside them."""
    return concept_metrics.loc[concept_metrics["benchmark"].isin(list(study.benchmarks))]


def summarise_suite(concept_metrics: ConceptMetrics) -> SuiteMetrics:
    """One row per concept over all benchmarks of one model: coverage counts zeros, performance skips NaN."""
    return combine_benchmarks(concept_metrics)


def find_gaps(
    suite: SuiteMetrics, concept_metrics: ConceptMetrics, concepts: Sequence[Concept], study: Study
) -> list[Gap]:
    """Missing, under- and over-represented concepts and model gaps, of the suite and of each benchmark."""
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
