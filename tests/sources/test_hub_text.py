"""Text of the hub: a real streaming `load_dataset` against a local server, and what is said when it fails.

One process reads several data sets, since the hub's address is read when its library is imported.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.sources.hub_server import COMMIT, DataSet, serving

pytestmark = pytest.mark.integration


def parquet(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer)
    return buffer.getvalue()


def card(path: str) -> bytes:
    files = f"  data_files:\n  - split: train\n    path: {path}\n"
    return f"---\nconfigs:\n- config_name: default\n{files}---\n".encode()


FIRST, SECOND = parquet(text=["one", "two", None], n=[1, 2, 3]), parquet(text=["four", "five"], n=[4, 5])
PARQUET = {"README.md": card("data/train-*"), "data/train-0.parquet": FIRST, "data/train-1.parquet": SECOND}
LINES = b'{"content": "one line"}\n{"content": "another"}\n'
DATA_SETS = {
    each.repo.removeprefix("org/"): each
    for each in (
        DataSet("org/parquet", PARQUET),
        DataSet("org/json", {"README.md": card("t.jsonl"), "t.jsonl": LINES}),
        DataSet("org/text", {"README.md": card("t.txt"), "t.txt": b"first line\nsecond line\n"}),
        DataSet("org/busy", PARQUET, faults={"429": 1}, retry_after="7"),
        DataSet("org/overrun", PARQUET, faults={"429": 999}),
        DataSet("org/gated", PARQUET, token="right"),
        DataSet("org/gone", PARQUET, faults={"missing": 999}),
        DataSet("org/moved", PARQUET, commit="f" * 40),
        DataSet("org/numbers", {"README.md": card("t.jsonl"), "t.jsonl": b'{"text": 1}\n'}),
    )
}

READ = """
import json, os, sys, time
from cg_pipeline.sources.hub_text import hub_documents
from cg_pipeline.training_specs import HubText

time.sleep = lambda seconds: None
for job in json.loads(sys.argv[1]):
    os.environ.pop("HF_TOKEN", None)
    os.environ.update(job.pop("env", {}))
    start, waits = job.pop("start", 0), []
    try:
        found = {"texts": list(hub_documents(HubText(**job), start, waits.append))}
    except Exception as error:
        found = {"error": type(error).__name__, "said": str(error)}
    print(json.dumps({**found, "waits": waits}))
"""


def job(name: str, **more: Any) -> dict[str, Any]:
    return {"repo": f"org/{name}", "revision": COMMIT, **more}


JOBS = {
    **{name: job(name) for name in DATA_SETS},
    "json": job("json", field="content"),
    "from the fourth": job("parquet", start=3),
    "from beyond": job("parquet", start=9),
    "no such field": job("json"),
    "no such split": job("parquet", split="dev"),
    "gated": job("gated", gated="the terms of use"),
    "gated, right token": job("gated", gated="the terms of use", env={"HF_TOKEN": "right"}),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("hub")
    with serving(list(DATA_SETS.values())) as url:
        command = [sys.executable, "-c", READ, json.dumps(list(JOBS.values()))]
        env = {**os.environ, "HF_HOME": str(folder), "HF_ENDPOINT": url}
        root = Path(__file__).parents[2]
        run = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        yield dict(zip(JOBS, map(json.loads, run.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("parquet", ["one", "two", "", "four", "five"]),
        ("json", ["one line", "another"]),
        ("text", ["first line", "second line"]),
        ("from the fourth", ["four", "five"]),
        ("from beyond", []),
        ("busy", ["one", "two", "", "four", "five"]),
        ("gated, right token", ["one", "two", "", "four", "five"]),
    ],
)
def test_documents_come_in_order_from_where_they_are_asked(read, name: str, texts: list[str]) -> None:
    assert read[name].get("texts") == texts, read[name]


def test_a_busy_hub_is_waited_for(read) -> None:
    assert read["busy"]["waits"] in ([], [7.0])  # its own client may have waited first


def test_everything_is_read_at_the_pinned_commit(read) -> None:
    files = [path for path in DATA_SETS["parquet"].asked if "/resolve/" in path]
    assert files
    assert all(f"/resolve/{COMMIT}/" in path for path in files)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("no such field", "ValueError", "row 0 has the fields ['content']; expected 'text'. Name the field"),
        ("numbers", "ValueError", "row 0: 'text' is 1; expected text. Name another field."),
        ("no such split", "ValueError", "with that configuration and split. Correct the training's text."),
        (
            "moved",
            "ValueError",
            f"is at commit {'f' * 40}; expected {COMMIT}, which the training's text pins",
        ),
        ("gated", "PermissionError", "account that has accepted the terms of use. Accept at https://hugging"),
        ("gone", "LookupError", "renamed, removed or made private: correct the training's text, or set HF_"),
        ("overrun", "ConnectionError", "(HTTP 429, too many requests; it asks to wait 0 s); expected to be"),
    ],
)
def test_what_goes_wrong_is_said_with_its_remedy(read, name: str, error: str, said: str) -> None:
    assert read[name].get("error") == error, read[name]
    assert said in read[name]["said"]
    assert "benchmark" not in read[name]["said"]
