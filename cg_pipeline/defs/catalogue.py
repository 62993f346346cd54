"""The benchmarks there are: the catalogue's, their generated forms, and what the data directory declares.

The one place where they meet. Partitions are made of it, so a declaration that is added
shows up when the code location is loaded again.
"""

from collections.abc import Mapping
from pathlib import Path

from cg_pipeline.benchmarks import BENCHMARKS as CATALOGUED
from cg_pipeline.defs.resources import data_directory
from cg_pipeline.generated import generated_forms
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.declared import read_declarations
from cg_pipeline.specs import Benchmark
from cg_pipeline.studies import STUDIES, check_names

CATALOGUE: Mapping[str, Benchmark] = {**CATALOGUED, **generated_forms(CATALOGUED)}
BENCHMARKS: Mapping[str, Benchmark] = {
    **CATALOGUE,
    **read_declarations(Path(data_directory()), taken=CATALOGUE, policies=POLICIES),
}
"""By name; declared ones after the catalogue's."""

for _study in STUDIES.values():
    check_names(_study, BENCHMARKS)
