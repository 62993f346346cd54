"""The study chosen is called by what is run of it."""

import pytest

from cg_pipeline.defs.catalogue import BENCHMARKS, StudyChoice
from cg_pipeline.studies import STUDIES

WHOLE = STUDIES["embedded"]


@pytest.mark.parametrize("names", [(), WHOLE.benchmarks, WHOLE.benchmarks[::-1]])
def test_a_whole_study_has_its_own_title(names):
    assert StudyChoice(benchmarks=list(names)).study.title == WHOLE.title


@pytest.mark.parametrize(
    ("names", "more"),
    [(["calendar"], ""), (["calendar", "facts", "logic", "social", "letters"], " and 2 more")],
)
def test_a_part_of_it_is_called_by_its_benchmarks(names, more):
    study = StudyChoice(benchmarks=names, limit=5).study
    assert study.title == ", ".join(BENCHMARKS[name].title for name in names[:3]) + more
    assert (study.name, study.benchmarks, study.limit) == ("embedded", tuple(names), 5)
