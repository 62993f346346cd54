"""Rows of the hub: a real `load_dataset` against a local server, and what is said when it goes wrong.

One process fetches from several data sets, since the hub's address is read when its library
is imported, which takes seconds.
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
from huggingface_hub.errors import OfflineModeIsEnabled

from cg_pipeline.sources.hub_errors import explain, wait_asked_for
from cg_pipeline.specs import HubRows
from tests.sources.hub_server import COMMIT, DataSet, serving

pytestmark = pytest.mark.integration

OTHER = "f" * 40


def parquet(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer)
    return buffer.getvalue()


def card(**paths: str) -> bytes:
    """A data set's card that names the file of each configuration's test split."""
    listed = (
        f"- config_name: {name}\n  data_files:\n  - split: test\n    path: {path}\n"
        for name, path in paths.items()
    )
    return ("---\nconfigs:\n" + "".join(listed) + "---\n# Data\n").encode()


ROWS = parquet(q=["tin?", "ice?"], choices=[["a", "b"], ["c", "d"]], label=[1, 0], unused=["x", "y"])
PARQUET = {"README.md": card(default="data/test-*"), "data/test-00000-of-00001.parquet": ROWS}
LINES = (
    b'{"q": "one?", "choices": ["a", "b"], "label": 0}\n{"q": "two?", "choices": ["c", "d"], "label": 1}\n'
)
JSON = {
    "README.md": card(first="first.jsonl", second="second.jsonl"),
    "first.jsonl": LINES,
    "second.jsonl": LINES.replace(b"one", b"three").replace(b"two", b"four"),
}
FILES = {
    "loader.py": b"raise SystemExit('never run')",
    "data/ice.jsonl": b'{"q": "one?", "label": 0, "unused": 1}\n\n{"q": "two?", "label": 1}\n',
    "data/tin.json": b'{"kind": "tin", "asked": [{"q": "three?"}, {"q": "four?"}]}',
    "data/broken.jsonl": b'{"q": "one?"}\n{"q": \n',
}

CSV = {"README.md": card(default="t.csv"), "t.csv": b'q,label\n"x, y",1\nz,\n'}

DATA_SETS = {
    each.repo.removeprefix("org/"): each
    for each in (
        DataSet("org/parquet", PARQUET),
        DataSet("org/json", JSON),
        DataSet("org/csv", CSV),
        DataSet("org/text", {"README.md": card(default="t.txt"), "t.txt": b"one\ntwo\n"}),
        DataSet("org/files", FILES),
        DataSet("org/files_busy", FILES, faults={"429 of files": 2}),
        DataSet("org/files_cut", FILES, faults={"half": 99}),
        DataSet("org/files_gated", FILES, token="right"),
        DataSet("org/busy", PARQUET, faults={"429": 2}, retry_after="7"),
        DataSet("org/failing", PARQUET, faults={"500": 1}, retry_after="3"),
        DataSet("org/overrun", PARQUET, faults={"429": 99}),
        DataSet("org/busy_later", PARQUET, faults={"429 of files": 2}),
        DataSet("org/overrun_later", PARQUET, faults={"429 of files": 99}),
        DataSet("org/overrun_for_long", PARQUET, faults={"429": 99}, retry_after="3600"),
        DataSet("org/gated", PARQUET, token="right"),
        DataSet("org/gone", PARQUET, faults={"missing": 99}),
        DataSet("org/rewritten", PARQUET, faults={"no_revision": 99}),
        DataSet("org/moved", PARQUET, commit=OTHER),
        DataSet("org/cut_once", PARQUET, faults={"half": 1}),
        DataSet("org/cut", PARQUET, faults={"half": 99}),
        DataSet("org/damaged", {**PARQUET, "data/test-00000-of-00001.parquet": ROWS[:-20]}),
        DataSet("org/garbled_once", PARQUET, faults={"garbled": 1}),
        DataSet("org/garbled", PARQUET, faults={"garbled": 99}),
        DataSet("org/files_garbled_once", FILES, faults={"garbled": 1}),
        DataSet("org/page", PARQUET, faults={"page": 99}),
        DataSet("org/page_untold", PARQUET, faults={"page untold": 99}),
        DataSet("org/page_of_csv", CSV, faults={"page of files": 99}),
        DataSet("org/files_page", FILES, faults={"page of files": 99}),
        DataSet("org/files_busy_for_long", FILES, faults={"429 of files": 99}, retry_after="3600"),
        DataSet("org/split", PARQUET),
    )
}

FETCH = """
import json, os, sys, time
from pathlib import Path
from cg_pipeline.sources.hub import fetch_rows
from cg_pipeline.specs import HubRows

time.sleep = lambda seconds: None


def rows_in(value):
    return [{"label": value["kind"], **row} for row in value["asked"]]


for job in json.loads(sys.argv[1]):
    os.environ.pop("HF_TOKEN", None)
    os.environ.update(job.pop("env", {}))
    columns = frozenset({"q", "choices", "label", *job.pop("more_columns", ())})
    nested = rows_in if job.pop("nested", False) else None
    pin = HubRows(**{"configs": ("default",), **job, "rows_in": nested})
    waits = []
    try:
        found = {"rows": fetch_rows(pin, columns, Path(sys.argv[2]), waits.append).decode()}
    except Exception as error:
        found = {"error": type(error).__name__, "said": str(error)}
    print(json.dumps({**found, "waits": waits, "left": len(list(Path(sys.argv[2]).glob("*")))}))
"""


def job(name: str, **more: Any) -> dict[str, Any]:
    return {"repo": f"org/{name}", "split": "test", "revision": COMMIT, **more}


JOBS = {
    **{name: job(name) for name in DATA_SETS},
    "json": job("json", configs=("first", "second")),
    "gated": job("gated", gated="the terms of use"),
    "gated, wrong token": job("gated", gated="the terms of use", env={"HF_TOKEN": "wrong"}),
    "gated, right token": job("gated", gated="the terms of use", env={"HF_TOKEN": "right"}),
    "gated unawares": job("gated"),
    "split": job("split", split="dev"),
    "config": job("json", configs=("third",)),
    "json, told": job("json", configs=("first", "second"), more_columns=["config"]),
    "files": job("files", files=["data/ice.jsonl"], more_columns=["config"]),
    "files, nested": job("files", files=["data/tin.json"], nested=1, more_columns=["config"]),
    "files, other shape": job("files", files=["data/ice.jsonl"], nested=1),
    "files, absent": job("files", files=["data/ice.jsonl", "data/lead.jsonl"]),
    "files, broken": job("files", files=["data/broken.jsonl"]),
    "files_busy": job("files_busy", files=["data/ice.jsonl"]),
    "files_cut": job("files_cut", files=["data/ice.jsonl"]),
    "files_garbled_once": job("files_garbled_once", files=["data/ice.jsonl"]),
    "files_page": job("files_page", files=["data/ice.jsonl"]),
    "files_busy_for_long": job("files_busy_for_long", files=["data/ice.jsonl"]),
    "files_gated": job("files_gated", files=["data/ice.jsonl"], gated="the terms of use"),
}


def fetch(jobs: dict[str, dict[str, Any]], folder: Path, **environment: str) -> dict[str, dict[str, Any]]:
    command = [sys.executable, "-c", FETCH, json.dumps(list(jobs.values())), str(folder / "scratch")]
    env = {**os.environ, "HF_HOME": str(folder), "HF_HUB_DISABLE_PROGRESS_BARS": "1", **environment}
    root = Path(__file__).parents[2]
    run = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return dict(zip(jobs, map(json.loads, run.stdout.splitlines()), strict=True))


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    with serving(list(DATA_SETS.values())) as url:
        yield fetch(JOBS, tmp_path_factory.mktemp("hub"), HF_ENDPOINT=url)


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    assert "rows" in found, found
    return [json.loads(line) for line in found["rows"].splitlines()]


EXPECTED = [
    {"q": "tin?", "choices": ["a", "b"], "label": 1},
    {"q": "ice?", "choices": ["c", "d"], "label": 0},
]


def test_parquet_comes_with_the_columns_asked_for(fetched):
    """Fault F14: only Parquet and JSON, at a pinned revision."""
    assert rows(fetched["parquet"]) == EXPECTED
    files = [path for path in DATA_SETS["parquet"].asked if "/resolve/" in path]
    assert files
    assert all(f"/resolve/{COMMIT}/" in path for path in files)


def test_configurations_of_json_are_read_one_after_another(fetched):
    assert [row["q"] for row in rows(fetched["json"])] == ["one?", "two?", "three?", "four?"]


def test_csv_is_read_and_what_is_empty_is_absent(fetched):
    assert rows(fetched["csv"]) == [{"q": "x, y", "label": 1}, {"q": "z", "label": None}]


def test_a_row_is_told_its_configuration(fetched):
    assert [row["config"] for row in rows(fetched["json, told"])] == ["first", "first", "second", "second"]


def test_files_are_read_as_they_are_and_rows_told_their_name(fetched):
    assert rows(fetched["files"]) == [
        {"q": "one?", "label": 0, "config": "ice"},
        {"q": "two?", "label": 1, "config": "ice"},
    ]
    asked = [path for path in DATA_SETS["files"].asked if "/resolve/" in path]
    assert {path.rpartition("/")[2] for path in asked} == {"ice.jsonl", "tin.json", "broken.jsonl"}
    assert all(f"/resolve/{COMMIT}/" in path for path in asked)


def test_one_value_falls_into_the_rows_that_the_benchmark_sees_in_it(fetched):
    assert rows(fetched["files, nested"]) == [
        {"label": "tin", "q": "three?", "config": "tin"},
        {"label": "tin", "q": "four?", "config": "tin"},
    ]


def test_a_busy_hub_is_waited_for_with_files_too(fetched):
    assert [row["q"] for row in rows(fetched["files_busy"])] == ["one?", "two?"]


def test_no_scratch_is_left(fetched):
    assert {found["left"] for found in fetched.values()} <= {0}


@pytest.mark.parametrize(("name", "waits"), [("busy", [7.0]), ("failing", [3.0])])
def test_a_busy_hub_is_waited_for_as_it_asks(fetched, name, waits):
    assert rows(fetched[name]) == EXPECTED
    assert fetched[name]["waits"] == waits * len(fetched[name]["waits"])
    assert fetched[name]["waits"]


def test_a_hub_that_grows_busy_is_waited_for(fetched):
    assert rows(fetched["busy_later"]) == EXPECTED


def test_a_broken_connection_is_taken_up_again(fetched):
    assert rows(fetched["cut_once"]) == EXPECTED


@pytest.mark.parametrize("name", ["garbled_once", "files_garbled_once"])
def test_a_download_that_cannot_be_read_is_not_kept_but_made_anew(fetched, name):
    assert len(rows(fetched[name])) == 2
    assert fetched[name]["waits"] == []


@pytest.mark.parametrize("name", ["page", "page_untold", "page_of_csv", "files_page"])
def test_a_login_page_in_place_of_data_is_told_as_such(fetched, name):
    assert (fetched[name].get("error"), fetched[name]["waits"]) == ("ConnectionError", [])
    assert fetched[name]["said"] == (
        f"Data set 'org/{name}' cannot be fetched: the address answered with a web page, not data; expected "
        "the hub. Is there a proxy or a login page in between? Log in there, or let the hub through."
    )


def test_a_file_for_which_the_hub_asks_for_an_hour_is_not_waited_for(fetched):
    found = fetched["files_busy_for_long"]
    assert (found["error"], found["waits"]) == ("ConnectionError", [])
    assert "it asks to wait 3600 s" in found["said"]
    assert sum("/resolve/" in path for path in DATA_SETS["files_busy_for_long"].asked) == 1


PIN = f"at commit {COMMIT}"


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        (
            "overrun",
            "ConnectionError",
            "The hub refuses data set 'org/overrun' for now (HTTP 429, too many requests; it asks to "
            "wait 0 s); expected to be served. Run again later, or set HF_TOKEN, "
            "which raises the limit.",
        ),
        (
            "gated",
            "PermissionError",
            "Data set 'org/gated' is gated and HF_TOKEN is not set (HTTP 401); expected the token of an "
            "account that has accepted the terms of use. Accept at https://huggingface.co/datasets/org/gated "
            "and set HF_TOKEN.",
        ),
        (
            "gated, wrong token",
            "PermissionError",
            "Data set 'org/gated' is gated and the token in HF_TOKEN has no access to it (HTTP 403); "
            "expected the token of an account that has accepted the terms of use. Accept at "
            "https://huggingface.co/datasets/org/gated and set HF_TOKEN.",
        ),
        (
            "gated unawares",
            "PermissionError",
            "Data set 'org/gated' is gated and HF_TOKEN is not set (HTTP 401); expected the token of an "
            "account that has accepted the conditions on its page. Accept at "
            "https://huggingface.co/datasets/org/gated and set HF_TOKEN.",
        ),
        (
            "gone",
            "LookupError",
            f"Data set 'org/gone' was not found on the hub (HTTP 401); expected it {PIN}. It may have been "
            "renamed, removed or made private: correct the benchmark's source, or set HF_TOKEN to a token "
            "that may read it.",
        ),
        (
            "rewritten",
            "LookupError",
            f"Data set 'org/rewritten' has no commit {COMMIT} any more (HTTP 404); expected the pinned one. "
            "Pin a commit that exists, and raise the benchmark's version if the data changed.",
        ),
        (
            "moved",
            "ValueError",
            f"Data set 'org/moved' is at commit {OTHER}; expected {COMMIT}, which the benchmark pins. "
            "Pin a full commit hash, and raise the benchmark's version if the data changed.",
        ),
        (
            "text",
            "ValueError",
            "Data set 'org/text' is stored as text; expected parquet or json or csv. "
            "Take another one, or convert it.",
        ),
        (
            "files, absent",
            "ValueError",
            f"Data set 'org/files' has no file 'data/lead.jsonl' {PIN}; expected all that the benchmark "
            "names. It has ['data/broken.jsonl', 'data/ice.jsonl', 'data/tin.json', 'loader.py']. "
            "Correct the benchmark's source.",
        ),
        (
            "files, broken",
            "ValueError",
            "Data set 'org/files', file 'data/broken.jsonl': line 2 starts a value that is not JSON "
            "(Expecting value: line 1 column 7 (char 6)); expected JSON. Name another file, or another "
            "commit.",
        ),
        (
            "files, other shape",
            "ValueError",
            "Data set 'org/files', file 'data/ice.jsonl' holds {'label': 0, 'q': 'one?', 'unused': 1}, which "
            "is not what its benchmark's rows_in reads (KeyError('asked')); expected its shape. "
            "Correct rows_in.",
        ),
        (
            "files_gated",
            "PermissionError",
            "Data set 'org/files_gated' is gated and HF_TOKEN is not set (HTTP 401); expected the token of "
            "an account that has accepted the terms of use. Accept at "
            "https://huggingface.co/datasets/org/files_gated and set HF_TOKEN.",
        ),
    ],
)
def test_what_is_said(fetched, name, error, said):
    assert (fetched[name]["error"], fetched[name]["said"]) == (error, said)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        (
            "overrun_later",
            "ConnectionError",
            "The hub refuses data set 'org/overrun_later' for now (HTTP 429",
        ),
        ("cut", "ConnectionError", "Data set 'org/cut' was only partly sent by the hub ("),
        ("files_cut", "ConnectionError", "Data set 'org/files_cut' was only partly sent by the hub ("),
        *(
            (
                name,
                "ValueError",
                f"Data set 'org/{name}' (default; test) was downloaded twice and cannot be read (",
            )
            for name in ("damaged", "garbled")
        ),
        ("split", "ValueError", "Data set 'org/split' (default; dev) cannot be read (Unknown split"),
        ("config", "ValueError", "Data set 'org/json' (third; test) cannot be read ("),
    ],
)
def test_what_is_said_of_faults_quoted_from_below(fetched, name, error, said):
    assert fetched[name]["error"] == error, fetched[name]
    assert fetched[name]["said"].startswith(said), fetched[name]


def test_a_right_token_opens_a_gated_data_set(fetched):
    assert rows(fetched["gated, right token"]) == EXPECTED


def test_a_hub_that_asks_for_an_hour_is_not_waited_for(fetched):
    found = fetched["overrun_for_long"]
    assert found["waits"] == []
    assert "(HTTP 429, too many requests; it asks to wait 3600 s)" in found["said"]


def test_without_network(tmp_path: Path):
    found = fetch({"away": job("parquet")}, tmp_path, HF_ENDPOINT="http://127.0.0.1:9")["away"]
    assert found["error"] == "ConnectionError"
    assert found["said"].startswith("The hub cannot be reached for data set 'org/parquet' (")
    assert found["said"].endswith("or name a directory of benchmark files in CG_BENCHMARKS_DIR.")


def test_told_to_stay_offline():
    pin = HubRows(repo="org/quiz", split="test", revision=COMMIT)
    told = explain(OfflineModeIsEnabled("HF_HUB_OFFLINE is set"), pin, has_token=False)
    assert type(told) is ConnectionError
    assert "org/quiz' (HF_HUB_OFFLINE is set); expected a connection, once." in str(told)


class Answer:
    status_code = 429

    def __init__(self, retry_after: str | None) -> None:
        self.headers = {} if retry_after is None else {"Retry-After": retry_after}


class Refused(Exception):
    def __init__(self, answer: Answer) -> None:
        self.response = answer


@pytest.mark.parametrize(
    ("asked", "attempt", "wait"),
    [
        ("4", 1, 4.0),
        ("-3", 1, 0.0),
        (None, 1, 5.0),
        (None, 3, 20.0),
        ("soon", 2, 10.0),
        ("nan", 2, 10.0),
        ("inf", 1, float("inf")),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 1, 0.0),
    ],
)
def test_how_long_to_wait(asked, attempt, wait):
    outer = RuntimeError("wrapped")
    outer.__cause__ = Refused(Answer(asked))
    assert wait_asked_for(outer, attempt) == wait
    assert wait_asked_for(RuntimeError("no answer"), attempt) is None
