"""A cell computed elsewhere in the asset graph: current, used downstream, stale when examples change."""

import json
import shutil
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner

from cg_pipeline.cli import cli
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.imports import read_results, store_results
from cg_pipeline.defs.jobs import CELL_JOB, EXAMPLES_JOB, READER_JOB, Unit
from cg_pipeline.defs.partitions import cell_key
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.runs import run_unit
from cg_pipeline.defs.trust import Trust
from cg_pipeline.environment import CHECKOUT
from cg_pipeline.store.schema import TABLES
from tests.defs.tiny_study import LOADS, N_ROWS, STUDY, tiny_data, tiny_definitions

pytestmark = pytest.mark.integration

CELL = {"model": "smollm2_135m", "benchmark": "arithmetic"}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the benchmark's examples materialised."""
    directory = tiny_data(tmp_path_factory.mktemp("loaded") / "data")
    with dg.DagsterInstance.ephemeral() as instance:
        job = tiny_definitions(directory).resolve_job_def("load_examples")
        assert job.execute_in_process(partition_key=CELL["benchmark"], instance=instance).success
    return directory


@pytest.fixture
def data_dir(loaded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(loaded, tmp_path / "data"))


def log_of(data_dir: Path, directory: Path, n: int = N_ROWS) -> Path:
    """A harness log about the benchmark's first rows: every other answer is right."""
    rows = [
        json.loads(line) for line in (data_dir / "suite" / "arithmetic.jsonl").read_text().splitlines()[:n]
    ]
    lines = [
        {
            "doc": row,
            "target": row["answer"],
            "arguments": [[f"Q: {row['question']}\nA:", {}]],
            "resps": [["42"]],
            "metrics": ["exact_match"],
            "exact_match": float(i % 2),
        }
        for i, row in enumerate(rows)
    ]
    path = directory / "samples_arithmetic.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in reversed(lines)))
    return path


def import_cell(data_dir: Path, log: Path, instance: dg.DagsterInstance):
    store = Store(data_dir=str(data_dir))
    found = read_results("lm-eval", [log], store, **CELL)
    store_results(found, store, instance, **CELL)
    return found, store


def try_reader(data_dir: Path, instance: dg.DagsterInstance) -> None:
    """What activations wait for: the gate, which looks at examples of every benchmark."""
    definitions = tiny_definitions(data_dir)
    others = [
        Unit(EXAMPLES_JOB, {"benchmark": name}) for name in STUDY.benchmarks if name != CELL["benchmark"]
    ]
    for unit in (*others, Unit(READER_JOB, {"model": CELL["model"]})):
        run_unit(definitions, unit, list(unit.job.assets), instance)


def evaluate(data_dir: Path, assets: list[str], instance: dg.DagsterInstance) -> bool:
    job = tiny_definitions(data_dir).resolve_job_def("evaluate_cell")
    selection = [dg.AssetKey(asset) for asset in assets]
    return job.execute_in_process(
        partition_key=cell_key(**CELL), asset_selection=selection, instance=instance
    ).success


def stale(store: Store) -> list[str]:
    expected = Expected(store.layout, STUDY, "automatic")
    with dg.DagsterInstance.ephemeral() as instance:
        trust, unit = Trust(store.warehouse, expected, instance), Unit(CELL_JOB, CELL)
        return [asset for asset in CELL_JOB.assets if not trust.holds(asset, unit)]


def test_an_imported_cell_is_current_and_used_downstream(data_dir: Path, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        _, store = import_cell(data_dir, log_of(data_dir, tmp_path), instance)
        assert stale(store) == ["activations", "concept_metrics", "evidence"]
        try_reader(data_dir, instance)
        assert evaluate(data_dir, stale(store), instance)
    assert stale(store) == []
    scores = store.warehouse.load(TABLES["scores"], [CELL])
    assert [score.value for score in scores] == [float(i % 2) for i in range(N_ROWS)]


def test_it_is_stale_when_the_examples_change(data_dir: Path, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        _, store = import_cell(data_dir, log_of(data_dir, tmp_path), instance)
    stored = store.warehouse.fingerprint_of("scores", CELL)
    assert Expected(store.layout, STUDY, "automatic").scores(**CELL) == stored
    rows = data_dir / "suite" / "arithmetic.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:-1]))
    changed = Expected(store.layout, STUDY, "automatic")
    assert changed.scores(**CELL) != stored
    assert changed.completions(**CELL) != store.warehouse.fingerprint_of("completions", CELL)


def test_where_it_comes_from_is_kept_in_the_warehouse_and_in_dagster(data_dir: Path, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        _, store = import_cell(data_dir, log_of(data_dir, tmp_path, n=N_ROWS - 2), instance)
        notes = {asset: store.warehouse.materialisation(asset, CELL) for asset in ("completions", "scores")}
        for asset, note in notes.items():
            [event] = instance.fetch_materializations(
                dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[cell_key(**CELL)]),
                limit=5,
            ).records
            found = event.asset_materialization
            assert note.run_id == "import"
            assert json.loads(note.versions)["imported format"] == "lm-eval"
            assert len(json.loads(note.versions)["imported file samples_arithmetic.jsonl"]) == 64
            assert found.tags["dagster/data_version"] == note.fingerprint
            assert found.metadata["n_matched"].value == N_ROWS - 2
            assert found.metadata["n_examples_not_in_the_log"].value == 2
    assert notes["completions"].fingerprint != notes["scores"].fingerprint


def test_answers_can_be_scored_again_by_our_own_policy(data_dir: Path, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        _, store = import_cell(data_dir, log_of(data_dir, tmp_path), instance)
        LOADS.clear()
        assert evaluate(data_dir, ["scores"], instance)
    assert LOADS == []
    assert {score.answer for score in store.warehouse.load(TABLES["scores"], [CELL])} == {"42"}
    assert "scores" not in stale(store)


@pytest.fixture
def command(data_dir: Path, tmp_path: Path, monkeypatch):
    """`cg import …` on the tiny data directory, with a Dagster history of its own."""
    monkeypatch.setenv("CG_DATA_DIR", str(data_dir))
    monkeypatch.setenv("CG_DAGSTER_STORAGE", str(tmp_path / "dagster"))
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))

    def command(*arguments: str):
        cell = ["--model", CELL["model"], "--benchmark", CELL["benchmark"]]
        return CliRunner().invoke(cli, ["import", *cell, *arguments])

    return command


def test_the_command_reports_and_writes(data_dir: Path, tmp_path: Path, command):
    done = command("lm-eval", str(log_of(data_dir, tmp_path)))
    assert done.exit_code == 0, done.output
    assert done.output.startswith(
        f"Matched with {N_ROWS} examples of 'arithmetic': drawn from {N_ROWS} rows by study 'embedded', "
        "limit none. If others are meant, materialise `examples` with their study and limit first "
        "(cg demo --study … --limit …).\nScore taken: exact_match\n"
    )
    assert f"{N_ROWS} logged answers: {N_ROWS} matched, 0 not" in done.output
    assert "Imported completions and scores of smollm2_135m on arithmetic." in done.output
    assert Store(data_dir=str(data_dir)).warehouse.materialisation("scores", CELL)


def test_a_dry_run_writes_nothing(data_dir: Path, tmp_path: Path, command):
    done = command("lm-eval", str(log_of(data_dir, tmp_path)), "--dry-run")
    assert done.exit_code == 0, done.output
    assert "Nothing was written (--dry-run)." in done.output
    assert Store(data_dir=str(data_dir)).warehouse.materialisation("scores", CELL) is None


def test_a_log_about_something_else_is_refused(data_dir: Path, tmp_path: Path, command):
    log = log_of(data_dir, tmp_path, n=N_ROWS // 2)
    done = command("lm-eval", str(log))
    assert done.exit_code == 1
    assert (
        "Error: 50.0% of the examples of 'arithmetic' are in the log; expected at least 90.0%." in done.output
    )
    assert command("lm-eval", str(log), "--at-least", "0.5").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "exit_code", "words"),
    [
        (("lm-eval", "no.jsonl"), 1, "Error: no.jsonl is not a file; expected JSON lines."),
        (
            ("lm-eval", "no.jsonl", "--benchmark", "facts"),
            1,
            "Table 'examples' was never materialised for benchmark=facts",
        ),
        (("lm-eval", "no.jsonl", "--model", "smol"), 2, "Unknown model 'smol'."),
        (("lm-eval", "no.jsonl", "--benchmark", "maths"), 2, "Unknown benchmark 'maths'."),
        (("helm", "no.jsonl"), 2, "'helm' is not one of 'lm-eval', 'inspect', 'lighteval'"),
    ],
)
def test_what_is_wrong_is_one_sentence(command, arguments, exit_code, words):
    done = command(*arguments)
    assert (done.exit_code, "Traceback" in done.output) == (exit_code, False)
    assert words in done.output
