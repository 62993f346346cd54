"""A backfill of everything from the UI's own interface, four runs at a time (faults F30, F35)."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from cg_pipeline.defs.jobs import (
    CELL_JOB,
    COMPLETIONS_JOB,
    DICTIONARY_JOB,
    LABELLING_JOB,
    READER_JOB,
    REPORT_JOB,
)
from cg_pipeline.environment import CHECKOUT
from cg_pipeline.models import MODELS
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.schema import TABLES
from cg_pipeline.studies import STUDIES
from tests.defs.tiny_study import N_CONCEPTS, N_ROWS, tiny_data

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
STUDY = STUDIES["embedded"]
READER = MODELS[STUDY.models[0]].reader

LAUNCH = """
mutation Launch($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}"""
STATUS = """
query Status($id: String!) {
  partitionBackfillOrError(backfillId: $id) {
    __typename
    ... on PartitionBackfill { status }
  }
}"""
RUNS = "query { runsOrError { ... on Runs { results { id status startTime endTime } } } }"


class Server:
    """`dagster dev` on the tiny study, spoken to over GraphQL."""

    def __init__(self, data_dir: Path, home: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        home.mkdir()
        shutil.copy(CHECKOUT / "dagster.yaml", home)
        environment = {
            **os.environ,
            "DAGSTER_HOME": str(home),
            "CG_DAGSTER_STORAGE": str(home / "storage"),
            "CG_TINY_DATA": str(data_dir),
            "PYTHONPATH": str(CHECKOUT),
        }
        (home / "storage").mkdir()
        dagster = Path(sys.executable).with_name("dagster")
        self.log = (home / "log.txt").open("wb")
        where = ["--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(
            [dagster, "dev", "-m", "tests.defs.tiny_location", *where],
            cwd=CHECKOUT, env=environment, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip

    def ask(self, query: str, **variables: object) -> dict:
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)["data"]

    def wait_until_up(self, seconds: float = 180) -> None:
        deadline = time.monotonic() + seconds
        query = "query { workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }"
        while time.monotonic() < deadline:
            try:
                entries = self.ask(query)["workspaceOrError"]["locationEntries"]
                if entries and all(entry["loadStatus"] == "LOADED" for entry in entries):
                    return
            except OSError:
                pass
            time.sleep(1)
        raise TimeoutError(Path(self.log.name).read_text()[-3000:])

    def backfill(self, assets: list[str], keys: list[str], seconds: float = 600) -> str:
        params = {"assetSelection": [{"path": [asset]} for asset in assets], "partitionNames": keys}
        launched = self.ask(LAUNCH, params=params)["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched
        status, deadline = "REQUESTED", time.monotonic() + seconds
        while time.monotonic() < deadline:
            status = self.ask(STATUS, id=launched["backfillId"])["partitionBackfillOrError"]["status"]
            if status.startswith(("COMPLETED", "FAILED", "CANCELED")):
                return status
            time.sleep(2)
        raise TimeoutError(f"backfill still {status}")

    def runs(self) -> list[dict]:
        return self.ask(RUNS)["runsOrError"]["results"]

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.log.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Server, Path]]:
    data_dir = tiny_data(tmp_path / "data")
    started = Server(data_dir, tmp_path / "home")
    try:
        started.wait_until_up()
        yield started, data_dir
    finally:
        started.stop()


def test_backfill_of_everything_with_four_runs_at_once(server: tuple[Server, Path]) -> None:
    """The report is that of the location's own study, three benchmarks of those filled."""
    dagster, data_dir = server
    assert dagster.backfill(["benchmark_rows", "examples"], list(STUDY.benchmarks)) == "COMPLETED_SUCCESS"
    assert dagster.backfill(list(DICTIONARY_JOB.assets), [READER]) == "COMPLETED_SUCCESS"
    assert dagster.backfill(list(READER_JOB.assets), list(STUDY.models)) == "COMPLETED_SUCCESS"
    before = {run["id"] for run in dagster.runs()}
    (data_dir / "alone").touch()
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as held:
        held.execute("select count(*) from examples").fetchall()  # a reader that never lets go
        cells = [f"{benchmark}|smollm2_135m" for benchmark in STUDY.benchmarks]
        status = dagster.backfill(list(CELL_JOB.assets), cells)
    runs = [run for run in dagster.runs() if run["id"] not in before]
    assert status == "COMPLETED_SUCCESS", runs
    assert [run["status"] for run in runs] == ["SUCCESS"] * len(cells)
    spans = [(run["startTime"], run["endTime"]) for run in runs]
    assert max(sum(a <= start < b for a, b in spans) for start, _ in spans) > 1, (
        "no two runs were ever at work together"
    )
    assert dagster.backfill(list(REPORT_JOB.assets), list(STUDY.models)) == "COMPLETED_SUCCESS"
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as fresh:
        counts = fresh.execute("select benchmark, count(*) from scores group by 1 order by 1").fetchall()
        concepts = fresh.execute("select sae, count(*) from concepts group by 1 order by 1").fetchall()
        reports = fresh.execute("select model, html_path, markdown_path from gap_report").fetchall()
        # One has no partitions, so that no backfill fills it; one is empty; others are filled if asked for.
        by_hand = {*LABELLING_JOB.assets, *COMPLETIONS_JOB.assets}
        tables = set(TABLES) - {"near_duplicates", "label_files"} - by_hand
        filled = {name for name in tables if fresh.execute(f"select count(*) from {name}").fetchone() != (0,)}
    assert counts == [(benchmark, N_ROWS) for benchmark in sorted(STUDY.benchmarks)]
    assert concepts == [(READER, N_CONCEPTS)]
    assert [model for model, *_ in reports] == list(STUDY.models)
    assert all((data_dir / path).stat().st_size > 1000 for _, *paths in reports for path in paths)
    assert filled == tables
