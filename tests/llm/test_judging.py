"""Verdicts of a language model, against a server that answers by script."""

import contextlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cg_pipeline.llm import judging
from cg_pipeline.llm.chat import ChatModel
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.judging import MAX_FAILURES, LlmJudge, verdict_schema, way_of_asking
from cg_pipeline.protocols import Judge, JudgeFailed
from cg_pipeline.scoring import judge_pair
from tests.llm.fake_server import FakeServer, Step, completion, failure
from tests.scoring import cases


def says(verdict: str) -> Step:
    return completion(json.dumps({"reasoning": "It is so.", "verdict": verdict}))


def judge(server: FakeServer, cache_dir: Path, **settings) -> LlmJudge:
    settings = {"max_retries": 0, **settings}
    return LlmJudge(
        ChatModel(Endpoint(base_url=server.url, model="m-1", timeout_s=5.0, **settings), cache_dir)
    )


@pytest.mark.parametrize("name", ["_CLOSING", "TEMPERATURE", "ANSWER_TOKENS", "MAX_CORRECTIONS"])
def test_another_way_of_asking_is_another_judge(monkeypatch, name: str):
    before = way_of_asking()
    assert before == way_of_asking()
    monkeypatch.setattr(judging, name, "Say {verdicts}." if name == "_CLOSING" else 9)
    assert way_of_asking() != before


def test_a_verdict(tmp_path: Path):
    with FakeServer([says("no")]) as server:
        subject = judge(server, tmp_path)
        assert subject.decide("Is it?", ("yes", "no")) == "no"
    assert isinstance(subject, Judge)
    assert subject.source == "llm:m-1"
    [request] = server.requests
    assert request["messages"][0]["content"].startswith("Is it?\n\nGive your reasoning first")
    assert request["messages"][0]["content"].endswith("the verdict: one of yes, no.")
    schema = request["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["reasoning", "verdict"]
    assert schema["properties"]["verdict"]["enum"] == ["yes", "no"]


@pytest.mark.parametrize("said", ["Yes", "yes.", "maybe", "", "yes or no"])
def test_what_is_not_on_the_list_is_asked_for_again_and_never_counts(tmp_path: Path, said: str):
    """Fault F11: what cannot be read is no verdict."""
    with FakeServer([says(said), says("yes")]) as server:
        assert judge(server, tmp_path / "a").decide("Is it?", ("yes", "no")) == "yes"
        assert "verdict" in server.requests[1]["messages"][-1]["content"]
    with FakeServer([says(said)]) as server, pytest.raises(JudgeFailed, match="after 3 tries"):
        judge(server, tmp_path / "b").decide("Is it?", ("yes", "no"))


@pytest.mark.parametrize(
    "step",
    [failure(500), failure(401), completion("yes"), completion(None, refusal="I won't."), completion("{}")],
)
def test_a_failure_is_a_sentence(tmp_path: Path, step: Step):
    with (
        FakeServer([step]) as server,
        pytest.raises(JudgeFailed, match=r"LLM 'm-1' at http://127"),
    ):
        judge(server, tmp_path).decide("Is it?", ("yes", "no"))


@pytest.mark.parametrize(
    ("step", "lasting"),
    [
        (failure(500), False),
        (failure(401), False),
        (failure(429), False),
        (completion(None, refusal="I won't."), True),
        (completion(None, finish="content_filter"), True),
        (failure(400, code="content_filter"), True),
        (failure(400, "too long", code="context_length_exceeded"), True),
        (completion("no JSON"), True),
        (completion("{", finish="length"), True),
    ],
)
def test_what_another_question_would_not_cure_is_told_apart(tmp_path: Path, step: Step, lasting: bool):
    with FakeServer([step]) as server, pytest.raises(JudgeFailed) as failed:
        judge(server, tmp_path).decide("Is it?", ("yes", "no"))
    assert failed.value.lasting is lasting


def test_a_judge_that_declines_much_is_asked_all_the_same(tmp_path: Path):
    with FakeServer([completion(None, refusal="I won't.")]) as server:
        subject = judge(server, tmp_path)
        for i in range(MAX_FAILURES + 5):
            with pytest.raises(JudgeFailed, match="declined to answer"):
                subject.decide(f"{i}?", ("yes", "no"))
    assert len(server.requests) == MAX_FAILURES + 5
    assert list(subject.troubles.values()) == [MAX_FAILURES + 5]


def test_a_verdict_is_kept_for_its_question_alone(tmp_path: Path):
    with FakeServer([says("yes"), says("no"), says("tie")]) as server:
        subject = judge(server, tmp_path, input_price=1.0, output_price=2.0)
        assert [subject.decide("a", ("yes", "no")) for _ in range(3)] == ["yes"] * 3
        assert subject.decide("b", ("yes", "no")) == "no"
        assert subject.decide("a", ("yes", "no", "tie")) == "tie"
        assert judge(server, tmp_path).decide("a", ("yes", "no")) == "yes"
    assert len(server.requests) == 3
    totals = subject.totals()
    assert (totals["judge_calls"], totals["judge_calls_cached"], totals["judge_calls_failed"]) == (5, 2, 0)
    assert (totals["judge_input_tokens"], totals["judge_output_tokens"]) == (30, 15)
    assert totals["judge_cost"] == pytest.approx(60e-6)


def test_a_judge_that_is_down_is_not_asked_for_ever(tmp_path: Path):
    with FakeServer([failure(401)]) as server:
        subject = judge(server, tmp_path)
        for i in range(MAX_FAILURES + 5):
            with pytest.raises(JudgeFailed):
                subject.decide(f"{i}?", ("yes", "no"))
        with pytest.raises(JudgeFailed, match=f"Not asked: llm:m-1 failed {MAX_FAILURES} times"):
            subject.decide("x", ("yes", "no"))
    assert len(server.requests) == MAX_FAILURES


def test_a_success_between_failures_starts_the_count_again(tmp_path: Path):
    steps = [step for _ in range(3) for step in (*[failure(401)] * (MAX_FAILURES - 1), says("yes"))]
    with FakeServer(steps) as server:
        subject = judge(server, tmp_path)
        for i in range(len(steps)):
            with contextlib.suppress(JudgeFailed):
                subject.decide(f"{i}?", ("yes", "no"))
    assert len(server.requests) == len(steps)


def test_questions_from_many_threads(tmp_path: Path):
    with FakeServer([says("yes")]) as server, ThreadPoolExecutor(8) as threads:
        subject = judge(server, tmp_path)
        found = list(threads.map(lambda i: subject.decide(f"{i}?", ("yes", "no")), range(40)))
    assert found == ["yes"] * 40
    assert subject.totals()["judge_calls"] == len(server.requests) == 40


def test_text_that_cannot_be_sent_is_sent_without_it(tmp_path: Path):
    with FakeServer([says("yes")]) as server:
        assert judge(server, tmp_path).decide("\ud800 \x00?", ("yes", "no")) == "yes"
    assert server.requests[0]["messages"][0]["content"].startswith("? \x00?")


@pytest.mark.parametrize("verdicts", [(), ("yes",), ("yes", "yes")])
def test_verdicts_must_be_told_apart(verdicts):
    with pytest.raises(ValueError, match="expected two different ones or more"):
        verdict_schema(verdicts)


def test_a_pair_through_the_server(tmp_path: Path):
    pair = cases.example(prompt="2 + 2?", details={"baseline": "5"})
    with FakeServer([says("first"), says("second")]) as server:
        score = judge_pair.POLICY.score(pair, cases.completion("4"), judge(server, tmp_path))
    assert (score.value, score.answer) == (1.0, "first, then second")
    assert len(server.requests) == 2
