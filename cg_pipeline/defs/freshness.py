"""What the catalogue says each stored partition should have been made from."""

from dataclasses import dataclass, field

from cg_pipeline import identity
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.metrics import METRICS
from cg_pipeline.models import MODELS
from cg_pipeline.records import Example
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.broad_sample import sample_hash
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.sources.sae_files import weights_hash
from cg_pipeline.specs import Study
from cg_pipeline.store.layout import Layout


@dataclass(frozen=True)
class Expected:
    """Fingerprints from the top of the graph down, computed from the catalogue and the files it names.

    A stage whose stored fingerprint equals the expected one need not be run again.
    """

    layout: Layout
    study: Study
    named_by: str
    """Source of the cluster names: an LLM's, or `automatic`."""
    judged_by: str = "none"
    """Source of a judge's verdicts, or `none`."""
    run_by: str = "none"
    """What runs programs that models wrote, or `none`."""
    _examples: dict[str, list[Example]] = field(
        default_factory=dict[str, list[Example]], init=False, repr=False
    )
    """What was read of each benchmark: each file is read once, at this moment."""

    def examples(self, benchmark: str) -> str:
        """Of a benchmark's examples."""
        return identity.examples_id(self._read(benchmark))

    def completions(self, model: str, benchmark: str) -> str:
        """Of one cell's completions."""
        return identity.completions_id(self._read(benchmark), BENCHMARKS[benchmark], MODELS[model])

    def scores(self, model: str, benchmark: str) -> str:
        """Of one cell's scores."""
        policy = POLICIES[BENCHMARKS[benchmark].scoring]
        decider = self.run_by if policy.runs_code else self.judged_by
        return identity.scores_id(self.completions(model, benchmark), policy, decider)

    def activations(self, model: str, benchmark: str) -> str:
        """Of one cell's activations."""
        sae = SAES[MODELS[model].reader]
        return identity.activations_id(self._read(benchmark), sae, weights_hash(sae, self.layout.data_dir))

    def concept_metrics(self, model: str, benchmark: str) -> str:
        """Of one cell's concept metrics."""
        scores, activations = self.scores(model, benchmark), self.activations(model, benchmark)
        return identity.concept_metrics_id(scores, activations, METRICS.values(), self.study)

    def concepts(self, sae: str) -> str:
        """Of an SAE's dictionary."""
        weights = weights_hash(SAES[sae], self.layout.data_dir)
        return identity.concepts_id(sample_hash(self.layout.data_dir), SAES[sae], weights)

    def suite_metrics(self, model: str) -> str:
        """Of a model's suite metrics."""
        cells = {name: self.concept_metrics(model, name) for name in self.study.benchmarks}
        return identity.suite_metrics_id(cells)

    def gaps(self, model: str) -> str:
        """Of a model's gaps."""
        return identity.gaps_id(self.suite_metrics(model), self.concepts(MODELS[model].reader), self.study)

    def gap_clusters(self, model: str) -> str:
        """Of a model's gap clusters."""
        return identity.gap_clusters_id(self.gaps(model), self.study, self.named_by)

    def gap_report(self, model: str) -> str:
        """Of a model's report."""
        return identity.gap_report_id(self.gap_clusters(model), self.study)

    def of(self, asset: str, partition: dict[str, str]) -> str:
        """Of any asset's partition, given by its dimensions."""
        return getattr(self, asset)(**partition)

    def _read(self, benchmark: str) -> list[Example]:
        if benchmark not in self._examples:
            self._examples[benchmark] = read_examples(BENCHMARKS[benchmark], self.layout.data_dir)
        return self._examples[benchmark]
