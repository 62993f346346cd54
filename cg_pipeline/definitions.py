"""What Dagster loads: assets, checks, jobs and resources, put together and nothing else."""

from typing import Any

import dagster as dg

from cg_pipeline.defs import (
    benchmark_assets,
    completion_assets,
    concept_assets,
    evidence_assets,
    gap_assets,
    health_assets,
    label_assets,
    llm_label_assets,
    model_assets,
    reader_assets,
    report_assets,
    training_assets,
)
from cg_pipeline.defs.asset_checks import ASSET_CHECKS
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.io_managers import ActivationIOManager, EvidenceIOManager, WarehouseIOManager
from cg_pipeline.defs.jobs import JOBS
from cg_pipeline.defs.resources import Namer, Store
from cg_pipeline.defs.settings import configured
from cg_pipeline.environment import benchmarks_directory, data_directory

MODULES = [
    benchmark_assets,
    model_assets,
    reader_assets,
    concept_assets,
    completion_assets,
    evidence_assets,
    gap_assets,
    health_assets,
    label_assets,
    llm_label_assets,
    report_assets,
    training_assets,
]


def assemble(data_dir: str, **replaced: Any) -> dg.Definitions:
    """The project on one data directory; resources can be replaced by name."""
    store = Store(data_dir=data_dir, benchmarks_dir=benchmarks_directory())
    choice = replaced.get("study_choice") or StudyChoice.configure_at_launch()
    resources = {
        "io_manager": WarehouseIOManager(store=store, study_choice=choice),
        "activation_io_manager": ActivationIOManager(store=store, study_choice=choice),
        "evidence_io_manager": EvidenceIOManager(store=store, study_choice=choice),
        "store": store,
        "namer": Namer(store=store),
        "study_choice": choice,
        **configured(store),
    }
    return dg.Definitions(
        assets=dg.load_assets_from_modules(MODULES),
        asset_checks=ASSET_CHECKS,
        jobs=[job.definition for job in JOBS],
        executor=dg.in_process_executor,  # a run is a process already
        resources={**resources, **replaced},
    )


defs = assemble(data_directory())
