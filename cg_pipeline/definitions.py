"""What Dagster loads: assets, checks, jobs and resources, put together and nothing else."""

import dagster as dg

from cg_pipeline.defs import benchmark_assets, gap_assets, model_assets, reader_assets, training_assets
from cg_pipeline.defs.asset_checks import ASSET_CHECKS
from cg_pipeline.defs.io_managers import ActivationIOManager, WarehouseIOManager
from cg_pipeline.defs.jobs import JOBS
from cg_pipeline.defs.resources import Gpu, Namer, Store, StudyChoice, data_directory

_store = Store(data_dir=data_directory())

defs = dg.Definitions(
    assets=dg.load_assets_from_modules([benchmark_assets, model_assets, reader_assets, gap_assets, training_assets]),
    asset_checks=ASSET_CHECKS,
    jobs=JOBS,
    executor=dg.in_process_executor,
    resources={
        "io_manager": WarehouseIOManager(store=_store),
        "activation_io_manager": ActivationIOManager(store=_store),
        "store": _store,
        "gpu": Gpu(store=_store),
        "namer": Namer(store=_store),
        "study_choice": StudyChoice(),
    },
)
