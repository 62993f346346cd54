"""What a report is made from, and what it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from cg_pipeline.evidence_records import ConceptEvidence
from cg_pipeline.health_records import ConceptHealth
from cg_pipeline.records import (
    Completion,
    Concept,
    ConceptMetrics,
    Example,
    Gap,
    GapCluster,
    Score,
    SuiteMetrics,
)
from cg_pipeline.specs import Benchmark, Model, Sae, Study


@runtime_checkable
class EvidenceShelf(Protocol):
    """One cell's evidence, of which a few concepts are looked at; `ConceptEvidence` in memory is one."""

    def of(self, concept_ids: list[int]) -> ConceptEvidence:
        """What there is of these concepts; those that never fire have no rows."""
        ...


@dataclass(frozen=True, kw_only=True)
class ReportInputs:
    """One model in one study, with all that was found; mappings go by benchmark, in the study's order."""

    model: Model
    study: Study
    sae: Sae
    """The SAE that read the examples."""
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)
    """Titles, scopes and scoring; a benchmark that is not here goes by its name."""
    examples: Mapping[str, Sequence[Example]]
    completions: Mapping[str, Sequence[Completion]]
    scores: Mapping[str, Sequence[Score]]
    evidence: Mapping[str, EvidenceShelf]
    """What speaks for the concepts in each benchmark; only those the report names are looked up."""
    concepts: Sequence[Concept]
    """The dictionary after `health.quarantine.set_aside`: those that count have the status `alive`."""
    health: Sequence[ConceptHealth]
    """The verdict on each concept."""
    concept_metrics: ConceptMetrics
    suite: SuiteMetrics
    gaps: Sequence[Gap]
    clusters: Sequence[GapCluster]
    provenance: Mapping[str, object] = field(default_factory=dict)
    """Where the numbers come from (fingerprints, versions, seeds, run ids, device …), plain or nested."""

    def title_of(self, benchmark: str) -> str:
        """A benchmark's title, or its name where no spec is given."""
        spec = self.benchmarks.get(benchmark)
        return spec.title if spec else benchmark


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report in two forms that say the same."""

    html: str
    """Self-contained: styles and figures inside, no script, nothing fetched."""
    markdown: str
    """Shows the figures from `figures/<name>.svg` beside it."""
    figures: Mapping[str, str]
    """SVG documents by name, for `figures/`."""
