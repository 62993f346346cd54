"""The benchmarks there are (the catalogue's, their generated forms, declared ones), and the study chosen.

The one place where they meet. Partitions are made of it, so a declaration that is added
shows up when the code location is loaded again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import dagster as dg
from pydantic import Field

from cg_pipeline.benchmarks import BENCHMARKS as CATALOGUED
from cg_pipeline.catalog import lookup
from cg_pipeline.environment import data_directory
from cg_pipeline.generated import generated_forms
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.declared import read_declarations
from cg_pipeline.specs import Benchmark, Study
from cg_pipeline.studies import STUDIES, check_names

_SHOWN_TITLES = 3
CATALOGUE: Mapping[str, Benchmark] = {**CATALOGUED, **generated_forms(CATALOGUED)}
BENCHMARKS: Mapping[str, Benchmark] = {
    **CATALOGUE,
    **read_declarations(Path(data_directory()), taken=CATALOGUE, policies=POLICIES),
}
"""By name; declared ones after the catalogue's."""


class StudyChoice(dg.ConfigurableResource):
    """Which study's benchmarks and thresholds are used, and what is changed of it for now."""

    name: str = "embedded"
    benchmarks: list[str] = Field(default=[])
    """Benchmarks, catalogued or declared, instead of the study's own; empty for those."""
    limit: int | None = None
    """Examples of each benchmark instead of the study's own limit; None for that."""

    @property
    def study(self) -> Study:
        """The study of the catalogue, with the changes.

        Raises:
            KeyError: there is none of this name.
            ValueError: it names a model, reader, benchmark or scoring policy that there is not.
        """
        study = lookup("study", self.name, STUDIES)
        limit = study.limit if self.limit is None else self.limit
        chosen = replace(study, benchmarks=tuple(self.benchmarks) or study.benchmarks, limit=limit)
        check_names(chosen, BENCHMARKS)
        if set(chosen.benchmarks) == set(study.benchmarks):
            return chosen
        return replace(chosen, title=_listed([BENCHMARKS[name].title for name in chosen.benchmarks]))


def _listed(titles: Sequence[str]) -> str:
    """The first few, as the title of what was run instead of a whole study."""
    more = len(titles) - _SHOWN_TITLES
    return ", ".join(titles[:_SHOWN_TITLES]) + (f" and {more} more" if more > 0 else "")
