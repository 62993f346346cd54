"""What the catalogue says each stored partition should have been made from."""

from dataclasses import dataclass, field
from functools import cached_property

from cg_pipeline import identity
from cg_pipeline.defs.catalogue import BENCHMARKS
from cg_pipeline.defs.label_rows import content_of, reader_hash
from cg_pipeline.defs.resources import CodeSandbox, Gpu, Judging, Namer, Store
from cg_pipeline.defs.rows import examples_of, read_benchmark, stored_rows
from cg_pipeline.health.sample import sample_examples
from cg_pipeline.metrics import METRICS
from cg_pipeline.models import MODELS
from cg_pipeline.records import Example
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.broad_sample import sample_hash
from cg_pipeline.sources.label_origins import label_origins
from cg_pipeline.sources.model_files import model_hash
from cg_pipeline.sources.origins import origins_of
from cg_pipeline.sources.sae_files import weights_hash
from cg_pipeline.specs import Sae, ServedModel, Study
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.materialisations import identity_of
from cg_pipeline.store.warehouse import Warehouse


def titles(model: str, study: Study) -> list[str]:
    """What a model's report calls the things it is about."""
    named = [MODELS[model], SAES[MODELS[model].reader], *(BENCHMARKS[name] for name in study.benchmarks)]
    return [spec.title for spec in named]


@dataclass(frozen=True)
class Expected:
    """Fingerprints from the top of the graph down, computed from the catalogue and the files it names.

    A stage whose stored fingerprint equals the expected one need not be run again. Completions that a
    server gave in part never equal it, so they are asked for again; what was made of them does, until
    there are more of them.
    """

    layout: Layout
    study: Study
    named_by: str
    """Source of the cluster names: an LLM's, or `automatic`."""
    benchmarks_dir: str = ""
    """Directory of benchmark files, as in `resources.Store`."""
    judged_by: str = "none"
    """Who judges and how it is asked, or `none`."""
    run_by: str = "none"
    """What runs programs that models wrote, or `none`."""
    engine: str = identity.DEFAULT_ENGINE
    """What runs models that are loaded here."""
    _examples: dict[str, list[Example]] = field(
        default_factory=dict[str, list[Example]], init=False, repr=False
    )
    """What was read of each benchmark: each file is read once, at this moment."""

    def benchmark_rows(self, benchmark: str) -> str:
        """Of a benchmark's rows: known from files and pins, whether or not they were fetched."""
        origins = origins_of(BENCHMARKS[benchmark], self.layout.data_dir, self.benchmarks_dir)
        return identity.benchmark_rows_id(origin.fingerprint for origin in origins)

    def near_duplicates(self) -> str:
        """Of what the study's benchmarks ask twice."""
        return identity.near_duplicates_id({name: self.examples(name) for name in self.study.benchmarks})

    def examples(self, benchmark: str) -> str:
        """Of a benchmark's examples."""
        return identity.examples_id(self._read(benchmark))

    def completions(self, model: str, benchmark: str) -> str:
        """Of one cell's completions; those imported for the present examples are as they should be."""
        if imported := self._imported("completions", model, benchmark):
            return imported
        files = model_hash(MODELS[model], self.layout.data_dir, self.layout.cache)
        return identity.completions_id(
            self._read(benchmark), BENCHMARKS[benchmark], MODELS[model], self.engine, files
        )

    def scores(self, model: str, benchmark: str) -> str:
        """Of one cell's scores; those imported for the present examples are as they should be."""
        if imported := self._imported("scores", model, benchmark):
            return imported
        policy = POLICIES[BENCHMARKS[benchmark].scoring]
        decider = self.run_by if policy.runs_code else self.judged_by
        return identity.scores_id(self._answers(model, benchmark), policy, decider)

    def reader_fit(self, model: str) -> str:
        """Of how well a model's reader fits the study's examples."""
        sae = SAES[MODELS[model].reader]
        drawn = sample_examples({name: self._read(name) for name in self.study.benchmarks})
        return identity.reader_fit_id(drawn, sae, self._weights(sae))

    def reader_gate(self, model: str) -> str:
        """Of whether it fits well enough."""
        return identity.reader_gate_id(self.reader_fit(model), SAES[MODELS[model].reader])

    def activations(self, model: str, benchmark: str) -> str:
        """Of one cell's activations."""
        sae = SAES[MODELS[model].reader]
        return identity.activations_id(self._read(benchmark), sae, self._weights(sae))

    def concept_metrics(self, model: str, benchmark: str) -> str:
        """Of one cell's concept metrics."""
        scores, activations = self.scores(model, benchmark), self.activations(model, benchmark)
        return identity.concept_metrics_id(scores, activations, METRICS.values(), self.study)

    def completion_activations(self, model: str, benchmark: str) -> str:
        """Of one cell's activations of answers."""
        sae = SAES[MODELS[model].reader]
        answers = self._answers(model, benchmark)
        return identity.completion_activations_id(answers, sae, self._weights(sae))

    def completion_metrics(self, model: str, benchmark: str) -> str:
        """Of one cell's metrics of answers."""
        scores, activations = self.scores(model, benchmark), self.completion_activations(model, benchmark)
        return identity.completion_metrics_id(scores, activations, METRICS.values(), self.study)

    def evidence(self, model: str, benchmark: str) -> str:
        """Of what speaks for the concepts in one cell."""
        scores, activations = self.scores(model, benchmark), self.activations(model, benchmark)
        return identity.evidence_id(scores, activations, self.study)

    def concepts(self, sae: str) -> str:
        """Of an SAE's dictionary."""
        return identity.concepts_id(sample_hash(self.layout.data_dir), SAES[sae], self._weights(SAES[sae]))

    def label_files(self, sae: str) -> str:
        """Of an SAE's label files: known from files and pins, whether or not they were fetched."""
        origins = label_origins(SAES[sae], self.layout.data_dir)
        return identity.label_files_id({origin.source: origin.fingerprint for origin in origins})

    def concept_contexts(self, sae: str) -> str:
        """Of the excerpts about an SAE's concepts; those of whichever concepts were chosen will do."""
        base = identity.concept_contexts_id(
            sample_hash(self.layout.data_dir), reader_hash(SAES[sae], self.layout)
        )
        return self._of_any_choice("concept_contexts", sae, base)

    def llm_labels(self, sae: str) -> str:
        """Of an SAE's labels by a language model, of whichever concepts."""
        base = identity.llm_labels_id(self.concept_contexts(sae))
        return self._of_any_choice("llm_labels", sae, base)

    def concept_labels(self, sae: str) -> str:
        """Of all labels of an SAE's concepts; those by a language model count as they are stored."""
        asked = self._stored.get(identity_of("llm_labels", {"sae": sae}), "")
        content = content_of(SAES[sae], self.layout)
        return identity.concept_labels_id(self.concepts(sae), content, asked, SAES[sae].labels)

    def suite_metrics(self, model: str) -> str:
        """Of a model's suite metrics."""
        cells = {name: self.concept_metrics(model, name) for name in self.study.benchmarks}
        return identity.suite_metrics_id(cells)

    def concept_health(self, model: str) -> str:
        """Of which concepts can be trusted in a model's study."""
        reader = MODELS[model].reader
        cells = {name: self.activations(model, name) for name in self.study.benchmarks}
        return identity.concept_health_id(
            self.concepts(reader), self.concept_labels(reader), self.reader_fit(model), cells, self.study
        )

    def gaps(self, model: str) -> str:
        """Of a model's gaps."""
        concepts = self.concepts(MODELS[model].reader)
        return identity.gaps_id(self.suite_metrics(model), concepts, self.concept_health(model), self.study)

    def gap_clusters(self, model: str) -> str:
        """Of a model's gap clusters."""
        labels = self.concept_labels(MODELS[model].reader)
        return identity.gap_clusters_id(self.gaps(model), labels, self.study, self.named_by)

    def gap_report(self, model: str) -> str:
        """Of a model's report."""
        cells = {name: self.evidence(model, name) for name in self.study.benchmarks}
        named = titles(model, self.study)
        return identity.gap_report_id(self.gap_clusters(model), cells, self.study, named)

    def of(self, asset: str, partition: dict[str, str]) -> str:
        """Of any asset's partition, given by its dimensions."""
        return getattr(self, asset)(**partition)

    def _weights(self, sae: Sae) -> str:
        return weights_hash(sae, self.layout.data_dir, self.layout.cache)

    def _answers(self, model: str, benchmark: str) -> str:
        """Of the completions that scores are made of: as they should be, or what a server gave of them.

        Looked up each time, since what is missing may come while a study runs.
        """
        whole = self.completions(model, benchmark)
        if not isinstance(MODELS[model].weights, ServedModel):
            return whole
        stored = Warehouse(self.layout).materialisation(
            "completions", {"model": model, "benchmark": benchmark}
        )
        return stored.fingerprint if stored and identity.is_part_of(stored.fingerprint, whole) else whole

    def _imported(self, asset: str, model: str, benchmark: str) -> str:
        """The fingerprint of what is stored, if it was imported and its examples are still these."""
        stored = self._stored.get(identity_of(asset, {"model": model, "benchmark": benchmark}), "")
        return stored if identity.is_import_of(stored, self.examples(benchmark)) else ""

    def _of_any_choice(self, asset: str, sae: str, base: str) -> str:
        """The fingerprint of what is stored, if it is one for some choice of concepts; else `base`."""
        stored = self._stored.get(identity_of(asset, {"sae": sae}), "")
        return stored if stored.startswith(f"{base}-") else base

    @cached_property
    def _stored(self) -> dict[tuple[str | None, ...], str]:
        """Fingerprints of what is stored, as found at the first question."""
        return {note.identity: note.fingerprint for note in Warehouse(self.layout).materialisations()}

    def _read(self, name: str) -> list[Example]:
        if name not in self._examples:
            benchmark = BENCHMARKS[name]
            rows = stored_rows(benchmark, self.layout, self.benchmarks_dir)
            if rows is None:
                return []  # never fetched: no stored stage was made of no example, so all are stale
            found = read_benchmark(benchmark, rows, self.layout)
            self._examples[name] = examples_of(benchmark, found, self.study)
        return self._examples[name]


def expected_of(
    store: Store, study: Study, namer: Namer, judging: Judging, code_sandbox: CodeSandbox, gpu: Gpu
) -> Expected:
    """What a study's partitions should have been made from, with these resources.

    Raises:
        ValueError: a setting of the environment cannot be used.
    """
    return Expected(
        store.layout,
        study,
        named_by=namer.source,
        benchmarks_dir=store.benchmarks_dir,
        judged_by=judging.identity,
        run_by=code_sandbox.source,
        engine=gpu.engine,
    )
