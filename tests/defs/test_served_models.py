"""A model behind a server, through the asset graph: scored without weights, resumed, billed."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner

from cg_pipeline import definitions
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.cli import cli
from cg_pipeline.definitions import assemble
from cg_pipeline.defs.bills import bills_of
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.jobs import CELL_JOB, Unit
from cg_pipeline.defs.partitions import cell_key
from cg_pipeline.defs.resources import Gpu, Servers, Store
from cg_pipeline.defs.runs import run_study
from cg_pipeline.defs.trust import Trust
from cg_pipeline.environment import CHECKOUT
from cg_pipeline.identity import completions_id
from cg_pipeline.models import MODELS
from cg_pipeline.saes import SAES
from cg_pipeline.specs import ServedModel, Study
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.schema import TABLES
from cg_pipeline.store.warehouse import Warehouse
from cg_pipeline.studies import STUDIES
from tests.defs.tiny_study import N_ROWS, READER, STUDY, FakeEncoder, TinyStudy, tiny_data
from tests.llm.fake_server import FakeServer, completion, failure

pytestmark = pytest.mark.integration

NAME, KEY = "smollm2_135m", "sk-very-secret-0123456789"
CELL = {"model": NAME, "benchmark": "arithmetic"}


class NoGpu(Gpu):
    """Fails the test that loads weights."""

    def language_model(self, model, advance):
        raise AssertionError(f"{model.name} was loaded")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tiny_data(tmp_path / "data")


def serve(monkeypatch, url: str, **fields) -> None:
    """Put the catalogue's model behind a server."""
    weights = ServedModel(base_url=url, model="m", api_key_variable="MY_KEY")
    monkeypatch.setitem(MODELS, NAME, replace(MODELS[NAME], weights=weights, **fields))
    monkeypatch.setenv("MY_KEY", KEY)


def run(data_dir: Path, benchmark: str = "arithmetic", **settings) -> dg.ExecuteInProcessResult:
    store = Store(data_dir=str(data_dir))
    definitions = assemble(
        str(data_dir),
        gpu=NoGpu(store=store),
        servers=Servers(store=store, max_retries=0, **settings),
        study_choice=TinyStudy(),
    )
    with dg.DagsterInstance.ephemeral() as instance:
        examples = definitions.resolve_job_def("load_examples")
        examples.execute_in_process(partition_key=benchmark, instance=instance)
        return definitions.resolve_job_def("evaluate_cell").execute_in_process(
            partition_key=cell_key(**{**CELL, "benchmark": benchmark}),
            asset_selection=[dg.AssetKey("completions"), dg.AssetKey("scores")],
            instance=instance,
            raise_on_error=False,
        )


def metadata(outcome: dg.ExecuteInProcessResult) -> dict:
    [event] = [e for e in outcome.get_asset_materialization_events() if e.asset_key.path == ["completions"]]
    return {name: value.value for name, value in event.materialization.metadata.items()}


def test_it_is_scored_without_weights(data_dir: Path, monkeypatch):
    with FakeServer([completion(" 7.", tokens=(10, 2))]) as server:
        serve(monkeypatch, server.url)
        outcome = run(data_dir, prices={NAME: [1.0, 10.0]})
        noted = metadata(outcome)
        asked = len(server.requests)
    assert outcome.success
    assert asked == N_ROWS
    warehouse = Warehouse(Layout(data_dir))
    rows = warehouse.load(TABLES["completions"], [CELL])
    assert {row.text for row in rows} == {"The answer is 7."}
    assert len(warehouse.load(TABLES["scores"], [CELL])) == N_ROWS
    assert (noted["requests_answered"], noted["requests_from_cache"]) == (N_ROWS, 0)
    assert (noted["input_tokens"], noted["output_tokens"]) == (10 * N_ROWS, 2 * N_ROWS)
    assert noted["cost"] == pytest.approx(N_ROWS * (10 * 1.0 + 2 * 10.0) / 1e6)
    assert noted["cost_in_all"] == noted["cost"]
    assert KEY not in str(noted)


def test_what_a_killed_run_paid_is_in_the_bill_of_the_next(data_dir: Path, monkeypatch):
    def dying(path, request):
        return failure(401) if len(server.requests) > 5 else completion(" 7.", tokens=(10, 2))

    with FakeServer(rule=dying) as server:
        serve(monkeypatch, server.url)
        assert not run(data_dir, concurrency=1).success
        server.rule = lambda path, request: completion(" 7.", tokens=(10, 2))
        noted = metadata(run(data_dir, concurrency=1, prices={NAME: [1.0, 10.0]}))
    assert (noted["input_tokens"], noted["input_tokens_in_all"]) == (10 * (N_ROWS - 5), 10 * N_ROWS)
    assert noted["cost_in_all"] == pytest.approx(N_ROWS * (10 * 1.0 + 2 * 10.0) / 1e6)
    [note] = Warehouse(Layout(data_dir)).materialisations("completions")
    assert f"{10 * N_ROWS} tokens sent" in bills_of([note], NAME)["arithmetic"]


def test_the_terminal_and_the_report_tell_what_was_paid(data_dir: Path, tmp_path: Path, monkeypatch):
    for name, sae in READER.items():
        monkeypatch.setitem(SAES, name, sae)
    monkeypatch.setitem(STUDIES, ONE.name, ONE)
    monkeypatch.setenv("CG_DATA_DIR", str(data_dir))
    monkeypatch.setenv("CG_DAGSTER_STORAGE", str(tmp_path / "dagster"))
    monkeypatch.setenv("DAGSTER_HOME", str(CHECKOUT))
    gpu = ReadingGpu(store=Store(data_dir=str(data_dir)))
    monkeypatch.setattr(definitions, "assemble", partial(assemble, gpu=gpu))
    (data_dir / "settings.toml").write_text(f"[servers.prices]\n{NAME} = [1.0, 10.0]\n")
    with FakeServer([completion(" 7.", tokens=(10, 2))]) as server:
        serve(monkeypatch, server.url)
        first, second = [CliRunner().invoke(cli, ["demo", "--study", ONE.name]) for _ in range(2)]
    paid = "120 tokens sent and 24 answered, cost 0.00036"
    assert first.exit_code == 0, first.output
    assert f"Paid for answers of {NAME}, all runs: {paid}; in this run: {paid}\n" in first.output
    assert f"{paid}; in this run: 0 tokens sent and 0 answered, cost 0\n" in second.output
    report = (data_dir / "reports" / NAME / "report.md").read_text(encoding="utf-8")
    assert report.count(paid) == 2  # of the benchmark, and together


def test_a_chat_model_answers_choices_in_words(data_dir: Path, monkeypatch):
    with FakeServer(rule=lambda path, request: completion("The answer is B.")) as server:
        serve(monkeypatch, server.url, chat=True)
        outcome = run(data_dir, "facts_generated")
        asked = server.requests[0]["messages"][-1]["content"]
    assert outcome.success
    assert "\nB. " in asked
    assert asked.endswith("Give the letter of the right choice.\nAnswer:")
    scores = Warehouse(Layout(data_dir)).load(
        TABLES["scores"], [{"model": NAME, "benchmark": "facts_generated"}]
    )
    assert len(scores) == N_ROWS
    assert {score.outcome for score in scores} == {"right", "wrong"}


def test_what_was_given_up_is_asked_again_and_nothing_else(data_dir: Path, monkeypatch):
    moody = {"fails": True}

    def rule(path, request):
        bad = moody["fails"] and "?" in request["messages"][0]["content"][:60]
        return failure(500) if bad else completion(" 7.")

    with FakeServer(rule=rule) as server:
        serve(monkeypatch, server.url)
        first = metadata(run(data_dir, concurrency=1))
        moody["fails"] = False
        again = metadata(run(data_dir, concurrency=1))
    assert first["requests_given_up"] > 0
    assert first["stops"]["failed"] == first["requests_given_up"]
    assert first["troubles"] == {"answered HTTP 500 (it broke)": first["requests_given_up"]}
    assert again["requests_answered"] == first["requests_given_up"]
    assert again["requests_from_cache"] == first["requests_answered"]
    assert again["stops"] == {"end": N_ROWS}
    assert again["cost"] == "unknown: no price is set"


CELL_UNIT = f"evaluate_cell {NAME} × arithmetic"
ONE = replace(STUDY, benchmarks=("arithmetic",))


class OneBenchmark(StudyChoice):
    """The one that the fake server answers."""

    @property
    def study(self) -> Study:
        return ONE


class ReadingGpu(NoGpu):
    """Reads, but answers nothing."""

    def encoder(self, sae):
        return FakeEncoder()


class Moody:
    """A server's rule: answers everything, but for the questions that `mood` fails."""

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.answer = " 7."

    def __call__(self, path, request):
        asked = request["messages"][0]["content"]
        return failure(500) if any(text in asked for text in self.failing) else completion(self.answer)


def study_run(data_dir: Path, instance: dg.DagsterInstance) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """Runs the study; what was stale of each unit, in order, and what checks said."""
    store = Store(data_dir=str(data_dir))
    definitions = assemble(
        str(data_dir),
        gpu=ReadingGpu(store=store),
        servers=Servers(store=store, max_retries=0, concurrency=1),
        study_choice=OneBenchmark(),
    )
    stale: list[tuple[str, list[str]]] = []
    said: list[str] = []
    run_study(
        definitions,
        instance,
        Expected(store.layout, ONE, "automatic"),
        lambda unit, assets: stale.append((unit.title, assets)),
        said.append,
    )
    return [each for each in stale if each[1]], said


def trusted(data_dir: Path, instance: dg.DagsterInstance) -> list[bool]:
    """Of each stage of the cell, whether it needs no new run."""
    layout = Layout(data_dir)
    trust = Trust(Warehouse(layout), Expected(layout, ONE, "automatic"), instance)
    return [trust.holds(asset, Unit(CELL_JOB, CELL)) for asset in CELL_JOB.assets]


def rows_of(data_dir: Path) -> list[str]:
    return (data_dir / "suite" / "arithmetic.jsonl").read_text().splitlines()


@pytest.fixture
def instance(monkeypatch):
    for name, sae in READER.items():
        monkeypatch.setitem(SAES, name, sae)
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def test_a_key_that_is_not_set_is_told_before_anything_runs(data_dir: Path, monkeypatch, instance):
    with FakeServer(rule=Moody()) as server:
        serve(monkeypatch, server.url)
        monkeypatch.delenv("MY_KEY")
        with pytest.raises(
            ValueError, match="wants its key in the environment variable MY_KEY, which is not s"
        ):
            study_run(data_dir, instance)
        assert (instance.get_runs_count(), server.requests) == (0, [])

        monkeypatch.setenv("MY_KEY", KEY)
        study_run(data_dir, instance)
        monkeypatch.delenv("MY_KEY")
        assert study_run(data_dir, instance)[0] == []  # nothing to ask: no key is wanted


def test_the_next_run_asks_again_and_what_follows_waits_for_news(data_dir: Path, monkeypatch, instance):
    prompts = [json.loads(row)["question"] for row in rows_of(data_dir)]
    mood = Moody(prompts[2], prompts[5])
    with FakeServer(rule=mood) as server:
        serve(monkeypatch, server.url)

        study_run(data_dir, instance)
        assert len(server.requests) == N_ROWS
        same, said = study_run(data_dir, instance)
        assert same == [(CELL_UNIT, ["completions"])]  # asked again, in vain: nothing else is made anew
        assert len(server.requests) == N_ROWS + 2
        assert any("whole only in part" in sentence for sentence in said)
        assert trusted(data_dir, instance) == [False, True, True, True, True]
        with monkeypatch.context() as patch:  # a part of other completions is no part of these
            weights = replace(MODELS[NAME].weights, revision="2")  # pyright: ignore[reportCallIssue]
            patch.setitem(MODELS, NAME, replace(MODELS[NAME], weights=weights))
            assert trusted(data_dir, instance) == [False, False, True, False, False]

        mood.failing = mood.failing[1:]
        some, _ = study_run(data_dir, instance)
        rest = ["scores", "concept_metrics", "evidence"]
        assert some[:2] == [(CELL_UNIT, ["completions"]), (CELL_UNIT, rest)]
        assert [title for title, _ in some[2:]] == [f"report_gaps {NAME}"]
        assert study_run(data_dir, instance)[0] == same

        mood.failing = ()
        whole, _ = study_run(data_dir, instance)
        assert whole[:2] == [(CELL_UNIT, ["completions"]), (CELL_UNIT, rest)]
        n_asked = len(server.requests)
        assert study_run(data_dir, instance) == ([], [])
        assert len(server.requests) == n_asked
    scores = Warehouse(Layout(data_dir)).load(TABLES["scores"], [CELL])
    assert {score.reason for score in scores} == {""}


def failed_step(outcome: dg.ExecuteInProcessResult) -> str:
    [event] = [event for event in outcome.all_events if event.is_step_failure]
    assert not outcome.success
    return str(event.step_failure_data.error)


def test_a_missing_key_is_a_sentence(data_dir: Path, monkeypatch):
    serve(monkeypatch, "http://127.0.0.1:9/v1")
    monkeypatch.delenv("MY_KEY")
    assert (
        f"Model '{NAME}' wants its key in the environment variable MY_KEY, which is not set; "
        "expected a bearer token. Set MY_KEY."
    ) in failed_step(run(data_dir))


def test_a_refused_key_ends_the_run_without_retries(data_dir: Path, monkeypatch):
    with FakeServer([failure(401, f"Incorrect key {KEY}")]) as server:
        serve(monkeypatch, server.url)
        said = failed_step(run(data_dir, concurrency=1))
        assert len(server.requests) <= 2
    assert "refused the key (HTTP 401); check MY_KEY" in said
    assert KEY not in said


def test_a_price_is_two_numbers(data_dir: Path, monkeypatch):
    serve(monkeypatch, "http://127.0.0.1:9/v1")
    assert "prices of model 'smollm2_135m' are [1.0]; expected two numbers" in failed_step(
        run(data_dir, prices={NAME: [1.0]})
    )


def test_where_the_key_is_kept_changes_no_result(monkeypatch):
    serve(monkeypatch, "http://127.0.0.1:9/v1")
    model, benchmark = MODELS[NAME], BENCHMARKS["arithmetic"]
    moved = replace(model, weights=replace(model.weights, api_key_variable="OTHER"))
    newer = replace(model, weights=replace(model.weights, revision="2"))
    drawing = replace(model, weights=replace(model.weights, own_sampling=True))
    of = [completions_id([], benchmark, each) for each in (model, moved, newer, drawing)]
    assert of[0] == of[1]
    assert len(set(of)) == 3


def test_a_server_that_draws_as_it_pleases_ends_the_run_unless_that_is_accepted(data_dir: Path, monkeypatch):
    def rule(path, request):
        if "temperature" in request:
            return failure(400, "Only the default is supported", param="temperature")
        return completion(" 7.")

    with FakeServer(rule=rule) as server:
        serve(monkeypatch, server.url)
        said = failed_step(run(data_dir, concurrency=1))
        weights = replace(MODELS[NAME].weights, own_sampling=True)  # pyright: ignore[reportCallIssue]
        monkeypatch.setitem(MODELS, NAME, replace(MODELS[NAME], weights=weights))
        accepted = metadata(run(data_dir, concurrency=1))
    assert "refuses temperature and would draw its answers as it pleases" in said
    assert accepted["parameters_refused"] == "temperature"


def test_a_model_with_weights_is_not_asked_for_at_a_server(tmp_path: Path):
    servers = Servers(store=Store(data_dir=str(tmp_path)))
    with pytest.raises(TypeError, match="has weights to load; expected one behind a server"):
        servers.language_model(MODELS[NAME], print)
