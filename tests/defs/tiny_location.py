"""The tiny study as a code location, for tests that start Dagster's own processes."""

import os
from pathlib import Path

from cg_pipeline.saes import SAES
from tests.defs.tiny_study import READER, tiny_definitions

SAES.update(READER)
defs = tiny_definitions(Path(os.environ["CG_TINY_DATA"]))
