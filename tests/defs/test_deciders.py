"""Who decides where a policy asks somebody: from the environment to the stored scores."""

import dataclasses
import json
import re

import dagster as dg
import pytest

from cg_pipeline import identity
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.defs import catalogue, partitions
from cg_pipeline.defs.freshness import Expected, expected_of
from cg_pipeline.defs.model_assets import scores
from cg_pipeline.defs.resources import CodeSandbox, Gpu, Judging, Namer, Store
from cg_pipeline.llm.judging import way_of_asking
from cg_pipeline.models import MODELS
from cg_pipeline.records import Completion
from cg_pipeline.scoring import POLICIES
from cg_pipeline.store.layout import Layout
from tests.defs.tiny_study import STUDY, tiny_data
from tests.llm.fake_server import FakeServer, failure
from tests.llm.fake_server import completion as reply
from tests.scoring.cases import example

MODEL = next(iter(MODELS))
STUB = "def double(x):\n"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in ("CG_LLM_BASE_URL", "CG_LLM_MODEL", "CG_JUDGE_BASE_URL", "CG_JUDGE_MODEL", "CG_ALLOW_CODE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("value", "runs"), [("1", True), ("unisolated", True), ("0", False), ("", False)])
def test_programs_run_only_with_leave(monkeypatch, value, runs):
    monkeypatch.setenv("CG_ALLOW_CODE", value)
    assert (CodeSandbox().load() is not None) == runs
    assert CodeSandbox().source.startswith("python-" if runs else "none")
    assert ("unisolated" in CodeSandbox().source) == (value == "unisolated")


def test_leave_that_is_unclear_is_refused(monkeypatch):
    monkeypatch.setenv("CG_ALLOW_CODE", "yes")
    with pytest.raises(ValueError, match="CG_ALLOW_CODE is 'yes'; expected 1 to run the programs"):
        CodeSandbox().load()


def test_who_judges(monkeypatch, tmp_path):
    judging = Judging(store=Store(data_dir=str(tmp_path)))
    assert (judging.load(), judging.source, judging.identity) == (None, "none", "none")
    monkeypatch.setenv("CG_JUDGE_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("CG_JUDGE_MODEL", "m-2")
    loaded = judging.load()
    assert loaded is not None
    assert loaded.source == judging.source == "llm:m-2"
    assert judging.identity == f"llm:m-2, asked {way_of_asking()}"


def materialise(
    monkeypatch, tmp_path, policy: str, examples, texts, at_once: int = 2
) -> tuple[list, dict, str]:
    """The scores asset on one cell of a benchmark that is scored by `policy`."""
    spec = dataclasses.replace(BENCHMARKS["requests"], scoring=policy)
    monkeypatch.setitem(catalogue.BENCHMARKS, "requests", spec)
    store = Store(data_dir=str(tmp_path))
    monkeypatch.setattr(type(store.warehouse), "fingerprint_of", lambda self, table, where: "completions")
    completions = [
        Completion(
            model=MODEL,
            benchmark="requests",
            example_id=asked.example_id,
            sample=sample,
            text=text,
            stop="end",
            n_prompt_tokens=1,
            n_completion_tokens=1,
        )
        for asked in examples
        for sample, text in enumerate(texts)
    ]
    context = dg.build_asset_context(partition_key=partitions.cell_key(MODEL, "requests"))
    made = scores(
        context,
        examples=examples,
        completions=completions,
        store=store,
        judging=Judging(store=store, at_once=at_once),
        code_sandbox=CodeSandbox(),
    )
    return made.value, dict(made.metadata), made.metadata["fingerprint"]


def test_programs_are_scored_again_once_they_may_run(monkeypatch, tmp_path):
    details = {"entry_point": "double", "test": "def check(f):\n    assert f(2) == 4"}
    asked = [example(prompt=STUB, details=details)]
    texts = ["    return 2 * x", "    return x"]
    found, _, before = materialise(monkeypatch, tmp_path, "code_tests", asked, texts)
    assert [score.reason for score in found] == ["code_not_allowed"] * 2
    monkeypatch.setenv("CG_ALLOW_CODE", "1")
    found, metadata, after = materialise(monkeypatch, tmp_path, "code_tests", asked, texts)
    assert [score.value for score in found] == [1.0, 0.0]
    assert (metadata["pass@1"], metadata["pass@2"]) == (0.5, 1.0)
    assert metadata["decided_by"] == CodeSandbox().source
    assert before != after


def test_programs_that_could_not_be_run_are_run_again(monkeypatch, tmp_path):
    monkeypatch.setenv("CG_ALLOW_CODE", "1")
    monkeypatch.setattr("sys.executable", "/no/such/python")
    asked = [example(prompt=STUB, details={"entry_point": "double", "test": "def check(f): pass"})]
    found, _, stored = materialise(monkeypatch, tmp_path, "code_tests", asked, ["    return 2 * x"])
    assert [score.reason for score in found] == ["sandbox_failed"]
    assert stored != identity.scores_id("completions", POLICIES["code_tests"], CodeSandbox().source)


def test_a_judges_cost_is_recorded(monkeypatch, tmp_path):
    verdict = json.dumps({"reasoning": "Good.", "verdict": "10"})
    with FakeServer([reply(verdict)]) as server:
        monkeypatch.setenv("CG_JUDGE_BASE_URL", server.url)
        monkeypatch.setenv("CG_JUDGE_MODEL", "m-2")
        found, metadata, _ = materialise(monkeypatch, tmp_path, "judge_answer", [example()], ["Fine."])
    assert [score.value for score in found] == [1.0]
    assert (metadata["decided_by"], metadata["judge_calls"], metadata["judge_input_tokens"]) == (
        "llm:m-2",
        1,
        10,
    )


def test_judging_tells_in_the_log_how_far_it_is(monkeypatch, tmp_path, capsys):
    """And what was judged before makes the rest no quicker."""
    verdict = reply(json.dumps({"reasoning": "Good.", "verdict": "10"}))
    with FakeServer([verdict]) as server:
        monkeypatch.setenv("CG_JUDGE_BASE_URL", server.url)
        monkeypatch.setenv("CG_JUDGE_MODEL", "m-2")
        texts = [f"Answer {i}." for i in range(6)]
        for n in (4, 6):
            materialise(monkeypatch, tmp_path, "judge_answer", [example()], texts[:n])
    said = capsys.readouterr().err
    pattern = r"6 of 6 answers \(4 known before\), [\d.,]+ answers/s, [\d.,]+ tokens/s, 0 s left"
    assert re.search(f"{MODEL} on requests: {pattern}\n", said)


@pytest.mark.parametrize(
    ("step", "reason", "again"),
    [(failure(500), "judge_failed", True), (reply(None, refusal="I won't."), "no_verdict", False)],
)
def test_answers_that_a_judge_failed_to_judge_are_judged_again(monkeypatch, tmp_path, step, reason, again):
    good = reply(json.dumps({"reasoning": "Good.", "verdict": "10"}))
    monkeypatch.setenv("CG_JUDGE_MODEL", "m-2")
    monkeypatch.setenv("CG_JUDGE_MAX_RETRIES", "0")
    who = f"llm:m-2, asked {way_of_asking()}"
    expected = identity.scores_id("completions", POLICIES["judge_answer"], who)
    asked = [example()]
    with FakeServer([good, step]) as server:
        monkeypatch.setenv("CG_JUDGE_BASE_URL", server.url)
        found, metadata, stored = materialise(
            monkeypatch, tmp_path, "judge_answer", asked, ["Fine.", "Finer."], at_once=1
        )
        assert [score.reason for score in found] == ["", reason]
        assert (stored != expected) is again  # stale, so that the next run asks again
        assert list(metadata["judge_troubles"].values()) == [1]
    with FakeServer([good]) as server:
        monkeypatch.setenv("CG_JUDGE_BASE_URL", server.url)
        found, _, stored = materialise(monkeypatch, tmp_path, "judge_answer", asked, ["Fine.", "Finer."])
        assert [score.value for score in found] == [1.0, 1.0]
        assert stored == expected
        assert len(server.requests) == 1  # the other verdict is kept


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_what_is_expected_knows_the_engine(tmp_path, engine):
    layout = Layout(tiny_data(tmp_path / "data"))
    store = Store(data_dir=str(layout.data_dir))
    deciders = (Namer(store=store), Judging(store=store), CodeSandbox(), Gpu(store=store, engine=engine))
    expected = expected_of(store, STUDY, *deciders)
    assert expected.engine == engine
    here = expected.completions(MODEL, "requests")
    assert (here == Expected(layout, STUDY, "automatic").completions(MODEL, "requests")) == (
        engine == "transformers"
    )


def test_authors_own_numbers_are_reported(monkeypatch, tmp_path):
    details = {"context_condition": "disambig", "unknown_choice": "C", "stereotype_consistent_choice": "A"}
    asked = [example("the old man", choices=("the old man", "the young man", "unknown"), details=details)]
    _, metadata, _ = materialise(monkeypatch, tmp_path, "bbq", asked, ["A"])
    assert (metadata["accuracy_disambig"], metadata["s_DIS"]) == (1.0, 1.0)
    assert "pass@1" not in metadata


@pytest.mark.parametrize(
    ("policy", "decider"), [("judge_answer", "llm:a"), ("code_tests", "python"), ("option", "x")]
)
def test_what_is_expected_knows_who_decides(monkeypatch, tmp_path, policy, decider):
    spec = dataclasses.replace(BENCHMARKS["requests"], scoring=policy)
    monkeypatch.setitem(catalogue.BENCHMARKS, "requests", spec)
    layout = Layout(tiny_data(tmp_path / "data"))
    expected = Expected(layout, STUDY, "automatic", judged_by="llm:a", run_by="python")
    monkeypatch.setattr(Expected, "completions", lambda self, model, benchmark: "completions")
    assert expected.scores(MODEL, "requests") == identity.scores_id("completions", POLICIES[policy], decider)
