"""The tiny study as a code location, for tests that start Dagster's own processes."""

import os
import time
from pathlib import Path

import dagster as dg

from cg_pipeline.saes import SAES
from cg_pipeline.specs import Study
from tests.defs.tiny_study import READER, TinyStudy, tiny_definitions

DATA = Path(os.environ["CG_TINY_DATA"])
ALONE = DATA / "alone"
"""While this file is there, a run that has left the pool of the GPU waits for a second one."""


def wait_for_company(seconds: float = 120) -> None:
    """Return once two runs are at work together, or will not be."""
    deadline = time.monotonic() + seconds
    at_work = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])
    with dg.DagsterInstance.get() as instance:
        while ALONE.exists() and time.monotonic() < deadline and instance.get_runs_count(at_work) < 2:
            time.sleep(0.2)
    ALONE.unlink(missing_ok=True)


class PatientStudy(TinyStudy):
    """Is asked for by checks and metrics, which hold no pool: where to wait. Runs so small end too soon."""

    @property
    def study(self) -> Study:
        if ALONE.exists():
            wait_for_company()
        return super().study


SAES.update(READER)
defs = tiny_definitions(DATA, study=PatientStudy)
