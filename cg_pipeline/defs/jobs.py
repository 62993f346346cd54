"""Jobs for people: one per partition set, since Dagster cannot mix them in a run."""

from dataclasses import dataclass
from typing import Any

import dagster as dg

from cg_pipeline.defs.partitions import cell_key


@dataclass(frozen=True)
class Job:
    """The stages of one partition set, run together."""

    name: str
    stage: str
    """Tag by which its runs are found."""
    assets: tuple[str, ...]
    """In running order."""
    description: str

    @property
    def definition(self) -> Any:
        """As Dagster wants it."""
        return dg.define_asset_job(
            self.name,
            selection=list(self.assets),
            tags={"team": "evaluation", "stage": self.stage},
            description=self.description,
        )


@dataclass(frozen=True)
class Unit:
    """One run: a job on one partition."""

    job: Job
    partition: dict[str, str]

    @property
    def key(self) -> str | None:
        """Dagster's partition key; None for an asset that is made as a whole."""
        if len(self.partition) == 2:
            return cell_key(self.partition["model"], self.partition["benchmark"])
        return next(iter(self.partition.values()), None)

    @property
    def title(self) -> str:
        """For people."""
        return " ".join([self.job.name, " × ".join(self.partition.values())]).rstrip()


EXAMPLES_JOB = Job(
    "load_examples",
    "examples",
    ("benchmark_rows", "examples"),
    "Fetch a benchmark's rows, once, and make its examples.",
)
SUITE_JOB = Job(
    "compare_benchmarks",
    "suite",
    ("near_duplicates",),
    "Find what a study's benchmarks ask twice.",
)
DICTIONARY_JOB = Job(
    "describe_concepts",
    "dictionary",
    ("concepts", "label_files", "concept_labels"),
    "Describe an SAE's concepts, and put all their labels together.",
)
LABELLING_JOB = Job(
    "ask_for_labels",
    "labelling",
    ("concept_contexts", "llm_labels"),
    "Let a language model label chosen concepts of an SAE and test its labels; by hand, for it costs.",
)
READER_JOB = Job(
    "check_reader",
    "reader",
    ("reader_fit", "reader_gate"),
    "Try a model's reader on a sample of the study's examples; nothing is read by one that does not fit.",
)
CELL_JOB = Job(
    "evaluate_cell",
    "cell",
    ("completions", "scores", "activations", "concept_metrics", "evidence"),
    "Run one model on one benchmark, read it, measure every concept, keep what speaks for it.",
)
COMPLETIONS_JOB = Job(
    "read_completions",
    "completions",
    ("completion_activations", "completion_metrics"),
    "Read what one model answered on one benchmark, apart from what it was asked.",
)
REPORT_JOB = Job(
    "report_gaps",
    "report",
    ("suite_metrics", "concept_health", "gaps", "gap_clusters", "gap_report"),
    "Find, group and report a model's gaps from the cells that are there.",
)

JOBS = (
    EXAMPLES_JOB,
    SUITE_JOB,
    DICTIONARY_JOB,
    LABELLING_JOB,
    READER_JOB,
    CELL_JOB,
    COMPLETIONS_JOB,
    REPORT_JOB,
)
