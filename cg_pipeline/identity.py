"""What each stage's result depends on: one fingerprint per stored partition.

A fingerprint is a hash of the parts of the specs that change the result and of the
fingerprints of what went in. Two results with the same fingerprint are the same result,
so a rerun can be skipped and shards can be shared; a spec field that only people read
(title, scope, licence) is left out. `STAGES` carries a version per stage, raised when its
code changes what it returns.

Why not Dagster's code version alone: that is per asset, not per partition, and it does
not see which model or benchmark changed.
"""

from collections.abc import Iterable, Mapping, Sequence

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.records import Example, content_id
from cg_pipeline.specs import Benchmark, Metric, Model, Sae, ScoringPolicy, Study

STAGES: Mapping[str, int] = {
    "examples": 1,
    "completions": 1,
    "scores": 1,
    "concepts": 1,
    "activations": 1,
    "concept_metrics": 1,
    "suite_metrics": 1,
    "gaps": 1,
    "gap_clusters": 1,
    "gap_report": 2,
}
"""Version of each stage's code, in running order. Raise one with the reason in the changelog."""


def stage_id(stage: str, *parts: object) -> str:
    """Fingerprint of a stage's result made from `parts`."""
    return content_id(stage, STAGES[stage], *parts)


def examples_id(benchmark: Benchmark, rows_hash: str) -> str:
    """Examples depend on the rows and on how a row becomes an example."""
    return stage_id(
        "examples", rows_hash, benchmark.version, fingerprint((benchmark.row, benchmark.to_example))
    )


def completions_id(examples: Sequence[Example], benchmark: Benchmark, model: Model) -> str:
    """Completions depend on what is asked, on the model with its prompt format, and on how it is asked."""
    asked = (benchmark.response, benchmark.max_new_tokens, benchmark.opening)
    return stage_id("completions", _ids(examples), asked, _model_parts(model))


def scores_id(completions: str, policy: ScoringPolicy) -> str:
    """Scores depend on the completions and the scoring policy."""
    return stage_id("scores", completions, fingerprint((policy.version, policy.score)))


def activations_id(examples: Sequence[Example], reader: Sae, weights_hash: str) -> str:
    """Activations depend on the texts and on the reader alone: models with one reader share them."""
    return stage_id("activations", _ids(examples), _sae_parts(reader), weights_hash)


def concepts_id(sample_hash: str, sae: Sae, weights_hash: str) -> str:
    """The dictionary depends on the SAE and on the broad sample its labels come from."""
    return stage_id("concepts", sample_hash, _sae_parts(sae), sae.dense_threshold, weights_hash)


def concept_metrics_id(scores: str, activations: str, metrics: Iterable[Metric], study: Study) -> str:
    """Concept metrics depend on scores, activations, the metrics' code and the normaliser."""
    code = [(metric.name, metric.version, fingerprint(metric.compute)) for metric in metrics]
    return stage_id("concept_metrics", scores, activations, code, study.normaliser)


def suite_metrics_id(concept_metrics: Mapping[str, str]) -> str:
    """Suite metrics depend on the metrics of every benchmark of the study."""
    return stage_id("suite_metrics", sorted(concept_metrics.items()))


def gaps_id(suite_metrics: str, concepts: str, study: Study) -> str:
    """Gaps depend on the suite, the dictionary and the thresholds."""
    return stage_id("gaps", suite_metrics, concepts, fingerprint(study.rules))


def gap_clusters_id(gaps: str, study: Study, namer: str) -> str:
    """Clusters depend on the gaps, the clustering's settings and who names them."""
    return stage_id("gap_clusters", gaps, study.max_clusters, study.seed, namer)


def gap_report_id(gap_clusters: str, study: Study, titles: Iterable[str]) -> str:
    """The report depends on everything above it, and on the wording of what it names."""
    return stage_id("gap_report", gap_clusters, fingerprint(study), list(titles))


def _ids(examples: Sequence[Example]) -> list[str]:
    # An id is a hash of prompt, choices and targets: all that a model or reader can see.
    return [example.example_id for example in examples]


def _model_parts(model: Model) -> str:
    return fingerprint(
        (model.weights, model.version, model.chat, model.system_prompt, model.dtype, model.max_tokens)
    )


def _sae_parts(sae: Sae) -> str:
    # Training settings are not among them: what training gave is in the hash of the weights.
    return fingerprint(
        (
            sae.weights,
            sae.version,
            sae.hookpoint,
            sae.token_mask,
            sae.d_sae,
            _model_parts(sae.model),
        )
    )
