"""The whole asset graph on a truncated suite with a fake model: stored, checked, resumed, refused."""

import json
import shutil
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from cg_pipeline import checks
from cg_pipeline.checks import Finding
from cg_pipeline.defs.runs import Unit, run_study
from cg_pipeline.store.layout import Layout
from tests.defs.tiny_study import (
    LOADS,
    N_CONCEPTS,
    N_ROWS,
    STUDY,
    FakeGpu,
    FakeLanguageModel,
    tiny_data,
    tiny_definitions,
)


def run(data_dir: Path, instance: dg.DagsterInstance) -> dict[str, list[str]]:
    """Run the study; returns what was stale of each unit."""
    seen: dict[str, list[str]] = {}

    def report(unit: Unit, stale: list[str]) -> None:
        seen[unit.title] = stale

    run_study(tiny_definitions(data_dir), instance, STUDY, Layout(data_dir), "automatic", report)
    return seen


@pytest.fixture(scope="module")
def instance():
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Path:
    data_dir = tiny_data(tmp_path_factory.mktemp("data"))
    run(data_dir, instance)
    return data_dir


def ask(data_dir: Path, sql: str) -> list[tuple]:
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_every_table_is_filled(finished: Path) -> None:
    n, cells = N_ROWS * len(STUDY.benchmarks), len(STUDY.benchmarks)
    for table, expected in {
        "examples": n,
        "completions": n,
        "scores": n,
        "activations": cells,
        "concept_metrics": N_CONCEPTS * cells,
        "suite_metrics": N_CONCEPTS,
        "concepts": N_CONCEPTS,
        "gap_report": 1,
    }.items():
        assert ask(finished, f"select count(*) from {table}") == [(expected,)], table
    assert ask(finished, "select count(distinct kind) from gaps") == [(4,)]


def test_columns_carry_descriptions(finished: Path) -> None:
    undescribed = (
        "select table_name, column_name from duckdb_columns() where comment is null and not internal"
    )
    assert ask(finished, undescribed) == []


def test_second_run_does_nothing(finished: Path, instance: dg.DagsterInstance) -> None:
    """Fault F4: a run with nothing to do succeeds at once; and F34: it loads no model."""
    LOADS.clear()
    assert set(map(tuple, run(finished, instance).values())) == {()}
    assert LOADS == []


def test_every_materialisation_names_its_run_and_fingerprint(
    finished: Path, instance: dg.DagsterInstance
) -> None:
    rows = ask(finished, "select asset, run_id, fingerprint, versions from materialisations")
    assert {row[0] for row in rows} == {
        "examples", "completions", "scores", "activations", "concepts", "concept_metrics", "suite_metrics",
        "gaps", "gap_clusters", "gap_report",
    }  # fmt: skip
    for asset, run_id, fingerprint, versions in rows:
        assert instance.get_run_by_id(run_id), asset
        assert len(fingerprint) == 16
        assert "duckdb" in json.loads(versions)


def test_every_check_passed(finished: Path, instance: dg.DagsterInstance) -> None:
    evaluations = [
        record.event_log_entry.dagster_event.asset_check_evaluation_data
        for run in instance.get_runs()
        for record in instance.get_records_for_run(
            run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION, limit=1000
        ).records
    ]
    assert len(evaluations) > 30
    errors = [e for e in evaluations if not e.passed and e.severity == dg.AssetCheckSeverity.ERROR]
    assert errors == []
    outdated = [e for e in evaluations if not e.passed and e.check_name == "is_current"]
    assert outdated == []


def test_report_is_written(finished: Path) -> None:
    ((html, markdown),) = ask(finished, "select html_path, markdown_path from gap_report")
    assert "<html" in (finished / html).read_text(encoding="utf-8")
    assert (finished / markdown).read_text(encoding="utf-8").startswith("#")


def test_editing_one_benchmark_reruns_its_cell_and_the_report(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    path = data_dir / "suite" / "facts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert stale == {
        "load_examples facts": ["examples"],
        "evaluate_cell smollm2_135m × facts": ["completions", "scores", "activations", "concept_metrics"],
        "report_gaps smollm2_135m": ["suite_metrics", "gaps", "gap_clusters", "gap_report"],
    }
    assert ask(data_dir, "select count(*) from examples where benchmark = 'facts'") == [(N_ROWS - 1,)]


def test_a_faulty_file_is_named_and_others_are_unaffected(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = tiny_data(tmp_path / "data")
    path = data_dir / "suite" / "facts.jsonl"
    path.write_text(
        path.read_text(encoding="utf-8") + '{"category": "animals", "question": 3}\n', encoding="utf-8"
    )
    with pytest.raises(
        (RuntimeError, ValueError), match=rf"facts\.jsonl:{N_ROWS + 1}: field 'question' is 3"
    ):
        run(data_dir, instance)
    done = ask(data_dir, "select distinct benchmark from examples order by 1")
    assert done == [("arithmetic",), ("requests",)]


def test_what_lost_its_files_is_made_again(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    next((data_dir / "shards" / "activations").rglob("shard-*")).unlink()
    shutil.rmtree(data_dir / "reports")
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert stale.pop("report_gaps smollm2_135m") == ["gap_report"]
    assert list(stale.values()) == [["activations"]]
    assert list((data_dir / "reports").rglob("report.html"))


def _forever_lost(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("end", ["killed", "failed"])
def test_what_was_stored_but_never_passed_its_checks_is_made_again(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """A process that dies between a write and its check leaves a partition that nobody has looked at."""
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    path = data_dir / "suite" / "facts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    finding = Finding(passed=False, sentence="Scores are out of range.")
    with monkeypatch.context() as patch:
        patch.setattr(checks, "scores_in_range", _forever_lost if end == "killed" else lambda *_: finding)
        with pytest.raises((RuntimeError, KeyboardInterrupt)):
            run(data_dir, instance)
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert "scores" in stale["evaluate_cell smollm2_135m × facts"]
    assert set(map(tuple, run(data_dir, instance).values())) == {()}


def test_a_sentence_is_told_whatever_it_was_raised_from(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    class BrokenGpu(FakeGpu):
        def language_model(self, model) -> FakeLanguageModel:
            try:
                raise OSError("errno 7")
            except OSError as cause:
                raise ValueError("Device 'gpu9' cannot be used here") from cause

    data_dir = tiny_data(tmp_path / "data")
    definitions = tiny_definitions(data_dir, BrokenGpu)
    with pytest.raises(RuntimeError, match="Device 'gpu9' cannot be used here"):
        run_study(definitions, instance, STUDY, Layout(data_dir), "automatic", lambda *_: None)
