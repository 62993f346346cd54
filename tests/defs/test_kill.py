"""kill -9 at random moments: at most one shard is computed again, the tables end up the same (F5, F33)."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from cg_pipeline.environment import CHECKOUT
from cg_pipeline.store.activations import load_activations
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.schema import TABLES
from tests.defs.tiny_study import tiny_data

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

N_KILLS = 10

RUN = """
import os, sys, time
from pathlib import Path
import dagster as dg
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.runs import run_study
from cg_pipeline.saes import SAES
from cg_pipeline.store.layout import Layout
from tests.defs import tiny_study

SAES.update(tiny_study.READER)
tiny_study.EXAMPLES_AT_ONCE = 3
data_dir, log = Path(sys.argv[1]), open(sys.argv[2], "a")

def slowly(kind, original):
    def answer(self, examples, *rest):
        time.sleep(0.02)
        found = original(self, examples, *rest)
        ids = examples if kind == "read" else [example.example_id for example in examples]
        log.write(f"{kind} {ids[0]}\\n"); log.flush()
        return found
    return answer

for kind in ("choose", "generate"):
    setattr(tiny_study.FakeLanguageModel, kind, slowly(kind, getattr(tiny_study.FakeLanguageModel, kind)))
tiny_study.FakeEncoder.read = slowly("read", tiny_study.FakeEncoder.read)
definitions = tiny_study.tiny_definitions(data_dir)
print("ready", flush=True)
with dg.DagsterInstance.get() as instance:
    expected = Expected(Layout(data_dir), tiny_study.STUDY, "automatic")
    run_study(definitions, instance, expected, lambda *_: None, print)
print("finished", flush=True)
"""


def start(data_dir: Path, log: Path) -> subprocess.Popen:
    home = data_dir / "home"
    home.mkdir(exist_ok=True)
    shutil.copy(CHECKOUT / "dagster.yaml", home)  # with its pools: a killed run must not keep its slot
    environment = {
        **os.environ,
        "PYTHONPATH": str(CHECKOUT),
        "DAGSTER_HOME": str(home),
        "CG_DAGSTER_STORAGE": str(home / "storage"),
    }
    (home / "storage").mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RUN, data_dir, log],
        env=environment, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def unfinished_runs(home: Path) -> list[str]:
    with sqlite3.connect(home / "storage" / "history" / "runs.db") as runs:
        found = runs.execute("select status from runs where status not in ('SUCCESS', 'FAILURE')")
        return [status for (status,) in found]


def contents(data_dir: Path) -> dict[str, list[tuple]]:
    """The rows of every table that the study fills."""
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as connection:
        made = {name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()}
        return {
            name: sorted(connection.execute(f"select * from {name}").fetchall(), key=repr)
            for name in made.intersection(TABLES)
        }


def tensors(data_dir: Path) -> list[tuple]:
    """What the rows of `activations` point to."""
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as connection:
        paths = connection.execute("select path from activations order by path").fetchall()
    read = [load_activations(data_dir / path) for (path,) in paths]
    return [(a.example_ids, a.matrix().toarray().tolist(), a.n_tokens.tolist()) for a in read]


def test_ten_kills_lose_at_most_one_shard_each(tmp_path: Path) -> None:
    calm, stormy = tiny_data(tmp_path / "calm"), tiny_data(tmp_path / "stormy")
    calm_log, stormy_log = tmp_path / "calm.log", tmp_path / "stormy.log"
    undisturbed = start(calm, calm_log)
    started = time.monotonic()
    assert "finished" in undisturbed.communicate()[0]
    length = time.monotonic() - started

    rng, kills = random.Random(0), 0
    while kills < N_KILLS:
        process = start(stormy, stormy_log)
        time.sleep(rng.uniform(0, length / 4))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert "finished" in start(stormy, stormy_log).communicate()[0]

    found, expected = contents(stormy), contents(calm)
    empty = {name for name, rows in expected.items() if not rows}
    assert empty == {"near_duplicates", "label_files"}, (
        "a table without rows shows nothing; this suite repeats no question, its SAE has no label files"
    )
    assert found.keys() == expected.keys()
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert tensors(stormy) == tensors(calm)
    computed = len(stormy_log.read_text().splitlines())
    needed = len(calm_log.read_text().splitlines())
    assert needed <= computed <= needed + kills
    assert not list(stormy.rglob(".tmp-*")), "half-written files are left behind"
    assert unfinished_runs(stormy / "home") == []
