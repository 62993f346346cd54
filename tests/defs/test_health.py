"""Trust in the graph: a reader that does not fit stops a study, and a moved bound runs no model."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import dagster as dg
import duckdb
import pytest

from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.jobs import CELL_JOB, READER_JOB
from cg_pipeline.defs.runs import Unit, run_study, run_unit, units_of
from cg_pipeline.defs.trust import Trust
from cg_pipeline.health_specs import HealthRules, ReaderGate
from cg_pipeline.saes import SAES
from cg_pipeline.specs import Study
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.warehouse import Warehouse
from tests.defs.tiny_study import (
    LOADS,
    N_CONCEPTS,
    READER,
    STUDY,
    FakeEncoder,
    FakeGpu,
    TinyStudy,
    fit_of,
    tiny_data,
    tiny_definitions,
)

pytestmark = pytest.mark.integration

MODEL, SAE = "smollm2_135m", "smollm2_l12"
CELL = Unit(CELL_JOB, {"model": MODEL, "benchmark": "facts"})
STRICT = replace(STUDY, health=HealthRules(max_token_rate=0.02))


class StrictStudy(TinyStudy):
    """The tiny study with a bound that many concepts miss."""

    @property
    def study(self) -> Study:
        return STRICT


class MisplacedEncoder(FakeEncoder):
    """Explains the layer before much better."""

    def fit(self, texts):
        fit, arrays = super().fit(texts)
        found = fit_of(SAE, n_tokens=fit.n_tokens, explained_variance=0.6)
        return replace(found, hookpoint_explained_variance=(0.82, 0.6)), arrays


class MisplacedGpu(FakeGpu):
    def encoder(self, sae) -> FakeEncoder:
        LOADS.append(sae.name)
        return MisplacedEncoder()


@pytest.fixture(scope="module")
def instance() -> Iterator[dg.DagsterInstance]:
    with patch.dict(SAES, READER), dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Path:
    data_dir = tiny_data(tmp_path_factory.mktemp("data"))
    run(data_dir, instance)
    return data_dir


def run(data_dir: Path, instance: dg.DagsterInstance, study=TinyStudy, gpu=FakeGpu) -> dict[str, list[str]]:
    """Run the study; returns what was run of each unit."""
    seen: dict[str, list[str]] = {}

    def report(unit: Unit, stale: list[str]) -> None:
        seen[unit.title] = stale

    expected = Expected(Layout(data_dir), study().study, "automatic")
    definitions = tiny_definitions(data_dir, gpu, study)
    run_study(definitions, instance, expected, report, lambda warning: None)
    return {title: assets for title, assets in seen.items() if assets}


def stale(data_dir: Path, instance: dg.DagsterInstance, study: Study = STUDY) -> list[str]:
    """Assets of the study that would be run."""
    expected = Expected(Layout(data_dir), study, "automatic")
    trust = Trust(Warehouse(Layout(data_dir)), expected, instance)
    return [asset for unit in units_of(study) for asset in unit.job.assets if not trust.holds(asset, unit)]


def ask(data_dir: Path, sql: str) -> list[tuple]:
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_a_reader_that_does_not_fit_stops_the_study_before_anything_is_read(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = tiny_data(tmp_path / "data")
    sentence = (
        r"check_reader smollm2_135m failed: check the_reader_fits of reader_gate: SAE 'smollm2_l12': "
        r"it explains 0\.820 of the variance at blocks\.11\.hook_resid_post, 0\.600 at blocks\.12\..*"
        r"likely cause: wrong layer, for it explains 0\.82 at blocks\.11"
    )
    with pytest.raises(RuntimeError, match=sentence):
        run(data_dir, instance, gpu=MisplacedGpu)
    made = {note.asset for note in Warehouse(Layout(data_dir)).materialisations()}
    assert made == {"benchmark_rows", "examples", "near_duplicates", "reader_fit", "reader_gate"}
    LOADS.clear()
    definitions = tiny_definitions(data_dir, MisplacedGpu)
    with pytest.raises(RuntimeError, match="did not pass its gate: SAE 'smollm2_l12': it explains"):
        run_unit(definitions, CELL, ["activations"], instance)  # as somebody would from the UI
    assert LOADS == []
    accepting = replace(READER[SAE], gate=ReaderGate(max_advantage=0.5, max_shortfall=0.5))
    with patch.dict(SAES, {SAE: accepting}):
        assert stale(data_dir, instance)[:2] == ["reader_gate", "concepts"]
        run_unit(definitions, Unit(READER_JOB, {"model": MODEL}), ["reader_gate"], instance)
        assert LOADS == []
        run_unit(definitions, CELL, ["activations"], instance)


def test_a_cell_without_a_gate_is_not_read(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    data_dir = tiny_data(tmp_path / "data")
    definitions = tiny_definitions(data_dir)
    first = next(unit for unit in units_of(STUDY) if unit.partition == {"benchmark": "facts"})
    run_unit(definitions, first, list(first.job.assets), instance)
    with pytest.raises(RuntimeError, match="reader_gate"):
        run_unit(definitions, CELL, ["activations"], instance)


def test_a_moved_bound_of_the_gate_asks_for_the_gate_alone(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    LOADS.clear()
    with patch.dict(SAES, {SAE: replace(READER[SAE], gate=ReaderGate(min_explained_variance=0.7))}):
        assert stale(data_dir, instance) == ["reader_gate"]
        assert run(data_dir, instance) == {"check_reader smollm2_135m": ["reader_gate"]}
        assert stale(data_dir, instance) == []
    assert LOADS == []


def test_a_moved_bound_of_health_asks_for_verdicts_and_what_is_below(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    below = ["concept_health", "gaps", "gap_clusters", "gap_report"]
    assert stale(data_dir, instance, STRICT) == below
    assert run(data_dir, instance, StrictStudy) == {"report_gaps smollm2_135m": below}
    [(n_dead,)] = ask(data_dir, "select count(*) from concepts where status = 'dead'")
    counts = dict(
        ask(
            data_dir,
            "select reason, count(*) from (select unnest(reasons) reason from concept_health) group by 1",
        )
    )
    [(n_left_out,)] = ask(data_dir, "select count(*) from concept_health where verdict = 'quarantined'")
    assert counts["dead"] == n_dead
    assert counts["dense"] > 0
    assert max(n_dead, counts["dense"]) <= n_left_out <= n_dead + counts["dense"]
    assert ask(data_dir, "select distinct n_quarantined from gaps") == [(n_left_out,)]
    among = "select count(*) from gaps join concept_health using (concept_id) where verdict = 'quarantined'"
    assert ask(data_dir, among) == [(0,)]
    [(html, markdown, headline)] = ask(data_dir, "select html_path, markdown_path, headline from gap_report")
    told = f"{n_left_out} concepts are left out ({n_dead} dead, {counts['dense']} dense)"
    for text in ((data_dir / html).read_text(), (data_dir / markdown).read_text().replace("\\", "")):
        assert told in text
        assert f"; {n_left_out} concepts left out" in text
    assert told in " ".join(headline)
    assert any(f"{n_left_out} left out)" in line for line in headline)


def test_every_concept_has_its_figures(finished: Path) -> None:
    [row] = ask(
        finished,
        "select count(*), min(token_rate), max(example_rate), count(*) filter (n_firings > 0), "
        "count(*) filter (mean_saliency is null) from concept_health",
    )
    assert row[0] == N_CONCEPTS
    assert row[1] == 0
    assert 0 < row[2] <= 1
    assert row[3] > 0
    assert row[4] == ask(finished, "select count(*) from concept_health where example_rate = 0")[0][0]
    [fit] = ask(finished, "select model, sae, hookpoints, n_examples, path from reader_fit")
    assert fit[:3] == (MODEL, SAE, ["blocks.11.hook_resid_post", "blocks.12.hook_resid_post"])
    assert fit[3] == 36
    assert list((finished / fit[4]).glob("shard-*"))


def test_a_second_model_with_the_reader_measures_nothing_anew(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    LOADS.clear()
    other = Unit(READER_JOB, {"model": "gemma_3_270m"})
    run_unit(tiny_definitions(data_dir), other, list(READER_JOB.assets), instance)
    assert LOADS == []
    rows = ask(data_dir, "select model, path from reader_fit order by 1")
    assert [row[0] for row in rows] == ["gemma_3_270m", MODEL]
    assert len({row[1] for row in rows}) == 1


def test_counts_that_lost_their_file_are_made_again(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    next((data_dir / "shards" / "reader_fit").rglob("shard-*")).unlink()
    assert stale(data_dir, instance) == ["reader_fit"]
