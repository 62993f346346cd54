"""Every benchmark of the hub, from a stored file to an example: its raw row served and read as at work.

A local server keeps the row that a benchmark's file shows, in the kind of file that the hub has
(Parquet, JSON or CSV), with a column that nobody asked for; the rows come back through
`datasets.load_dataset` and `hub_shape`. What the hub itself holds is not known here.
"""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.pipeline import pose
from cg_pipeline.sources.hub_files import file_name
from cg_pipeline.sources.lines import read_lines
from cg_pipeline.sources.row_checks import hub_shape, read_rows
from cg_pipeline.specs import Benchmark, HubRows
from tests.sources.hub_server import DataSet, serving

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
FROM_THE_HUB = {name: spec for name, spec in BENCHMARKS.items() if isinstance(spec.source, HubRows)}
CSV = {"gpqa", "hallucination", "xstest"}
JSON = {"bbq", "ifeval", "math_500"}
every_hub_benchmark = pytest.mark.parametrize("name", FROM_THE_HUB)

BRING = """
import json, os, sys
from dataclasses import replace
from pathlib import Path
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.sources.origins import bring, origins_of

scratch = Path(sys.argv[2])
for name, parts in json.loads(sys.argv[1]).items():
    spec, found = BENCHMARKS[name], {}
    spec = replace(spec, source=replace(spec.source, **{**parts, "files": tuple(parts["files"])}))
    if spec.shots:
        spec = replace(spec, shots=replace(spec.shots, repo=parts["repo"]))
    try:
        found = {each.role: bring(spec, each, scratch).decode() for each in origins_of(spec, scratch, "")}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))
"""


def shown_row(benchmark: Benchmark) -> dict[str, Any]:
    text = (sys.modules[f"cg_pipeline.benchmarks.{benchmark.name}"].__doc__ or "").partition("A raw row:")[2]
    return json.JSONDecoder().raw_decode(text.lstrip())[0]


def part_of(benchmark: Benchmark) -> str:
    """The configuration or file that the row shown is from: the one it names, else the first."""
    named = shown_row(benchmark).get("config")
    parts = benchmark.source.parts
    return next((part for part in parts if named and file_name(part) == named), parts[0])


def stored(name: str, row: Mapping[str, Any]) -> tuple[str, bytes]:
    """A file with the row, as the hub keeps it, and its ending."""
    if name in CSV:
        text = io.StringIO()
        csv.writer(text).writerows([row.keys(), row.values()])
        return "csv", text.getvalue().encode()
    if name in JSON:
        return "jsonl", json.dumps(row).encode() + b"\n"
    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([dict(row)]), buffer)
    return "parquet", buffer.getvalue()


def nested(name: str, row: dict[str, Any]) -> Any:
    """A value of a file that the hub keeps in another form than rows."""
    rule = {key: row.pop(key) for key in ("type", "axiom")}
    if name == "logicbench_mcqa":
        return {**rule, "samples": [row]}
    story = {key: row.pop(key) for key in ("id", "context")}
    return {**rule, "samples": [{**story, "qa_pairs": [row]}]}


def data_set(benchmark: Benchmark) -> DataSet:
    row = {key: value for key, value in shown_row(benchmark).items() if key != "config"}
    source, part = benchmark.source, part_of(benchmark)
    if source.files:
        value = nested(benchmark.name, row) if source.rows_in else {**row, "unused": 1}
        return DataSet(f"shapes/{benchmark.name}", {part: json.dumps(value).encode()}, source.revision)
    ending, payload = stored(benchmark.name, {**row, "unused": "x"})
    pins = [source, *filter(None, [benchmark.shots])]
    listed = "".join(f"  - split: {pin.split}\n    path: {pin.split}.{ending}\n" for pin in pins)
    card = f"---\nconfigs:\n- config_name: {part}\n  data_files:\n{listed}---\n".encode()
    files = {"README.md": card, **{f"{pin.split}.{ending}": payload for pin in pins}}
    return DataSet(f"shapes/{benchmark.name}", files, source.revision, "right" if source.gated else "")


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What is fetched of each benchmark, by role; in one process, for the hub's address is read once."""
    folder = tmp_path_factory.mktemp("hub")
    jobs = {
        name: {
            "repo": f"shapes/{name}",
            "files": [part_of(spec)] if spec.source.files else [],
            "configs": [part_of(spec)],
        }
        for name, spec in FROM_THE_HUB.items()
    }
    env = {"HF_HOME": str(folder), "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_TOKEN": "right"}
    with serving([data_set(spec) for spec in FROM_THE_HUB.values()]) as url:
        run = subprocess.run(
            [sys.executable, "-c", BRING, json.dumps(jobs), str(folder / "scratch")],
            cwd=ROOT,
            env={**os.environ, **env, "HF_ENDPOINT": url},
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 0, run.stderr
    return dict(zip(jobs, map(json.loads, run.stdout.splitlines()), strict=True))


@every_hub_benchmark
def test_a_row_of_the_hub_becomes_the_example_of_the_row_shown(brought, name: str):
    spec, found = FROM_THE_HUB[name], brought[name]
    assert set(found) == ({"asked", "shots"} if spec.shots else {"asked"}), found
    told = {"config": file_name(part_of(spec))} if "config" in shown_row(spec) else {}
    wanted = pose(spec, spec.to_item({**shown_row(spec), **told}))
    for payload in found.values():
        reading = read_rows(spec, "hub", read_lines("rows.jsonl", payload.encode()), hub_shape(spec))
        assert reading.examples == [wanted]
        assert "unused" not in payload


def test_a_column_of_another_type_is_refused(brought):
    row = {**json.loads(brought["boolq"]["asked"]), "answer": "yes"}
    spec = FROM_THE_HUB["boolq"]
    with pytest.raises(ValueError, match="field 'answer' is 'yes'; expected a valid boolean"):
        read_rows(spec, "hub", read_lines("rows.jsonl", json.dumps(row).encode()), hub_shape(spec))
