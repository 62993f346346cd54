"""A declared benchmark is in the whole graph, as one of the catalogue is; a wrong one is told as such."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]

TOML = """
title = "Capitals"
scope = "Which city is a capital."
licence = "CC0-1.0"
file = "capitals.jsonl"
task = "lettered"
[fields]
question = "q"
choices = "c"
answer = "a"
answer_as = "index"
"""

MATERIALISE = """
import dagster as dg
from cg_pipeline.definitions import defs

with dg.DagsterInstance.ephemeral() as instance:
    job = defs.resolve_job_def("load_examples")
    outcome = job.execute_in_process(partition_key="capitals", instance=instance, raise_on_error=False)
checks = {c.check_name: c.passed for c in outcome.get_asset_check_evaluations()}
cells = defs.resolve_job_def("evaluate_cell").partitions_def
print(outcome.success, sorted(checks.items()), "capitals|smollm2_135m" in cells.get_partition_keys())
"""


def run(data_dir: Path, *command: str) -> subprocess.CompletedProcess[str]:
    dagster = {"DAGSTER_HOME": str(ROOT), "CG_DAGSTER_STORAGE": str(data_dir / "dagster")}
    env = {**os.environ, **dagster, "CG_DATA_DIR": str(data_dir)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "dagster").mkdir()
    (tmp_path / "benchmarks" / "capitals.toml").write_text(TOML)
    rows = [{"q": f"Of country {index}?", "c": ["Paris", "Lyon"], "a": index % 2} for index in range(4)]
    (tmp_path / "benchmarks" / "capitals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_it_is_a_partition_with_rows_examples_and_checks(data_dir: Path):
    found = run(data_dir, sys.executable, "-c", MATERIALISE)
    success, checks, in_cells = (
        found.stdout.strip().partition(" [")[0],
        found.stdout,
        found.stdout.split()[-1:],
    )
    assert success == "True", found.stderr
    assert in_cells == ["True"]
    assert "False" not in checks
    for name in ("files_of_rows_are_whole", "ids_are_unique", "is_current", "no_row_was_left_out"):
        assert f"'{name}', True" in checks


def test_a_wrong_declaration_is_one_sentence_and_exit_1(data_dir: Path):
    path = data_dir / "benchmarks" / "capitals.toml"
    path.write_text(TOML.replace('"lettered"', '"letterd"'))
    found = run(data_dir, sys.executable, "-m", "cg_pipeline.cli", "demo", "--benchmark", "capitals")
    assert found.returncode == 1
    assert found.stderr.startswith(
        f"Error: {path}: task is 'letterd'; expected one of multiple_choice, lettered"
    )
    assert "Traceback" not in found.stderr
