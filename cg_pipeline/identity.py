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
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.label_specs import Labelling
from cg_pipeline.records import Completion, Example, content_id
from cg_pipeline.specs import (
    Benchmark,
    HubWeights,
    LocalWeights,
    Metric,
    Model,
    Sae,
    ScoringPolicy,
    ServedModel,
    Study,
)

STAGES: Mapping[str, int] = {
    "benchmark_rows": 1,
    "examples": 1,
    "near_duplicates": 1,
    "completions": 1,
    "scores": 1,
    "concepts": 1,
    "label_files": 1,
    "concept_contexts": 1,
    "llm_labels": 1,
    "concept_labels": 1,
    "reader_fit": 1,
    "reader_gate": 1,
    "activations": 1,
    "concept_metrics": 1,
    "completion_activations": 1,
    "completion_metrics": 1,
    "evidence": 1,
    "suite_metrics": 1,
    "concept_health": 1,
    "gaps": 2,
    "gap_clusters": 1,
    "gap_report": 3,
}
"""Version of each stage's code, in running order. Raise one with the reason in the changelog."""

_ASKED_AGAIN = ("timed_out", "failed")
"""Stops that say nothing about the example: another time it may be answered."""

_IN_PART = "-in-part-"

DEFAULT_ENGINE: Final = "transformers"
"""What runs models that answer, unless another engine is named; it leaves no mark in a fingerprint."""


def stage_id(stage: str, *parts: object) -> str:
    """Fingerprint of a stage's result made from `parts`."""
    return content_id(stage, STAGES[stage], *parts)


def benchmark_rows_id(origins: Iterable[str]) -> str:
    """Rows depend on their origins: a file's content, or a pin on the hub."""
    return stage_id("benchmark_rows", list(origins))


def examples_id(examples: Iterable[Example]) -> str:
    """Examples are what they are: wherever they came from, equal ones are equal."""
    return stage_id("examples", [(each.example_id, each.category, each.cluster) for each in examples])


def near_duplicates_id(examples: Mapping[str, str]) -> str:
    """Near-duplicates depend on the examples of every benchmark of the study."""
    return stage_id("near_duplicates", sorted(examples.items()))


def completions_id(
    examples: Sequence[Example],
    benchmark: Benchmark,
    model: Model,
    engine: str = DEFAULT_ENGINE,
    model_hash: str = "",
) -> str:
    """Completions depend on what is asked, on the model with its prompt format, and on how it is asked.

    And on the engine that runs a model loaded here: two engines round differently, so texts part ways.
    `model_hash` says what is in the files of a model that its spec does not pin.
    """
    asked = (benchmark.response, benchmark.max_new_tokens, benchmark.opening, benchmark.stop)
    drawn = (fingerprint(benchmark.sampling), benchmark.unconditional)
    parts = [_ids(examples), benchmark.version, asked, drawn, _model_parts(model)]
    served = isinstance(model.weights, ServedModel)
    engines = [] if served or engine == DEFAULT_ENGINE else [engine]
    files = [{"files": model_hash}] if model_hash else []
    return stage_id("completions", *parts, *engines, *_without_template(examples, benchmark, model), *files)


def _without_template(examples: Sequence[Example], benchmark: Benchmark, model: Model) -> list[str]:
    """A mark where choices that bring their texts go past a chat template: once they went through it."""
    raw = model.chat and benchmark.response == "choice" and any(example.stems for example in examples)
    return ["stems without chat template"] if raw else []


def answered_id(completions: str, found: Sequence[Completion]) -> str:
    """Completions of which some timed out or failed are whole only in part: those are to be asked again.

    `completions` is their fingerprint once they are whole, and can be read off this one. The rest of it
    is what was found: while the same is found again, nothing that was made of it has to be made anew.
    """
    if not any(each.stop in _ASKED_AGAIN for each in found):
        return completions
    answers = [
        (
            each.example_id,
            each.sample,
            each.stop,
            each.text,
            each.choice_logprobs,
            each.unconditional_logprobs,
        )
        for each in found
    ]
    return f"{completions}{_IN_PART}{content_id(answers)}"


def is_part_of(fingerprint: str, completions: str) -> bool:
    """Whether stored completions are these ones, in part."""
    return fingerprint.startswith(f"{completions}{_IN_PART}")


def scores_id(completions: str, policy: ScoringPolicy, decider: str) -> str:
    """Scores depend on the completions, the policy and, where it asks one, the judge or the code runner."""
    asked = decider if policy.judged or policy.runs_code else ""
    return stage_id("scores", completions, _policy_parts(policy), asked)


def imported_id(stage: str, examples: str, *source: object) -> str:
    """Completions or scores that another tool computed: they stand as long as the examples do.

    `examples` is their fingerprint, and can be read off this one, which no computed one looks like.
    """
    return f"imported-{examples}-{stage_id(stage, *source)}"


def is_import_of(fingerprint: str, examples: str) -> bool:
    """Whether a stored result was imported, for exactly these examples."""
    return fingerprint.startswith(f"imported-{examples}-")


def reader_fit_id(examples: Sequence[Example], reader: Sae, weights_hash: str) -> str:
    """How well a reader fits depends on the sampled texts and on the reader; models with one share it."""
    return stage_id("reader_fit", sorted(_ids(examples)), _sae_parts(reader), weights_hash)


def reader_gate_id(reader_fit: str, reader: Sae) -> str:
    """The gate's verdict depends on what was measured, the bounds and the published figures."""
    return stage_id("reader_gate", reader_fit, fingerprint((reader.gate, reader.published)))


def activations_id(examples: Sequence[Example], reader: Sae, weights_hash: str) -> str:
    """Activations depend on the texts and on the reader alone: models with one reader share them."""
    return stage_id("activations", _ids(examples), _sae_parts(reader), weights_hash)


def concepts_id(sample_hash: str, sae: Sae, weights_hash: str) -> str:
    """The dictionary depends on the SAE and on the broad sample its labels come from."""
    return stage_id("concepts", sample_hash, _sae_parts(sae), sae.dense_threshold, weights_hash)


def reader_id(sae: Sae, weights_hash: str) -> str:
    """Which concepts an SAE has: labels are of these, and of no other reader's."""
    return content_id(_sae_parts(sae), weights_hash)


def label_files_id(origins: Mapping[str, str]) -> str:
    """Label files depend on their origins: a file's content, or a pin."""
    return stage_id("label_files", sorted(origins.items()))


def concept_contexts_id(sample_hash: str, reader: str, chosen: Iterable[int] | None = None) -> str:
    """Excerpts depend on the sample, the reader and which concepts were chosen.

    Without a choice, what those of any choice begin with: whoever asked for other concepts has
    excerpts as current as these.
    """
    base = stage_id("concept_contexts", sample_hash, reader)
    return base if chosen is None else f"{base}-{content_id(list(chosen))}"


def llm_labels_id(contexts: str, labels: Iterable[object] | None = None) -> str:
    """Labels by a language model stand as long as the excerpts they were made from do.

    `contexts` can be read off, as far as it does not depend on the choice; what was answered follows.
    """
    base = stage_id("llm_labels", contexts.partition("-")[0])
    return base if labels is None else f"{base}-{content_id(list(labels))}"


def concept_labels_id(
    concepts: str, files: Mapping[str, str] | None, llm_labels: str, labelling: Labelling
) -> str:
    """All labels depend on the dictionary, the content of every source, and the rule of precedence.

    Nothing that runs a model, nor any metric, depends on them: health does for their scores, and clusters
    and the report do, being made of words. `files` are checksums by source, None where some are yet to be
    fetched.
    """
    content = None if files is None else sorted(files.items())
    rule = (labelling.precedence, labelling.low_score)
    return stage_id("concept_labels", concepts, content, llm_labels, rule)


def concept_metrics_id(scores: str, activations: str, metrics: Iterable[Metric], study: Study) -> str:
    """Concept metrics depend on scores, activations, the metrics' code and the normaliser."""
    code = [(metric.name, metric.version, fingerprint(metric.compute)) for metric in metrics]
    return stage_id("concept_metrics", scores, activations, code, study.normaliser)


def completion_activations_id(completions: str, reader: Sae, weights_hash: str) -> str:
    """Activations of answers depend on the answers, hence on the prompts, and on the reader."""
    return stage_id("completion_activations", completions, _sae_parts(reader), weights_hash)


def completion_metrics_id(scores: str, activations: str, metrics: Iterable[Metric], study: Study) -> str:
    """Metrics of answers depend on the same as those of prompts."""
    return stage_id("completion_metrics", concept_metrics_id(scores, activations, metrics, study))


def evidence_id(scores: str, activations: str, study: Study) -> str:
    """Evidence depends on the scores, on the activations with their reader, and on how much is kept."""
    return stage_id("evidence", scores, activations, study.n_evidence)


def token_firings_id(reader: str) -> str:
    """Token activations of an example depend on the reader alone, whatever they are kept for.

    `reader` is its hash, from `reader_id`; which tokens count is part of how saliency is made.
    """
    return content_id("token_firings", STAGES["activations"], STAGES["evidence"], reader)


def suite_metrics_id(concept_metrics: Mapping[str, str]) -> str:
    """Suite metrics depend on the metrics of every benchmark of the study."""
    return stage_id("suite_metrics", sorted(concept_metrics.items()))


def concept_health_id(
    concepts: str, concept_labels: str, reader_fit: str, activations: Mapping[str, str], study: Study
) -> str:
    """Health depends on what each concept does in the study, on its label's score, and on the bounds."""
    cells = sorted(activations.items())
    return stage_id("concept_health", concepts, concept_labels, reader_fit, cells, fingerprint(study.health))


def gaps_id(suite_metrics: str, concepts: str, concept_health: str, study: Study) -> str:
    """Gaps depend on the suite, the dictionary, who is quarantined and the thresholds."""
    return stage_id("gaps", suite_metrics, concepts, concept_health, fingerprint(study.rules))


def gap_clusters_id(gaps: str, concept_labels: str, study: Study, namer: str) -> str:
    """Clusters depend on the gaps, the words about them, the clustering's settings and who names them."""
    return stage_id("gap_clusters", gaps, concept_labels, study.max_clusters, study.seed, namer)


def gap_report_id(gap_clusters: str, evidence: Mapping[str, str], study: Study, titles: Iterable[str]) -> str:
    """The report depends on everything above it, and on the wording of what it names."""
    return stage_id("gap_report", gap_clusters, sorted(evidence.items()), fingerprint(study), list(titles))


def _ids(examples: Sequence[Example]) -> list[str]:
    # An id is a hash of all that a model or reader can see.
    return [example.example_id for example in examples]


def _model_parts(model: Model) -> str:
    return fingerprint(
        (
            _identity_of(model),
            model.version,
            model.chat,
            model.system_prompt,
            model.dtype,
            model.max_tokens,
            model.overlong,
        )
    )


def _identity_of(model: Model) -> object:
    """The weights without what changes no answer: where a key is, where files lie, what to accept."""
    weights = model.weights
    if isinstance(weights, ServedModel):
        return replace(weights, api_key_variable="")
    if isinstance(weights, LocalWeights):
        return replace(weights, path="")
    return replace(weights, gated="") if isinstance(weights, HubWeights) else weights


def _policy_parts(policy: ScoringPolicy) -> str:
    # What few policies have is added only where there is some, so that the others' scores stand.
    more = (policy.summarise, {name: _version(name) for name in policy.libraries})
    return fingerprint((policy.version, policy.score, *(more if any(more) else ())))


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _sae_parts(sae: Sae) -> str:
    # Training settings are not among them: what training gave is in the hash of the weights. Nor is what
    # the metadata is compared with: it decides whether there is a result, not which.
    parts = (sae.weights, sae.version, sae.hookpoint, sae.token_mask, sae.d_sae, _model_parts(sae.model))
    return fingerprint((*parts, *([sae.dtype] if sae.dtype != "float32" else [])))
