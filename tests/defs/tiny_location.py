"""The tiny study as a code location, for tests that start Dagster's own processes."""

import os
from pathlib import Path

from tests.defs.tiny_study import tiny_definitions

defs = tiny_definitions(Path(os.environ["CG_TINY_DATA"]))
