"""The whole asset graph on a truncated suite with a fake model: stored, checked, resumed, refused."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import dagster as dg
import duckdb
import pytest
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationTargetMaterializationData,
)

from cg_pipeline import checks
from cg_pipeline.answers.grading import grade
from cg_pipeline.checks import Finding
from cg_pipeline.defs.catalogue import BENCHMARKS
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.jobs import COMPLETIONS_JOB
from cg_pipeline.defs.partitions import cell_key
from cg_pipeline.defs.runs import Unit, run_study, run_unit
from cg_pipeline.models import MODELS
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES
from cg_pipeline.specs import Study
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.materialisations import Provenance
from cg_pipeline.store.schema import TABLES
from cg_pipeline.store.warehouse import Warehouse
from tests.defs.tiny_study import (
    LOADS,
    N_CONCEPTS,
    N_ROWS,
    READER,
    STUDY,
    FakeEncoder,
    FakeGpu,
    FakeLanguageModel,
    TinyStudy,
    concept_of,
    tiny_data,
    tiny_definitions,
)

pytestmark = pytest.mark.integration

WARNINGS: list[str] = []
"""What checks that stop nothing have said."""


def run(
    data_dir: Path, instance: dg.DagsterInstance, study: type[TinyStudy] = TinyStudy
) -> dict[str, list[str]]:
    """Run the study; returns what was stale of each unit."""
    seen: dict[str, list[str]] = {}

    def report(unit: Unit, stale: list[str]) -> None:
        seen[unit.title] = stale

    expected = Expected(Layout(data_dir), study().study, "automatic")
    run_study(tiny_definitions(data_dir, study=study), instance, expected, report, WARNINGS.append)
    return seen


@pytest.fixture(scope="module")
def instance():
    with patch.dict(SAES, READER), dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Path:
    data_dir = tiny_data(tmp_path_factory.mktemp("data"))
    run(data_dir, instance)
    return data_dir


def without_the_last_fact(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished study's data, after a benchmark was edited."""
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    path = data_dir / "suite" / "facts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]), encoding="utf-8")
    return data_dir


def ask(data_dir: Path, sql: str) -> list[tuple]:
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_every_table_is_filled(finished: Path) -> None:
    n, cells = N_ROWS * len(STUDY.benchmarks), len(STUDY.benchmarks)
    for table, expected in {
        "benchmark_rows": cells,
        "examples": n,
        "near_duplicates": 0,
        "completions": n,
        "scores": n,
        "activations": cells,
        "concept_metrics": N_CONCEPTS * cells,
        "evidence": cells,
        "suite_metrics": N_CONCEPTS,
        "reader_fit": 1,
        "concept_health": N_CONCEPTS,
        "concepts": N_CONCEPTS,
        "label_files": 0,
        "concept_labels": N_CONCEPTS,
        "gap_report": 1,
    }.items():
        assert ask(finished, f"select count(*) from {table}") == [(expected,)], table
    assert ask(finished, "select count(distinct kind) from gaps") == [(4,)]


def where_all_have(data_dir: Path, table: str, concept_id: int) -> list[str]:
    """Benchmarks whose every example has a concept."""
    sql = f"select benchmark from {table} where concept_id = {concept_id} and n_examples = {N_ROWS}"
    return sorted(name for (name,) in ask(data_dir, sql))


class ReadingAnswers(TinyStudy):
    """The same, and what the model answered is read, too."""

    @property
    def study(self) -> Study:
        return replace(STUDY, read_completions=True)


@pytest.mark.usefixtures("instance")
def test_answers_are_read_apart_where_a_study_says_so(finished: Path, tmp_path: Path) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    LOADS.clear()
    with dg.DagsterInstance.ephemeral() as own:
        seen = {unit: stale for unit, stale in run(data_dir, own, ReadingAnswers).items() if stale}
        again = run(data_dir, own, ReadingAnswers)
    jobs = {unit.split()[0]: stale for unit, stale in seen.items()}
    assert jobs == {
        "read_completions": ["completion_activations", "completion_metrics"],
        "report_gaps": ["gap_report"],  # it says which study it is of
    }
    written = sorted(name for name in STUDY.benchmarks if BENCHMARKS[name].response == "generation")
    assert 0 < len(written) < len(STUDY.benchmarks)
    assert len(seen) == len(written) + 1  # where choices are rated, nothing was written
    assert ["smollm2_l12"] * len(written) == LOADS  # prompts are not read again
    assert ask(data_dir, "select count(*) from completion_metrics") == [(N_CONCEPTS * len(written),)]
    assert ask(data_dir, "select sum(n_examples) from completion_activations") == [(N_ROWS * len(written),)]
    thinks = concept_of("think")  # what the fake model says every time, and nobody asks
    assert where_all_have(data_dir, "completion_metrics", thinks) == written
    assert where_all_have(data_dir, "concept_metrics", thinks) == []
    assert set(map(tuple, again.values())) == {()}


@pytest.mark.usefixtures("instance")
def test_answers_given_anew_to_the_same_questions_are_read_anew(finished: Path, tmp_path: Path) -> None:
    """A server draws another text, or changes under the same name: the questions' fingerprint is the same."""
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    written = next(name for name in STUDY.benchmarks if BENCHMARKS[name].response == "generation")
    cell = {"model": STUDY.models[0], "benchmark": written}
    unit, warehouse = Unit(COMPLETIONS_JOB, cell), Warehouse(Layout(data_dir))
    with dg.DagsterInstance.ephemeral() as own:
        run_unit(tiny_definitions(data_dir), unit, list(COMPLETIONS_JOB.assets), own)
        before = ask(data_dir, "select path from completion_activations")
        note = warehouse.materialisation("completions", cell)
        said = [replace(each, text="No.") for each in warehouse.load(TABLES["completions"], [cell])]
        made = Provenance(fingerprint=note.fingerprint, run_id="r", code_version="1", versions={})
        warehouse.replace(TABLES["completions"], cell, said, made)
        run_unit(tiny_definitions(data_dir), unit, list(COMPLETIONS_JOB.assets), own)
    assert ask(data_dir, "select path from completion_activations") != before
    assert ask(data_dir, "select sum(n_tokens) from completion_activations") == [(N_ROWS,)]


@pytest.mark.usefixtures("instance")
def test_what_was_not_written_is_not_read(finished: Path, tmp_path: Path) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    rated = next(name for name in STUDY.benchmarks if BENCHMARKS[name].response == "choice")
    unit = Unit(COMPLETIONS_JOB, {"model": STUDY.models[0], "benchmark": rated})
    said = rf"On '{rated}' choices are rated .* expected a benchmark of response 'generation'"
    with dg.DagsterInstance.ephemeral() as own, pytest.raises(RuntimeError, match=said):
        run_unit(tiny_definitions(data_dir), unit, ["completion_activations"], own)


def test_columns_carry_descriptions(finished: Path) -> None:
    undescribed = (
        "select table_name, column_name from duckdb_columns() where comment is null and not internal"
    )
    assert ask(finished, undescribed) == []


def test_second_run_does_nothing(finished: Path, instance: dg.DagsterInstance) -> None:
    """Fault F4: a run with nothing to do succeeds at once; and F34: it loads no model."""
    LOADS.clear()
    assert set(map(tuple, run(finished, instance).values())) == {()}
    assert LOADS == []


def test_every_materialisation_names_its_run_and_fingerprint(
    finished: Path, instance: dg.DagsterInstance
) -> None:
    rows = ask(finished, "select asset, run_id, fingerprint, versions from materialisations")
    assert {row[0] for row in rows} == {
        "benchmark_rows", "examples", "near_duplicates", "completions", "scores", "activations", "concepts",
        "label_files", "concept_labels", "concept_metrics", "evidence", "suite_metrics",
        "reader_fit", "reader_gate",
        "concept_health", "gaps", "gap_clusters", "gap_report",
    }  # fmt: skip
    for asset, run_id, fingerprint, versions in rows:
        assert instance.get_run_by_id(run_id), asset
        assert len(fingerprint) == 16
        assert "duckdb" in json.loads(versions)


def test_progress_is_told_in_the_log(finished: Path, instance: dg.DagsterInstance) -> None:
    said = [entry.user_message for made in instance.get_runs() for entry in instance.all_logs(made.run_id)]
    for benchmark in STUDY.benchmarks:
        lines = [line for line in said if line.startswith(f"smollm2_135m on {benchmark}: ")]
        assert lines
        assert re.match(r".*: 12 of 12 examples, [\d.,]+ examples/s, [\d.,]+ tokens/s, 0 s left$", lines[0])


CHECKS = {
    "benchmark_rows": {"files_of_rows_are_whole"},
    "examples": {
        "ids_are_unique",
        "no_prompt_is_empty",
        "answers_are_within_choices",
        "no_row_was_left_out",
    },
    "near_duplicates": {"benchmarks_ask_different_things"},
    "completions": {"one_completion_for_each_example", "no_prompt_was_cut"},
    "scores": {"one_score_for_each_example", "scores_are_in_range", "most_examples_are_scored"},
    "activations": {"one_row_for_each_example", "activations_are_sound", "every_text_was_read"},
    "concept_metrics": {"performance_is_within_score_range"},
    "evidence": {"evidence_names_examples", "sides_agree_with_scores", "tokens_make_the_saliency"},
    "concepts": {"dictionary_is_complete", "most_concepts_are_alive"},
    "label_files": {"files_of_labels_are_whole"},
    "concept_labels": {
        "one_label_of_each_concept_is_shown",
        "labels_are_of_this_dictionary",
        "few_labels_score_low",
    },
    "reader_fit": set(),
    "reader_gate": {"the_reader_fits"},
    "suite_metrics": set(),
    "concept_health": {"every_concept_has_a_verdict", "most_concepts_are_fine"},
    "gaps": {"gaps_are_ranked"},
    "gap_clusters": {"clusters_cover_the_gaps", "clusters_are_named_as_asked"},
    "gap_report": set(),
}
"""Of every asset, besides `is_current`, which all have."""


OF_A_MODEL = {
    "reader_fit", "reader_gate", "suite_metrics", "concept_health", "gaps", "gap_clusters", "gap_report",
}  # fmt: skip


def partitions_of(asset: str) -> list[str | None]:
    """Dagster's keys of all partitions of an asset that the tiny study needs."""
    if asset in ("benchmark_rows", "examples"):
        return list(STUDY.benchmarks)
    if asset == "near_duplicates":
        return [None]
    if asset in ("concepts", "label_files", "concept_labels"):
        return sorted({MODELS[model].reader for model in STUDY.models})
    if asset in OF_A_MODEL:
        return list(STUDY.models)
    return [cell_key(model, benchmark) for model in STUDY.models for benchmark in STUDY.benchmarks]


def test_every_check_ran_on_every_partition_and_passed(finished: Path, instance: dg.DagsterInstance) -> None:
    outcomes = {
        (check.asset_key.to_user_string(), check.check_name, check.partition): check.passed
        for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))
        for record in instance.get_records_for_run(
            run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION, limit=1000
        ).records
        for check in [record.event_log_entry.get_dagster_event().asset_check_evaluation_data]
    }
    expected = {
        (asset, name, partition)
        for asset, names in CHECKS.items()
        for name in {*names, "is_current"}
        for partition in partitions_of(asset)
    }
    assert set(outcomes) == expected
    assert {check for check, passed in outcomes.items() if not passed} == set()


def test_report_is_written(finished: Path) -> None:
    ((html, markdown),) = ask(finished, "select html_path, markdown_path from gap_report")
    assert "<html" in (finished / html).read_text(encoding="utf-8")
    assert (finished / markdown).read_text(encoding="utf-8").startswith("#")


def test_editing_one_benchmark_reruns_its_cell_and_the_report(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = without_the_last_fact(finished, tmp_path)
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert stale == {
        "load_examples facts": ["benchmark_rows", "examples"],
        "compare_benchmarks": ["near_duplicates"],
        "check_reader smollm2_135m": ["reader_fit", "reader_gate"],
        "evaluate_cell smollm2_135m × facts": [
            "completions",
            "scores",
            "activations",
            "concept_metrics",
            "evidence",
        ],
        "report_gaps smollm2_135m": ["suite_metrics", "concept_health", "gaps", "gap_clusters", "gap_report"],
    }
    assert ask(data_dir, "select count(*) from examples where benchmark = 'facts'") == [(N_ROWS - 1,)]


def test_tokens_are_read_once_whatever_becomes_of_scores(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores that changed take other examples: only what was never read is read."""
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    asked: list[int] = []

    def counted(self, texts, concept_ids, original=FakeEncoder.fire_each):
        asked.append(sum(map(len, concept_ids)))
        return original(self, texts, concept_ids)

    monkeypatch.setattr(FakeEncoder, "fire_each", counted)
    shutil.rmtree(data_dir / "shards" / "evidence")
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert list(stale.values()) == [["evidence"]] * len(STUDY.benchmarks)
    assert asked == []
    other = replace(POLICIES["numeric"], score=_all_right)
    monkeypatch.setitem(POLICIES, "numeric", other)
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert "evidence" in stale["evaluate_cell smollm2_135m × arithmetic"]
    (kept,) = ask(data_dir, "select n_rows from evidence where benchmark = 'arithmetic'")
    assert sum(asked) < kept[0] / 2


def _all_right(example: Example, completion: Completion) -> Score:
    return grade(completion, 1.0)


def test_a_faulty_file_is_named_and_others_are_unaffected(
    tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = tiny_data(tmp_path / "data")
    path = data_dir / "suite" / "facts.jsonl"
    path.write_text(
        path.read_text(encoding="utf-8") + '{"category": "animals", "question": 3}\n', encoding="utf-8"
    )
    with pytest.raises(
        (RuntimeError, ValueError), match=rf"facts\.jsonl:{N_ROWS + 1}: field 'question' is 3"
    ):
        run(data_dir, instance)
    done = ask(data_dir, "select distinct benchmark from examples order by 1")
    assert done == [("arithmetic",), ("requests",)]


def test_what_lost_its_files_is_made_again(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    next((data_dir / "shards" / "activations").rglob("shard-*")).unlink()
    shutil.rmtree(data_dir / "reports")
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert stale.pop("report_gaps smollm2_135m") == ["gap_report"]
    assert list(stale.values()) == [["activations"]]
    assert list((data_dir / "reports").rglob("report.html"))


@pytest.mark.parametrize("kind", ["activations", "evidence"])
def test_damaged_shards_are_told_once_and_healed_by_the_next_run(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance, kind: str
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    shard = next((data_dir / "shards" / kind).rglob("shard-*"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    if kind == "activations":  # read for the evidence, which is missing, too
        shutil.rmtree(data_dir / "shards" / "evidence")
    next((data_dir / "reports").rglob("report.html")).write_bytes(b"")
    with pytest.raises(RuntimeError, match=r"was damaged .*; expected whole shards\. .* run again"):
        run(data_dir, instance)
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    healed = [assets for assets in stale.values() if kind in assets]
    assert healed == [["activations", "evidence"] if kind == "activations" else ["evidence"]]
    assert stale["report_gaps smollm2_135m"] == ["gap_report"]


class WithoutFacts(TinyStudy):
    """A part of the study."""

    @property
    def study(self) -> Study:
        return replace(STUDY, benchmarks=("arithmetic", "requests"))


def test_what_is_damaged_of_another_study_stops_nothing(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    stored = Warehouse(Layout(data_dir)).load(TABLES["activations"], None)
    cell = next(row for row in stored if row.benchmark == "facts")
    next((data_dir / cell.path).rglob("shard-*")).write_bytes(b"")
    stale = {title: assets for title, assets in run(data_dir, instance, WithoutFacts).items() if assets}
    assert "gap_report" in stale["report_gaps smollm2_135m"]
    assert not any("facts" in title for title in stale)


def test_a_check_that_stops_nothing_is_told(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = without_the_last_fact(finished, tmp_path)
    finding = Finding(passed=False, sentence="90 % are unscored.")
    monkeypatch.setattr(checks, "mostly_scored", lambda *_, **__: finding)
    WARNINGS.clear()
    run(data_dir, instance)
    assert WARNINGS == ["check most_examples_are_scored of scores: 90 % are unscored."]
    assert set(map(tuple, run(data_dir, instance).values())) == {()}


def test_a_history_that_was_deleted_is_not_missed(finished: Path, tmp_path: Path) -> None:
    data_dir = Path(shutil.copytree(finished, tmp_path / "data"))
    with dg.DagsterInstance.ephemeral() as new:
        assert set(map(tuple, run(data_dir, new).values())) == {()}


def test_a_check_run_later_counts(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever runs the checks alone, in the UI, need not compute the partition again."""
    data_dir = without_the_last_fact(finished, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(checks, "scores_in_range", _forever_lost)
        with pytest.raises((RuntimeError, KeyboardInterrupt)):
            run(data_dir, instance)
    (note,) = [
        note for note in Warehouse(Layout(data_dir)).materialisations("scores") if note.benchmark == "facts"
    ]
    for name in (*CHECKS["scores"], "is_current"):
        later = dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey("scores"),
            check_name=name,
            passed=True,
            metadata={},
            partition=cell_key("smollm2_135m", "facts"),
            target_materialization_data=AssetCheckEvaluationTargetMaterializationData(
                storage_id=1, run_id=note.run_id, timestamp=0.0
            ),
        )
        instance.report_runless_asset_event(later)
    assert "scores" not in run(data_dir, instance)["evaluate_cell smollm2_135m × facts"]


def _forever_lost(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("end", ["killed", "failed"])
def test_what_was_stored_but_never_passed_its_checks_is_made_again(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """A process that dies between a write and its check leaves a partition that nobody has looked at."""
    data_dir = without_the_last_fact(finished, tmp_path)
    finding = Finding(passed=False, sentence="Scores are out of range.")
    with monkeypatch.context() as patch:
        patch.setattr(checks, "scores_in_range", _forever_lost if end == "killed" else lambda *_: finding)
        with pytest.raises((RuntimeError, KeyboardInterrupt)):
            run(data_dir, instance)
    stale = {title: assets for title, assets in run(data_dir, instance).items() if assets}
    assert "scores" in stale["evaluate_cell smollm2_135m × facts"]
    assert set(map(tuple, run(data_dir, instance).values())) == {()}


def test_a_sentence_is_told_whatever_it_was_raised_from(
    finished: Path, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    class BrokenGpu(FakeGpu):
        def language_model(self, model, advance) -> FakeLanguageModel:
            try:
                raise OSError("errno 7")
            except OSError as cause:
                raise ValueError("Device 'gpu9' cannot be used here") from cause

    data_dir = without_the_last_fact(finished, tmp_path)
    definitions = tiny_definitions(data_dir, BrokenGpu)
    with pytest.raises(RuntimeError, match="Device 'gpu9' cannot be used here"):
        run_study(
            definitions, instance, Expected(Layout(data_dir), STUDY, "automatic"), lambda *_: None, print
        )
