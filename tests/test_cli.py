"""The command line: what it says when something is wrong."""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from cg_pipeline import definitions
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.cli import cli, studying
from cg_pipeline.defs.resources import Store
from cg_pipeline.environment import CHECKOUT
from cg_pipeline.saes import SAES
from cg_pipeline.store.locks import hold
from cg_pipeline.studies import STUDIES
from tests.defs.tiny_study import READER, FakeGpu, tiny_data


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    for name in ("DAGSTER_HOME", "CG_DAGSTER_STORAGE", "HF_HOME", "MPLCONFIGDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CG_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    return CliRunner()


def test_unknown_study_is_suggested(runner: CliRunner) -> None:
    result = runner.invoke(cli, ["demo", "--study", "embeded"])
    assert result.exit_code == 2
    assert "Unknown study 'embeded'. Did you mean 'embedded'?" in result.output


def test_missing_benchmark_file_is_one_sentence_and_exit_1(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_benchmark = replace(STUDIES["embedded"], benchmarks=("arithmetic",))  # each is a run of its own
    monkeypatch.setitem(STUDIES, "embedded", one_benchmark)
    result = runner.invoke(cli, ["demo"])
    assert result.exit_code == 1
    assert "arithmetic.jsonl is not a file; expected" in result.output
    assert "Traceback" not in result.output


def test_unknown_sae_is_suggested(runner: CliRunner) -> None:
    result = runner.invoke(cli, ["train-sae", "smollm2"])
    assert result.exit_code == 2
    assert "Unknown SAE 'smollm2'. Did you mean 'smollm2_l12'?" in result.output


def test_publish_without_a_warehouse(runner: CliRunner) -> None:
    result = runner.invoke(cli, ["publish"])
    assert result.exit_code == 0
    assert "is up to date" in result.output


def test_dagster_keeps_to_the_data_directory(runner: CliRunner, tmp_path: Path) -> None:
    runner.invoke(cli, ["recover"])
    home = tmp_path / "data" / "dagster"
    assert os.environ["DAGSTER_HOME"] == str(home)
    assert (home / "dagster.yaml").read_bytes() == (CHECKOUT / "dagster.yaml").read_bytes()
    assert (home / "history").is_dir()


def test_unknown_benchmark_is_suggested(runner: CliRunner) -> None:
    result = runner.invoke(cli, ["demo", "--benchmark", "logik"])
    assert result.exit_code == 2
    assert "Unknown benchmark 'logik'. Did you mean 'logic'?" in result.output


def test_a_limit_is_positive(runner: CliRunner) -> None:
    assert runner.invoke(cli, ["demo", "--limit", "0"]).exit_code == 2


@pytest.mark.integration
def test_another_study_is_run_with_its_own_benchmarks(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(tmp_path / "data")
    data_dir = tiny_data(tmp_path / "data")
    short = replace(STUDIES["embedded"], name="short", title="Two of ten", benchmarks=("facts", "requests"))
    monkeypatch.setitem(STUDIES, "short", short)
    for name, reader in READER.items():
        monkeypatch.setitem(SAES, name, reader)
    monkeypatch.setattr(
        definitions,
        "assemble",
        partial(definitions.assemble, gpu=FakeGpu(store=Store(data_dir=str(data_dir)))),
    )
    result = runner.invoke(cli, ["demo", "--study", "short"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "Two of ten: 1 model(s) × 2 benchmarks" in result.output
    text = (data_dir / "reports" / "smollm2_135m" / "report.md").read_text(encoding="utf-8")
    assert BENCHMARKS["requests"].title in text
    assert BENCHMARKS["letters"].title not in text
    monkeypatch.setitem(STUDIES, "other", replace(short, name="other", benchmarks=("facts",)))
    again = runner.invoke(cli, ["demo", "--study", "other"], catch_exceptions=False)
    assert "suite tables of smollm2_135m hold study 'short'; replacing them." in again.output


def test_a_study_is_not_run_beside_another_one(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its examples would be put under the other one's feet."""
    monkeypatch.setattr(studying, "_PATIENCE_S", 0.1)
    with hold(tmp_path / "data" / ".study.lock", exclusive=True, timeout_s=1.0):
        result = runner.invoke(cli, ["demo"])
    assert result.exit_code == 1
    assert f".study.lock, held by process {os.getpid()}; expected it to be free within 0.1 s" in result.output
    assert "Traceback" not in result.output


def test_a_taken_port_is_named(runner: CliRunner) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = runner.invoke(cli, ["ui", "--port", str(port)])
    assert result.exit_code == 1
    assert f"Port {port} is in use; expected a free one." in result.output


def test_a_faulty_row_is_told_once_and_without_a_traceback(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STUDIES, "embedded", replace(STUDIES["embedded"], benchmarks=("facts",)))
    (tmp_path / "data" / "suite").mkdir()
    (tmp_path / "data" / "suite" / "facts.jsonl").write_text('{"category": "animals", "question": 3}\n')
    result = runner.invoke(cli, ["demo"])
    assert result.exit_code == 1
    assert result.output.count("field 'question' is 3") == 1
    assert "Traceback" not in result.output


def test_data_directory_that_is_absent_is_not_made(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "data").rmdir()
    result = runner.invoke(cli, ["publish"])
    assert result.exit_code == 1
    assert f"CG_DATA_DIR is '{tmp_path / 'data'}', which is not a directory; expected" in result.output
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", ["what?", "a%20b", "c#"])
def test_a_path_that_databases_cannot_be_opened_at_is_refused(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).mkdir()
    monkeypatch.setenv("CG_DATA_DIR", str(tmp_path / name))
    result = runner.invoke(cli, ["recover"])
    assert result.exit_code == 1
    assert "expected an absolute path without ?, %, # and control" in result.output


def test_relative_home_is_refused(runner: CliRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "home")
    result = runner.invoke(cli, ["recover"])
    assert "Error: DAGSTER_HOME is 'home'; expected an absolute path" in result.output


def test_a_file_where_dagster_should_live_is_named(runner: CliRunner, tmp_path: Path) -> None:
    (tmp_path / "data" / "dagster").write_text("")
    result = runner.invoke(cli, ["recover"])
    assert result.exit_code == 1
    assert f"{tmp_path / 'data' / 'dagster'}, which cannot be written (File exists)" in result.output


def test_damaged_history_is_named(runner: CliRunner, tmp_path: Path) -> None:
    runner.invoke(cli, ["recover"])
    (tmp_path / "data" / "dagster" / "history" / "runs.db").write_bytes(b"garbage" * 1000)
    result = runner.invoke(cli, ["recover"])
    assert result.exit_code == 1
    assert "data/dagster cannot be used (file is not a database)" in result.output
    assert "delete that folder: it holds no results" in " ".join(result.output.split())


@pytest.mark.integration
def test_commands_that_start_at_once_make_one_history(tmp_path: Path) -> None:
    """Each makes the databases where there are none: two schemas in one file are beyond repair."""
    data = tmp_path / "data"
    data.mkdir()
    environment = {**os.environ, "CG_DATA_DIR": str(data), "PYTHONPATH": str(CHECKOUT)}
    for name in ("DAGSTER_HOME", "CG_DAGSTER_STORAGE"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "cg_pipeline.cli", "recover"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    started = [subprocess.Popen(command, env=environment, **pipes) for _ in range(3)]
    said = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
    for path in (data / "dagster").rglob("*.db"):
        with sqlite3.connect(path) as database:
            assert len(database.execute("select * from alembic_version").fetchall()) == 1, path
