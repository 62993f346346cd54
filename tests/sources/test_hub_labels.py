"""Label files of the hub against a local server, and what is said when they cannot be had.

One process fetches them all, since the hub's address is read when its library is imported.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cg_pipeline.label_specs import HubLabels
from tests.sources.hub_server import COMMIT, DataSet, serving

CSV = b"feature_id,description\n0,dates\n2,cats\n"
JSON = b'{"1": "rain", "3": "wind"}'
FILES = {"labels.csv": CSV, "more/labels.json": JSON, "narrow.json": b'["a", "b"]'}

REPOS = {
    "open": DataSet("org/open", FILES),
    "gated": DataSet("org/gated", FILES, token="right"),
    "moved": DataSet("org/moved", FILES, commit="f" * 40),
    "gone": DataSet("org/gone", FILES, faults={"missing": 99}),
    "rewritten": DataSet("org/rewritten", FILES, faults={"no_revision": 99}),
    "failing": DataSet("org/failing", FILES, faults={"500": 99}),
}

CASES = {
    "both files": ("open", ["labels.csv", "more/labels.json"], ""),
    "another width": ("open", ["narrow.json"], ""),
    "no such file": ("open", ["labels.tsv"], ""),
    "gated without a token": ("gated", ["labels.csv"], ""),
    "gated with a wrong token": ("gated", ["labels.csv"], "wrong"),
    "gated with the token": ("gated", ["labels.csv"], "right"),
    "moved": ("moved", ["labels.csv"], ""),
    "gone": ("gone", ["labels.csv"], ""),
    "rewritten": ("rewritten", ["labels.csv"], ""),
    "failing": ("failing", ["labels.csv"], ""),
}

FETCH = """
import json, os, sys
from pathlib import Path
from cg_pipeline.label_specs import HubLabels
from cg_pipeline.sources.hub_labels import fetch_hub_labels
from tests.labels.cases import SAE

cases, commit, cache = json.loads(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
told = {}
for name, (repo, files, token) in cases.items():
    os.environ["HF_TOKEN"] = token
    pin = HubLabels(repo=f"org/{repo}", revision=commit, files=tuple(files), gated="its terms")
    try:
        found = fetch_hub_labels(pin, SAE, cache)
        told[name] = ["labels", [[x.concept_id, x.label] for x in found.reading.labels]]
    except Exception as error:
        told[name] = [type(error).__name__, str(error)]
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list]:
    root = Path(__file__).parents[2]
    home = tmp_path_factory.mktemp("hub")
    with serving(list(REPOS.values())) as address:
        hub = {"HF_ENDPOINT": address, "HF_HOME": str(home), "PYTHONPATH": str(root), "HF_HUB_OFFLINE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", FETCH, json.dumps(CASES), COMMIT, str(home / "cache")],
            cwd=root,
            env={**os.environ, **hub, "HF_HUB_DISABLE_PROGRESS_BARS": "1", "NO_PROXY": "127.0.0.1"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_labels_of_all_files(told):
    assert told["both files"] == ["labels", [[0, "dates"], [2, "cats"], [1, "rain"], [3, "wind"]]]
    assert told["gated with the token"] == ["labels", [[0, "dates"], [2, "cats"]]]


@pytest.mark.parametrize(
    ("case", "kind", "words"),
    [
        ("another width", "ValueError", "org/open/narrow.json lists 2 labels without ids; expected 4"),
        ("no such file", "LookupError", "labels.tsv was not found at commit"),
        (
            "gated without a token",
            "PermissionError",
            "is gated and HF_TOKEN is not set; expected the token of an",
        ),
        ("gated with a wrong token", "PermissionError", "the token in HF_TOKEN has no access to it"),
        ("moved", "ValueError", f"is at commit {'f' * 40}; expected {COMMIT}"),
        ("gone", "LookupError", "was not found at commit"),
        ("rewritten", "LookupError", f"has no commit {COMMIT}; expected the pinned one"),
        ("failing", "ConnectionError", "cannot be fetched from the hub"),
    ],
)
def test_what_is_said(told, case, kind, words):
    assert told[case][0] == kind, told[case]
    assert words in told[case][1]


def test_a_pin_without_files():
    with pytest.raises(ValueError, match="name no file; expected one or more"):
        HubLabels(repo="a/b", revision=COMMIT, files=())
