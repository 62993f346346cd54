"""Jobs for people: one per partition set, since Dagster cannot mix them in a run."""

import dagster as dg

_TAGS = {"team": "evaluation"}

EXAMPLES_JOB = dg.define_asset_job(
    "load_examples",
    selection=["examples"],
    tags={**_TAGS, "stage": "examples"},
    description="Read a benchmark's rows.",
)
DICTIONARY_JOB = dg.define_asset_job(
    "describe_concepts",
    selection=["concepts"],
    tags={**_TAGS, "stage": "dictionary"},
    description="Label an SAE's concepts.",
)
CELL_JOB = dg.define_asset_job(
    "evaluate_cell",
    selection=["completions", "scores", "activations", "concept_metrics"],
    tags={**_TAGS, "stage": "cell"},
    description="Run one model on one benchmark, read it, measure every concept.",
)
REPORT_JOB = dg.define_asset_job(
    "report_gaps",
    selection=["suite_metrics", "gaps", "gap_clusters", "gap_report"],
    tags={**_TAGS, "stage": "report"},
    description="Find, group and report a model's gaps from the cells that are there.",
)

JOBS = [EXAMPLES_JOB, DICTIONARY_JOB, CELL_JOB, REPORT_JOB]
