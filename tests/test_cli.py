"""The command line: what it says when something is wrong."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from cg_pipeline.cli import CHECKOUT, cli
from cg_pipeline.studies import STUDIES


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    for name in ("DAGSTER_HOME", "CG_DAGSTER_STORAGE", "HF_HOME", "MPLCONFIGDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CG_DATA_DIR", str(tmp_path / "data"))
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
