import json
import logging
import re
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from pydantic import SecretStr

from cg_pipeline.llm import asking, failures
from cg_pipeline.llm.asking import Asker
from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.endpoint import Endpoint, Settings
from cg_pipeline.llm.questions import chat_question, counted, measured, raw_question
from cg_pipeline.progress import Progress, ProgressMeter
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Example
from tests.llm.fake_server import FakeServer, completion, failure, measuring, step

KEY = "sk-very-secret-0123456789"
GREEDY = Generation(max_new_tokens=8)


def question(text: str = "2 + 2?", how: Generation = GREEDY, sample: int = 0):
    example = Example(benchmark="b", category="c", cluster="", prompt=text, targets=("4",))
    return chat_question(example, how, system_prompt="", sample=sample)


def asker_of(
    server, cache_dir: Path, *, identity=None, concurrency=1, own_sampling=False, **settings
) -> Asker:
    quick = {"model": "m", "timeout_s": 5.0, "max_retries": 2, "backoff_s": 0.001}
    endpoint = Endpoint(base_url=server.url, **{**quick, **settings})
    return Asker(
        endpoint, cache_dir, identity=identity or {}, concurrency=concurrency, own_sampling=own_sampling
    )


def echo(path, request):
    """A rule: answers with what was asked."""
    return completion("re: " + request["messages"][-1]["content"])


def texts(answers) -> list[str]:
    return [answer.text for answer in answers]


def test_answers_come_in_the_order_of_the_questions(tmp_path: Path):
    def slow_first(path, request):
        time.sleep(0.05 if request["messages"][-1]["content"] == "q0" else 0)
        return echo(path, request)

    with FakeServer(rule=slow_first) as server:
        answers = asker_of(server, tmp_path, concurrency=4).ask([question(f"q{i}") for i in range(8)])
    assert texts(answers) == [f"re: q{i}" for i in range(8)]
    assert set(server.paths) == {"/v1/chat/completions"}
    assert {request["model"] for request in server.requests} == {"m"}


@pytest.mark.parametrize("name", ["n_prompt_tokens", "n_completion_tokens"])
def test_a_kept_answer_that_no_table_takes_is_asked_anew(tmp_path: Path, name):
    with FakeServer(rule=echo) as server:
        [answer] = asker_of(server, tmp_path).ask([question()])
        (path,) = tmp_path.rglob("*.json")
        entry = json.loads(path.read_text("utf-8"))
        entry["answer"][name] = 10**30
        path.write_text(json.dumps(entry), "utf-8")
        assert asker_of(server, tmp_path).ask([question()]) == [answer]
    assert len(server.requests) == 2


@pytest.mark.parametrize("bound", [1, 3])
def test_no_more_requests_are_under_way_than_allowed(tmp_path: Path, bound):
    def slow(path, request):
        time.sleep(0.02)
        return echo(path, request)

    with FakeServer(rule=slow) as server:
        asker_of(server, tmp_path, concurrency=bound).ask([question(f"q{i}") for i in range(12)])
    assert server.most_at_once == bound


def test_a_bound_below_one_is_refused(tmp_path: Path):
    with FakeServer() as server, pytest.raises(ValueError, match="concurrency is 0; expected at least 1"):
        asker_of(server, tmp_path, concurrency=0)


def test_nothing_to_ask_asks_nothing(tmp_path: Path):
    with FakeServer() as server:
        assert asker_of(server, tmp_path).ask([]) == []
    assert server.requests == []


@pytest.mark.parametrize(
    "trouble",
    [
        [failure(429, retry_after="0.01")],
        [failure(500)],
        [failure(500), failure(503)],
        [step("{")],
        [(*completion("4")[:2], b'{"choices": []}', 0.0)],
        [step("<html>", 502)],
    ],
    ids=["429", "500", "500 then 503", "malformed", "no choice", "gateway"],
)
def test_what_waiting_cures_is_tried_again(tmp_path: Path, trouble):
    with FakeServer([*trouble, completion(" 4")]) as server:
        asker = asker_of(server, tmp_path)
        [answer] = asker.ask([question()])
    assert (answer.text, answer.stop) == (" 4", "end")
    assert asker.ledger[0].n_retries == len(trouble)


def test_retry_after_is_honoured(tmp_path: Path):
    with FakeServer([failure(429, retry_after="0.3"), completion("4")]) as server:
        started = time.monotonic()
        asker_of(server, tmp_path).ask([question()])
    assert time.monotonic() - started >= 0.3


@pytest.mark.parametrize(
    ("steps", "settings", "stop", "n_asked"),
    [
        ([failure(500)], {}, "failed", 3),
        ([step("nonsense")], {}, "failed", 3),
        ([step("{}", delay_s=9.0)], {"timeout_s": 0.4}, "timed_out", 3),
        ([failure(504)], {}, "timed_out", 3),
        ([failure(400, "maximum context length is 8 tokens")], {}, "overflow", 1),
        ([failure(400, "no", code="content_filter")], {}, "refused", 1),
        ([failure(400, "odd")], {}, "failed", 1),
    ],
)
def test_what_cannot_be_answered_says_why_and_is_not_kept(tmp_path: Path, steps, settings, stop, n_asked):
    with FakeServer(steps) as server:
        [answer] = asker_of(server, tmp_path, **settings).ask([question()])
    assert (answer.stop, answer.text, len(server.requests)) == (stop, "", n_asked)
    assert "2 + 2?" in answer.prompt
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        (
            [failure(401, f"bad key {KEY}")],
            ValueError,
            "refused the key (HTTP 401); check MY_KEY, after 1 try.",
        ),
        (
            [failure(404, "no such model")],
            ValueError,
            "knows no such address or model (HTTP 404: no such model); "
            "check its address, which usually ends in /v1, and its name, after 1 try.",
        ),
        (
            [failure(429)],
            ConnectionError,
            "answered HTTP 429 (it broke), after 3 tries. Answers so far are kept; run it again.",
        ),
        (
            [failure(429, "spent", code="insufficient_quota")],
            ConnectionError,
            "answered HTTP 429 (spent), after 1 try. Answers so far are kept; run it again.",
        ),
    ],
)
def test_a_fault_of_the_server_as_a_whole_ends_the_run(tmp_path: Path, steps, kind, words):
    settings = Settings(address="its address", model="its name", key="MY_KEY")
    with FakeServer(steps) as server:
        asker = asker_of(server, tmp_path, settings=settings, api_key=SecretStr(KEY))
        with pytest.raises(kind) as caught:
            asker.ask([question()])
    assert str(caught.value).replace(server.url, "URL") == f"Model 'm' at URL {words}"
    assert KEY not in str(caught.value)


def test_a_server_that_is_not_there_ends_the_run(tmp_path: Path):
    with FakeServer() as server:
        pass
    with pytest.raises(ConnectionError, match=r"could not be reached .* Answers so far are kept"):
        asker_of(server, tmp_path).ask([question()])


def test_one_failure_after_another_is_the_servers_fault(tmp_path: Path):
    with FakeServer([failure(500)]) as server:
        asker = asker_of(server, tmp_path, max_retries=0)
        with pytest.raises(ConnectionError, match=r"HTTP 500 .* So did the 10 last questions\."):
            asker.ask([question(f"q{i}") for i in range(30)])
    assert failures.MAX_FAILURES_IN_A_ROW <= len(server.requests) < 30


def test_failures_with_answers_between_are_not(tmp_path: Path):
    def moody(path, request):
        return failure(500) if request["messages"][-1]["content"].endswith("!") else echo(path, request)

    with FakeServer(rule=moody) as server:
        asker = asker_of(server, tmp_path, max_retries=0)
        answers = asker.ask([question(f"q{i}" + "!" * (i % 2)) for i in range(30)])
    assert [answer.stop for answer in answers] == ["end", "failed"] * 15
    assert asker.failures.troubles == {"answered HTTP 500 (it broke)": 15}


def test_a_second_run_asks_nothing_and_costs_nothing(tmp_path: Path):
    questions = [question(f"q{i}") for i in range(5)]
    with FakeServer(rule=echo) as server:
        first = asker_of(server, tmp_path).ask(questions)
        again = asker_of(server, tmp_path, input_price=2.0, output_price=8.0)
        assert again.ask(questions) == first
    assert len(server.requests) == 5
    assert [(call.cached, call.cost) for call in again.ledger] == [(True, 0.0)] * 5


def test_a_run_that_is_killed_asks_only_what_is_missing(tmp_path: Path):
    questions = [question(f"q{i}") for i in range(20)]
    seen: list[str] = []

    def dying(path, request):
        seen.append(request["messages"][-1]["content"])
        return failure(401) if len(seen) == 8 else echo(path, request)

    with FakeServer(rule=dying) as server:
        with pytest.raises(ValueError, match="refused the key"):
            asker_of(server, tmp_path, concurrency=2).ask(questions)
        n_kept = len(list(tmp_path.rglob("*.json")))
        assert 7 <= n_kept < 20
        n_asked = len(seen)
        answers = asker_of(server, tmp_path, concurrency=2).ask(questions)
    assert texts(answers) == [f"re: q{i}" for i in range(20)]
    assert len(seen) - n_asked == 20 - n_kept


def test_an_interruption_stops_asking(tmp_path: Path, monkeypatch):
    def interrupt(self, futures, meter):
        time.sleep(0.1)
        raise KeyboardInterrupt

    def slow(path, request):
        time.sleep(0.02)
        return echo(path, request)

    monkeypatch.setattr(Asker, "_follow", interrupt)
    with FakeServer(rule=slow) as server:
        with pytest.raises(KeyboardInterrupt):
            asker_of(server, tmp_path, concurrency=2).ask([question(f"q{i}") for i in range(100)])
        n_asked = len(server.requests)
        time.sleep(0.1)
    assert len(server.requests) == n_asked < 100
    assert len(list(tmp_path.rglob("*.json"))) == n_asked


@pytest.mark.parametrize("change", ["model", "identity", "address", "text", "temperature", "sample", "limit"])
def test_whatever_changes_the_answer_misses_the_cache(tmp_path: Path, change):
    """F1: model, revision, parameters and prompt are part of the key."""
    with FakeServer(rule=echo) as server, FakeServer(rule=echo) as other:
        asker_of(server, tmp_path).ask([question()])
        target = other if change == "address" else server
        settings = {"model": "n"} if change == "model" else {}
        identity = {"revision": "2"} if change == "identity" else {}
        how = {
            "temperature": Generation(max_new_tokens=8, temperature=1.0),
            "limit": Generation(max_new_tokens=9),
        }
        asked = question(
            "3 + 3?" if change == "text" else "2 + 2?", how.get(change, GREEDY), int(change == "sample")
        )
        asker = asker_of(target, tmp_path, identity=identity, **settings)
        asker.ask([asked])
    assert [call.cached for call in asker.ledger] == [False]


@pytest.mark.parametrize("damage", ["", "{", '{"request": {}, "answer": {}}'])
def test_a_damaged_entry_is_asked_for_again(tmp_path: Path, damage):
    with FakeServer(rule=echo) as server:
        asker_of(server, tmp_path).ask([question()])
        [entry] = tmp_path.rglob("*.json")
        entry.write_text(damage)
        [answer] = asker_of(server, tmp_path).ask([question()])
    assert (answer.text, len(server.requests)) == ("re: 2 + 2?", 2)
    assert json.loads(entry.read_text())["answer"]["text"] == "re: 2 + 2?"


def test_the_key_is_in_no_file_and_no_log(tmp_path: Path, caplog):
    caplog.set_level(logging.DEBUG, "cg_pipeline")
    with FakeServer([failure(500, f"bad {KEY}"), completion(f"your key is {KEY}")]) as server:
        [answer] = asker_of(server, tmp_path, api_key=SecretStr(KEY)).ask([question()])
    assert answer.text == "your key is [key]"
    kept = "".join(path.read_text() for path in tmp_path.rglob("*.json"))
    assert KEY not in kept + caplog.text
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


DRAWN = Generation(max_new_tokens=8, temperature=0.7, top_p=0.9)


@pytest.mark.parametrize(("name", "how"), [("temperature", GREEDY), ("temperature", DRAWN), ("top_p", DRAWN)])
def test_a_server_that_draws_as_it_pleases_is_not_taken_for_one_that_obeys(tmp_path: Path, name, how):
    def rule(path, request):
        if name in request:
            return failure(400, f"Only the default {name} is supported", param=name)
        return completion("4")

    with FakeServer(rule=rule) as server:
        with pytest.raises(ValueError, match="own_sampling") as caught:
            asker_of(server, tmp_path).ask([question(how=how)])
        n_asked = len(server.requests)
        asker = asker_of(server, tmp_path, own_sampling=True)
        [accepted] = asker.ask([question(how=how)])
    assert str(caught.value).replace(server.url, "URL") == (
        f"Model 'm' at URL refuses {name} and would draw its answers as it pleases (answered HTTP 400 "
        f"(Only the default {name} is supported)); set own_sampling=True in its spec to accept that, "
        "after 1 try."
    )
    assert n_asked == 1
    assert (accepted.text, asker.refused) == ("4", {name})


def test_a_refused_parameter_is_left_out_from_then_on_and_said(tmp_path: Path, caplog):
    def strict(path, request):
        if "max_tokens" in request:
            words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return failure(400, words, param="max_tokens")
        return echo(path, request)

    with FakeServer(rule=strict) as server:
        asker = asker_of(server, tmp_path)
        asker.ask([question("a"), question("b")])
    assert ["max_completion_tokens" in request for request in server.requests] == [False, True, True]
    assert asker.refused == {"max_tokens"}
    assert "m refuses max_tokens; asked without." in caplog.text


def test_tokens_and_cost_of_wasted_tries_are_counted(tmp_path: Path):
    two_answers = json.loads(completion("4", tokens=(10, 5))[2])
    two_answers["choices"] *= 2
    with FakeServer([step(json.dumps(two_answers)), completion("4", tokens=(10, 5))]) as server:
        asker = asker_of(server, tmp_path, input_price=2.0, output_price=8.0)
        asker.ask([question()])
    assert asker.bill.usage == Usage(input_tokens=20, output_tokens=10)
    assert asker.ledger[0].cost == pytest.approx(120e-6)  # (20 * 2 + 10 * 8) / 1e6


def test_an_unusable_proxy_variable_is_one_sentence(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "gopher://user:hunter2@proxy")
    asker = Asker(Endpoint(base_url="https://llm.example.org/v1", model="m"), tmp_path, identity={})
    with pytest.raises(ValueError, match="proxy") as caught:
        asker.ask([question()])
    assert str(caught.value) == (
        "Model 'm' cannot be asked: a proxy or certificate variable is unusable (ValueError)."
    )
    assert caught.value.__context__ is None  # its words hold the password


def test_progress_is_told(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(asking, "_EVERY_S", 0.0)
    told: list[str] = []
    with FakeServer(rule=echo) as server:
        asker = Asker(Endpoint(base_url=server.url, model="m"), tmp_path, identity={}, report=told.append)
        asker.ask([question(f"q{i}") for i in range(3)])
    assert len(told) >= 3, told
    pattern = r"m: 3 of 3 answers, [\d.,]+ answers/s, [\d.,]+ tokens/s, 0 s left"
    assert re.fullmatch(pattern, told[-1]), told
    assert told[0].startswith("m: 1 of 3 answers, "), told


def test_progress_is_about_what_is_sent(tmp_path: Path, monkeypatch):
    """After a run that was killed: what is on disk makes the rest neither nearer nor quicker."""
    monkeypatch.setattr(asking, "_EVERY_S", 0.0)
    told: list[Progress] = []

    def slow(path, request):
        time.sleep(0.1)
        return completion("4", tokens=(10, 5))

    with FakeServer(rule=echo) as server:
        asker_of(server, tmp_path).ask([question(f"q{i}") for i in range(40)])
        server.rule = slow
        monkeypatch.setattr(asking, "ProgressMeter", heard_by(told))
        asker_of(server, tmp_path).ask([question(f"q{i}") for i in range(44)])
    first, last = told[0], told[-1]
    assert (first.n_done, first.n_total, last.n_done, last.n_tokens) == (1, 4, 4, 60)
    assert first.seconds_left is not None
    assert first.seconds_left >= 0.3
    assert last.done_per_s <= 10


def heard_by(told: list[Progress]):
    """A meter that also passes on what it reports, before it is put in words."""

    def meter(n_total, report, **settings):
        def both(now: Progress) -> None:
            told.append(now)
            report(now)

        return ProgressMeter(n_total, both, bar=False, **settings)

    return meter


def test_nothing_to_send_is_no_progress(tmp_path: Path):
    told: list[str] = []
    with FakeServer(rule=echo) as server:
        for _ in range(2):
            asker = Asker(Endpoint(base_url=server.url, model="m"), tmp_path, identity={}, report=told.append)
            asker.ask([question()])
    assert len(told) == 1  # at the end of the first


RAW = raw_question(
    Example(benchmark="b", category="c", cluster="", prompt="2 + 2?", targets=("4",)), GREEDY, sample=0
)


@pytest.mark.parametrize(
    ("asked", "unit"), [(RAW, "answers"), (counted("a b"), "contexts"), (measured("a b", skip=1), "texts")]
)
def test_progress_says_what_it_counts(tmp_path: Path, asked, unit):
    told: list[str] = []
    with FakeServer(rule=measuring) as server:
        asker = Asker(Endpoint(base_url=server.url, model="m"), tmp_path, identity={}, report=told.append)
        asker.ask([asked])
    assert told[0].startswith(f"m: 1 of 1 {unit}, ")


@pytest.mark.parametrize("concurrency", [1, 4])
def test_equal_questions_are_asked_once(tmp_path: Path, concurrency):
    def slow(path, request):
        time.sleep(0.02)
        return echo(path, request)

    questions = [question("a"), question("b"), question("a"), question("a"), question("a", sample=1)]
    with FakeServer(rule=slow) as server:
        asker = asker_of(server, tmp_path, concurrency=concurrency)
        answers = asker.ask(questions)
        n_asked = len(server.requests)
    assert texts(answers) == ["re: a", "re: b", "re: a", "re: a", "re: a"]
    assert n_asked == 3
    assert sorted(call.cached for call in asker.ledger) == [False] * 3 + [True] * 2


def test_threads_end_with_the_asking(tmp_path: Path):
    with FakeServer(rule=echo) as server:
        asker_of(server, tmp_path, concurrency=4).ask([question(f"q{i}") for i in range(8)])
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]


def asked_of(server) -> list[str]:
    return [request["messages"][-1]["content"] for request in server.requests]


def test_a_question_that_waits_holds_up_no_other(tmp_path: Path):
    failed: list[str] = []

    def once(path, request):
        text = request["messages"][-1]["content"]
        if text == "q0" and not failed:
            failed.append(text)
            return failure(500)
        return echo(path, request)

    with FakeServer(rule=once) as server:
        asker = asker_of(server, tmp_path, backoff_s=0.4)
        answers = asker.ask([question(f"q{i}") for i in range(4)])
    assert texts(answers) == [f"re: q{i}" for i in range(4)]
    asked = asked_of(server)
    assert asked[:2] == ["q0", "q1"]
    assert sorted(asked) == ["q0", "q0", "q1", "q2", "q3"]


def test_a_server_that_asks_for_a_pause_gets_it_from_all(tmp_path: Path):
    came: list[float] = []

    def busy(path, request):
        came.append(time.monotonic())
        return failure(429, retry_after="0.3") if len(came) == 1 else echo(path, request)

    with FakeServer(rule=busy) as server:
        asker_of(server, tmp_path).ask([question(f"q{i}") for i in range(3)])
    assert asked_of(server) == ["q0", "q0", "q1", "q2"]
    assert came[1] - came[0] >= 0.3


def test_a_server_that_answers_some_and_turns_others_away_is_asked_on(tmp_path: Path):
    """Two questions every 50 ms and no word of when to come back: far more tries than one question has."""
    came: list[float] = []

    def rationed(path, request):
        if sum(time.monotonic() - each < 0.05 for each in came) >= 2:
            return failure(429)
        came.append(time.monotonic())
        return echo(path, request)

    with FakeServer(rule=rationed) as server:
        asker = asker_of(server, tmp_path, concurrency=8, max_retries=2, backoff_s=0.02)
        answers = asker.ask([question(f"q{i}") for i in range(30)])
    assert texts(answers) == [f"re: q{i}" for i in range(30)]


def test_what_goes_wrong_between_turns_ends_the_asking(tmp_path: Path, monkeypatch):
    def broken(self):
        raise OverflowError("timestamp too large")

    monkeypatch.setattr(asking.Turns, "take", broken)
    with FakeServer(rule=echo) as server, pytest.raises(OverflowError, match="too large"):
        asker_of(server, tmp_path).ask([question()])


def test_a_server_that_fails_everybody_is_not_asked_everything_first(tmp_path: Path):
    with FakeServer([failure(500)]) as server:
        asker = asker_of(server, tmp_path, concurrency=2, backoff_s=0.05)
        with pytest.raises(ConnectionError, match=r"after 3 tries. So did the 10 last questions"):
            asker.ask([question(f"q{i}") for i in range(200)])
    asked = Counter(asked_of(server))
    assert len(asked) <= 2 * failures.MAX_FAILURES_IN_A_ROW
    assert max(asked.values()) == 3


def test_what_a_killed_run_paid_is_counted_by_the_next_and_only_once(tmp_path: Path):
    def dying(path, request):
        answered = len(server.requests) <= 3
        return echo(path, request) if answered else failure(401)

    questions = [question(f"q{i}") for i in range(5)]
    with FakeServer(rule=dying) as server:
        with pytest.raises(ValueError, match="refused the key"):
            asker_of(server, tmp_path).ask(questions)
        server.rule = echo
        asker = asker_of(server, tmp_path, input_price=1.0, output_price=10.0)
        asker.ask(questions)
        asker.ask(questions)
    assert asker.bill.usage == Usage(input_tokens=2 * 10, output_tokens=2 * 5)
    assert asker.bill.usage_in_all == Usage(input_tokens=5 * 10, output_tokens=5 * 5)
    assert asker.bill.price(asker.bill.usage_in_all) == pytest.approx((50 * 1 + 25 * 10) / 1e6)


def test_a_probe_is_billed_though_it_is_not_kept(tmp_path: Path):
    with FakeServer(rule=measuring) as server:
        asker = asker_of(server, tmp_path)
        asker.try_patiently(counted("a b"))
    assert asker.bill.usage == Usage(input_tokens=2, output_tokens=1)
    assert list(tmp_path.rglob("*.json")) == []
