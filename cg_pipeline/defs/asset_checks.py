"""Asset checks: what must hold of each stage, run with it and again whenever somebody asks.

A check that blocks keeps later, more expensive stages of the same run from starting.
"""

from typing import Any

import dagster as dg

from cg_pipeline import checks
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.completion_asset_checks import COMPLETION_CHECKS
from cg_pipeline.defs.evidence_asset_checks import EVIDENCE_CHECKS
from cg_pipeline.defs.freshness import expected_of
from cg_pipeline.defs.health_asset_checks import HEALTH_CHECKS
from cg_pipeline.defs.jobs import (
    CELL_JOB,
    COMPLETIONS_JOB,
    DICTIONARY_JOB,
    EXAMPLES_JOB,
    LABELLING_JOB,
    READER_JOB,
    REPORT_JOB,
    SUITE_JOB,
)
from cg_pipeline.defs.label_asset_checks import LABEL_CHECKS
from cg_pipeline.defs.partitions import (
    BENCHMARK,
    BENCHMARK_OF_CELL,
    CELL,
    EVERY_BENCHMARK,
    MODEL,
    SAE,
    benchmark_of,
)
from cg_pipeline.defs.resources import CodeSandbox, Gpu, Judging, Namer, Store
from cg_pipeline.defs.results import reported as _reported
from cg_pipeline.defs.rows import checksums, read_benchmark
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES

LARGEST_UNSCORED_SHARE = 0.2
LARGEST_DEAD_SHARE = 0.05

_BENCHMARK_INPUT = {"examples": BENCHMARK_OF_CELL}


@dg.asset_check(asset="examples", partitions_def=BENCHMARK, blocking=True)
def ids_are_unique(examples: list) -> dg.AssetCheckResult:
    """No two examples share an id."""
    return _reported(checks.unique_ids(examples))


@dg.asset_check(asset="examples", partitions_def=BENCHMARK, blocking=True)
def no_prompt_is_empty(examples: list) -> dg.AssetCheckResult:
    """Every prompt has text."""
    return _reported(checks.prompts_not_empty(examples))


@dg.asset_check(asset="examples", partitions_def=BENCHMARK, blocking=True)
def answers_are_within_choices(context: dg.AssetCheckExecutionContext, examples: list) -> dg.AssetCheckResult:
    """Every target of a choice benchmark is one of its choices, and nothing to compare with is missing."""
    benchmark = benchmark_of(context.partition_key)
    return _reported(checks.targets_answerable(examples, benchmark, POLICIES[benchmark.scoring]))


@dg.asset_check(asset="benchmark_rows", partitions_def=BENCHMARK, blocking=True)
def files_of_rows_are_whole(benchmark_rows: list, store: Store) -> dg.AssetCheckResult:
    """Every file of rows is there, with the content it was stored with."""
    return _reported(checks.rows_whole(benchmark_rows, checksums(benchmark_rows, store.layout)))


@dg.asset_check(asset="examples", partitions_def=BENCHMARK, additional_ins={"benchmark_rows": dg.AssetIn()})
def no_row_was_left_out(
    context: dg.AssetCheckExecutionContext, examples: list, benchmark_rows: list, store: Store
) -> dg.AssetCheckResult:
    """No question of other people's rows stands twice, with the same answer or with others."""
    readings = read_benchmark(benchmark_of(context.partition_key), benchmark_rows, store.layout)
    repeated = [name for reading in readings.values() for name in reading.repeated]
    torn = [name for reading in readings.values() for name in reading.contradictory]
    return _reported(checks.none_left_out(examples, repeated, torn), dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="near_duplicates", additional_ins={"examples": EVERY_BENCHMARK})
def benchmarks_ask_different_things(near_duplicates: list, examples: list) -> dg.AssetCheckResult:
    """No example asks nearly what one of another benchmark asks."""
    return _reported(checks.asked_once(near_duplicates, examples), dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="completions", partitions_def=CELL, blocking=True, additional_ins=_BENCHMARK_INPUT)
def one_completion_for_each_example(completions: list, examples: list) -> dg.AssetCheckResult:
    """Exactly the benchmark's examples are there, each once."""
    return _reported(checks.same_examples(examples, completions))


@dg.asset_check(asset="completions", partitions_def=CELL)
def no_prompt_was_cut(completions: list) -> dg.AssetCheckResult:
    """Every example was put to the model with all of its prompt."""
    return _reported(checks.prompts_whole(completions), dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="scores", partitions_def=CELL, blocking=True, additional_ins=_BENCHMARK_INPUT)
def one_score_for_each_example(scores: list, examples: list) -> dg.AssetCheckResult:
    """Exactly the benchmark's examples are there, each once."""
    return _reported(checks.same_examples(examples, scores))


@dg.asset_check(asset="activations", partitions_def=CELL, blocking=True, additional_ins=_BENCHMARK_INPUT)
def one_row_for_each_example(activations: Any, examples: list) -> dg.AssetCheckResult:
    """Exactly the benchmark's examples are there, each once."""
    return _reported(checks.same_examples(examples, activations))


@dg.asset_check(asset="scores", partitions_def=CELL, blocking=True)
def scores_are_in_range(scores: list) -> dg.AssetCheckResult:
    """Scores lie in [0, 1]; unscored examples have none."""
    return _reported(checks.scores_in_range(scores))


@dg.asset_check(asset="scores", partitions_def=CELL)
def most_examples_are_scored(scores: list) -> dg.AssetCheckResult:
    """Few examples are unscored."""
    finding = checks.mostly_scored(scores, largest_share=LARGEST_UNSCORED_SHARE)
    return _reported(finding, dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="activations", partitions_def=CELL, blocking=True)
def activations_are_sound(activations: Any) -> dg.AssetCheckResult:
    """Saliency is finite and positive, and concept ids fit the dictionary."""
    return _reported(checks.activations_sound(activations))


@dg.asset_check(asset="activations", partitions_def=CELL)
def every_text_was_read(activations: Any) -> dg.AssetCheckResult:
    """Every example had a content token to read."""
    return _reported(checks.texts_read(activations), dg.AssetCheckSeverity.WARN)


@dg.asset_check(
    asset="concept_metrics", partitions_def=CELL, blocking=True, additional_ins={"scores": dg.AssetIn()}
)
def performance_is_within_score_range(concept_metrics: Any, scores: list) -> dg.AssetCheckResult:
    """χ_model lies between the lowest and the highest score."""
    return _reported(checks.performance_in_score_range(concept_metrics, scores))


@dg.asset_check(asset="concepts", partitions_def=SAE, blocking=True)
def dictionary_is_complete(context: dg.AssetCheckExecutionContext, concepts: list) -> dg.AssetCheckResult:
    """One labelled concept per latent."""
    return _reported(checks.dictionary_complete(concepts, SAES[context.partition_key]))


@dg.asset_check(asset="concepts", partitions_def=SAE)
def most_concepts_are_alive(concepts: list) -> dg.AssetCheckResult:
    """Few latents never fire on the broad sample."""
    finding = checks.mostly_alive(concepts, largest_dead_share=LARGEST_DEAD_SHARE)
    return _reported(finding, dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="gaps", partitions_def=MODEL, blocking=True)
def gaps_are_ranked(gaps: list) -> dg.AssetCheckResult:
    """Ranks run without a hole within each kind and scope."""
    return _reported(checks.gaps_ranked(gaps))


@dg.asset_check(
    asset="gap_clusters", partitions_def=MODEL, blocking=True, additional_ins={"gaps": dg.AssetIn()}
)
def clusters_cover_the_gaps(gap_clusters: list, gaps: list) -> dg.AssetCheckResult:
    """Every gap of the suite is in exactly one cluster of its kind."""
    return _reported(checks.clusters_cover(gap_clusters, gaps))


@dg.asset_check(asset="gap_clusters", partitions_def=MODEL)
def clusters_are_named_as_asked(gap_clusters: list) -> dg.AssetCheckResult:
    """Where a language model was asked for names, it gave them."""
    return _reported(checks.named_as_asked(gap_clusters), dg.AssetCheckSeverity.WARN)


def _is_current(
    asset: str, partitions: dg.PartitionsDefinition | None, dimension: str
) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset,
        name="is_current",
        partitions_def=partitions,
        description="What is stored was made from the catalogue's present specs and inputs.",
    )
    def check(
        context: dg.AssetCheckExecutionContext,
        store: Store,
        study_choice: StudyChoice,
        namer: Namer,
        judging: Judging,
        code_sandbox: CodeSandbox,
        gpu: Gpu,
    ) -> dg.AssetCheckResult:
        key = context.partition_key if context.has_partition_key else ""
        where = {dimension: key} if key else {}
        if isinstance(key, dg.MultiPartitionKey):
            where = dict(key.keys_by_dimension)
        expected = expected_of(store, study_choice.study, namer, judging, code_sandbox, gpu)
        stored = store.warehouse.materialisation(asset, where)
        found = checks.current(stored.fingerprint if stored else None, expected.of(asset, where))
        return _reported(found, dg.AssetCheckSeverity.WARN)

    return check


ASSET_CHECKS = [
    files_of_rows_are_whole,
    no_row_was_left_out,
    benchmarks_ask_different_things,
    ids_are_unique,
    no_prompt_is_empty,
    answers_are_within_choices,
    one_completion_for_each_example,
    no_prompt_was_cut,
    one_score_for_each_example,
    one_row_for_each_example,
    scores_are_in_range,
    most_examples_are_scored,
    activations_are_sound,
    every_text_was_read,
    performance_is_within_score_range,
    dictionary_is_complete,
    most_concepts_are_alive,
    gaps_are_ranked,
    clusters_cover_the_gaps,
    clusters_are_named_as_asked,
    *COMPLETION_CHECKS,
    *LABEL_CHECKS,
    *EVIDENCE_CHECKS,
    *HEALTH_CHECKS,
    *(
        _is_current(asset, partitions, dimension)
        for partitions, dimension, job in (
            (BENCHMARK, "benchmark", EXAMPLES_JOB),
            (None, "", SUITE_JOB),
            (CELL, "cell", CELL_JOB),
            (CELL, "cell", COMPLETIONS_JOB),
            (SAE, "sae", DICTIONARY_JOB),
            (SAE, "sae", LABELLING_JOB),
            (MODEL, "model", READER_JOB),
            (MODEL, "model", REPORT_JOB),
        )
        for asset in job.assets
    ),
]
