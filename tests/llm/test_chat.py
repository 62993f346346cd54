import json
import logging
import threading
from pathlib import Path

import pydantic
import pytest
from pydantic import SecretStr

from cg_pipeline.llm import chat
from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.chat import ChatModel
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.protocols import NamingFailed
from tests.llm.fake_server import GOOD, FakeServer, completion, failure, good, step

KEY = "sk-very-secret-0123456789"
ASK = [{"role": "user", "content": "Name it."}]


class Named(pydantic.BaseModel):
    name: str
    explanation: str


class Sized(pydantic.BaseModel):
    name: str
    explanation: str
    size: int = 1


def talk_to(server, cache_dir, **settings) -> ChatModel:
    quick = {"model": "m", "timeout_s": 5.0, "max_retries": 2, "backoff_s": 0.001}
    return ChatModel(Endpoint(base_url=server.url, **{**quick, **settings}), cache_dir)


def fails(server, cache_dir, **settings) -> tuple[str, ChatModel]:
    """The sentence of the failure, which is one for people: no key, no traceback behind it, nothing kept."""
    model = talk_to(server, cache_dir, **settings)
    with pytest.raises(NamingFailed) as caught:
        model.ask(ASK, Named)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert list(cache_dir.rglob("*")) == []
    assert [(call.answered, call.cached) for call in model.ledger] == [(False, False)]
    return str(caught.value).replace(server.url, "URL"), model


def test_a_good_answer(tmp_path: Path):
    with FakeServer([good()]) as server:
        model = talk_to(server, tmp_path, input_price=2.0, output_price=8.0)
        reply = model.ask(ASK, Named)
    assert reply.value == Named(**GOOD)
    assert reply.usage == Usage(input_tokens=10, output_tokens=5)
    assert reply.cost == pytest.approx(60e-6)  # (10 * 2 + 5 * 8) / 1e6
    assert not reply.cached
    assert model.ledger[0].n_retries == 0
    assert model.ledger[0].latency_s > 0


def test_the_request_asks_for_structured_output(tmp_path: Path):
    with FakeServer([good()]) as server:
        talk_to(server, tmp_path).ask(ASK, Named)
    sent = server.requests[0]
    assert (sent["model"], sent["messages"], sent["temperature"]) == ("m", ASK, 0.0)
    assert sent["max_completion_tokens"] == chat.ANSWER_TOKENS
    form = sent["response_format"]["json_schema"]
    assert (sent["response_format"]["type"], form["name"], form["strict"]) == ("json_schema", "Named", True)
    assert form["schema"]["required"] == ["name", "explanation"]
    assert form["schema"]["additionalProperties"] is False


def test_a_cached_answer_makes_no_request_and_costs_nothing(tmp_path: Path):
    with FakeServer([good()]) as server:
        talk_to(server, tmp_path).ask(ASK, Named)
        again = talk_to(server, tmp_path, input_price=2.0, output_price=8.0)
        reply = again.ask(ASK, Named)
    assert len(server.requests) == 1
    assert (reply.value, reply.cached, reply.usage, reply.cost) == (Named(**GOOD), True, Usage(), 0.0)
    assert [(call.cached, call.answered) for call in again.ledger] == [(True, True)]


def test_a_cached_answer_needs_no_server(tmp_path: Path):
    with FakeServer([good()]) as server:
        talk_to(server, tmp_path).ask(ASK, Named)
    elsewhere = ChatModel(Endpoint(base_url="http://127.0.0.1:9/v1", model="m"), tmp_path)
    assert elsewhere.ask(ASK, Named).cached


def test_two_models_on_one_cache_do_not_share_answers(tmp_path: Path):
    """F1: the model is part of the key."""
    with FakeServer([good(name="From A"), good(name="From B")]) as server:
        names = [talk_to(server, tmp_path, model=model).ask(ASK, Named).value.name for model in "ABAB"]
    assert names == ["From A", "From B", "From A", "From B"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("changed", ["prompt", "schema", "temperature", "limit"])
def test_whatever_changes_the_answer_misses_the_cache(tmp_path: Path, monkeypatch, changed):
    """F1: messages, schema and parameters are part of the key."""
    with FakeServer([good()]) as server:
        model = talk_to(server, tmp_path)
        model.ask(ASK, Named)
        if changed == "temperature":
            monkeypatch.setattr(chat, "TEMPERATURE", 0.7)
        if changed == "limit":
            monkeypatch.setattr(chat, "ANSWER_TOKENS", 64)
        messages = [{"role": "user", "content": "Name it!"}] if changed == "prompt" else ASK
        assert not model.ask(messages, Sized if changed == "schema" else Named).cached
    assert len(server.requests) == 2


@pytest.mark.parametrize("damage", ["", "{", '{"request": {}, "answer": {}}'])
def test_a_damaged_entry_is_asked_for_again_and_rewritten(tmp_path: Path, damage):
    with FakeServer([good()]) as server:
        model = talk_to(server, tmp_path)
        model.ask(ASK, Named)
        (entry,) = tmp_path.iterdir()
        whole = entry.read_text()
        entry.write_text(damage)
        assert not model.ask(ASK, Named).cached
        assert entry.read_text() == whole
        assert model.ask(ASK, Named).cached


@pytest.mark.parametrize("bad", ["not json", '{"name": "only"}', '{"name": 3, "explanation": "x"}', ""])
def test_an_invalid_answer_is_corrected(tmp_path: Path, bad):
    """F11: an answer that cannot be parsed is asked for again, with the reason."""
    with FakeServer([completion(bad), good()]) as server:
        model = talk_to(server, tmp_path)
        reply = model.ask(ASK, Named)
    assert reply.value == Named(**GOOD)
    assert reply.usage == Usage(input_tokens=20, output_tokens=10)
    assert model.ledger[0].n_retries == 1
    first, second, third = server.requests[1]["messages"]
    assert [first] == ASK
    assert second == {"role": "assistant", "content": bad or "(nothing)"}
    assert third["role"] == "user"
    assert third["content"].startswith("That cannot be used: you gave an unusable answer (")


def test_answers_that_stay_invalid_end_with_the_reason(tmp_path: Path):
    """F11: never a made-up value; and the tokens of every try are on the bill."""
    with FakeServer([completion('{"name": "only"}')]) as server:
        sentence, model = fails(server, tmp_path, input_price=1.0, output_price=1.0)
    assert sentence == "LLM 'm' at URL gave an unusable answer (explanation: Field required), after 3 tries."
    assert len(server.requests) == 3
    assert model.bill.usage == Usage(input_tokens=30, output_tokens=15)
    assert model.bill.price(model.bill.usage) == pytest.approx(45e-6)
    assert len(server.requests[2]["messages"]) == 3  # only the latest wrong answer is quoted back


def test_a_long_wrong_answer_is_quoted_in_part(tmp_path: Path):
    with FakeServer([completion("x" * 100_000), good()]) as server:
        talk_to(server, tmp_path).ask(ASK, Named)
    assert len(server.requests[1]["messages"][1]["content"]) == 2000


@pytest.mark.parametrize(
    "passing",
    [
        failure(429, retry_after="0"),
        failure(500),
        failure(503),
        step('{"choices": []}'),
        step("<html>down</html>", content_type="text/html"),
        step("<html>down</html>", 502, content_type="text/html"),
    ],
)
def test_a_passing_fault_is_waited_out(tmp_path: Path, passing):
    with FakeServer([passing, passing, good()]) as server:
        model = talk_to(server, tmp_path)
        assert model.ask(ASK, Named).value == Named(**GOOD)
    assert model.ledger[0].n_retries == 2
    assert server.requests[0] == server.requests[2]


def test_a_slow_answer_is_waited_out(tmp_path: Path):
    with FakeServer([step("{}", delay_s=9.0), good()]) as server:
        assert talk_to(server, tmp_path, timeout_s=1.0).ask(ASK, Named).value == Named(**GOOD)


def test_the_wait_is_the_servers_or_grows(tmp_path: Path, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr(chat.time, "sleep", waits.append)
    with FakeServer([failure(429, retry_after="7"), *[failure(500)] * 4, good()]) as server:
        talk_to(server, tmp_path, max_retries=5, backoff_s=2.0, max_wait_s=20.0).ask(ASK, Named)
    assert 7.0 <= waits[0] <= 7.7
    for wait, longest in zip(waits[1:], [4.0, 8.0, 16.0, 20.0], strict=True):
        assert longest / 2 <= wait <= longest


@pytest.mark.parametrize(
    ("steps", "settings", "sentence", "n_requests"),
    [
        ([failure(429, "Slow down.")], {}, "answered HTTP 429 (Slow down.), after 3 tries.", 3),
        ([failure(500)], {"max_retries": 0}, "answered HTTP 500 (it broke), after 1 try.", 1),
        ([failure(401)], {}, "refused the key (HTTP 401); check CG_LLM_API_KEY, after 1 try.", 1),
        ([completion(None, refusal="No.")], {}, "declined to answer (No.), after 1 try.", 1),
        (
            [completion("", finish="content_filter")],
            {},
            "withheld the answer (content filter), after 1 try.",
            1,
        ),
        ([step('{"choices": []}')], {}, "sent a completion without an answer, after 3 tries.", 3),
        (
            [step("<html>", content_type="text/html")],
            {},
            "sent something other than a chat completion (an HTML page), after 3 tries.",
            3,
        ),
        ([step(b" " * 2_000_000)], {}, "sent more than 1048576 bytes, after 1 try.", 1),
        (
            [completion('{"name": "a', finish="length")],
            {},
            "was cut off before the answer was complete, after 3 tries.",
            3,
        ),
        ([failure(400, "Nonsense.")], {}, "answered HTTP 400 (Nonsense.), after 2 tries.", 2),
    ],
)
def test_a_fault_that_stays_is_one_sentence(tmp_path: Path, steps, settings, sentence, n_requests):
    with FakeServer(steps) as server:
        said, model = fails(server, tmp_path, **settings)
    assert said == f"LLM 'm' at URL {sentence}"
    assert len(server.requests) == n_requests
    assert model.ledger[0].n_retries == n_requests - 1


def test_a_server_that_never_answers_is_one_sentence(tmp_path: Path):
    with FakeServer([step("{}", delay_s=9.0)]) as server:
        said, model = fails(server, tmp_path, timeout_s=0.05)
    assert said == "LLM 'm' at URL did not answer within 0.05 s, after 3 tries."
    assert model.ledger[0].n_retries == 2


def test_a_refused_connection_is_one_sentence(tmp_path: Path):
    with FakeServer([good()]) as server:
        pass  # its port is free again
    said, _ = fails(server, tmp_path)
    assert said == "LLM 'm' at URL could not be reached ([Errno 111] Connection refused), after 3 tries."


def test_a_cut_off_answer_is_given_more_room(tmp_path: Path):
    cut = completion('{"name": "Dates and', finish="length")
    with FakeServer([cut, cut, good()]) as server:
        assert talk_to(server, tmp_path).ask(ASK, Named).value == Named(**GOOD)
    assert [sent["max_completion_tokens"] for sent in server.requests] == [1024, 4096, 16384]
    assert all(sent["messages"] == ASK for sent in server.requests)


def test_a_server_without_response_format_is_asked_in_words_once(tmp_path: Path):
    fenced = completion(f"Sure!\n```json\n{json.dumps(GOOD)}\n```")
    with FakeServer([failure(400, "Extra inputs are not permitted"), fenced]) as server:
        model = talk_to(server, tmp_path)
        assert model.ask(ASK, Named).value == Named(**GOOD)
        assert model.ask([{"role": "user", "content": "Another."}], Named).value == Named(**GOOD)
    first, second, third = server.requests
    assert "response_format" in first
    assert "response_format" not in second
    assert "response_format" not in third  # learned
    asked = second["messages"][0]["content"]
    assert asked.startswith("Name it.\n\nAnswer with one JSON object fitting the schema {")
    assert '"required": ["name", "explanation"]' in asked
    assert ASK == [{"role": "user", "content": "Name it."}]


def test_what_helped_against_an_error_of_another_cause_is_not_learned(tmp_path: Path):
    with FakeServer(
        [failure(400, "The prompt is odd."), failure(400, "The prompt is odd."), good()]
    ) as server:
        model = talk_to(server, tmp_path)
        with pytest.raises(NamingFailed):
            model.ask(ASK, Named)
        model.ask(ASK, Named)
    assert ["response_format" in sent for sent in server.requests] == [True, False, True]


def test_a_server_that_knows_the_old_parameters_only(tmp_path: Path):
    refusals = [
        failure(400, "Unsupported value", param="temperature"),
        failure(422, "extra fields not permitted: max_completion_tokens"),
    ]
    with FakeServer([*refusals, good()]) as server:
        talk_to(server, tmp_path).ask(ASK, Named)
    last = server.requests[2]
    assert (last["max_tokens"], "temperature" in last, "max_completion_tokens" in last) == (
        1024,
        False,
        False,
    )
    assert "response_format" in last


def test_the_bill_adds_up_and_survives_a_failure(tmp_path: Path):
    """F5: what was paid for before a fault stays: on the bill, and on disk."""
    steps = [
        good(),
        completion(None, refusal="No."),
        good(name="Third"),
        completion(json.dumps(GOOD), tokens=None),
    ]
    with FakeServer(steps) as server:
        model = talk_to(server, tmp_path, input_price=1.0, output_price=10.0)
        for content in ("one", "two", "three", "four", "one"):
            try:
                model.ask([{"role": "user", "content": content}], Named)
            except NamingFailed:
                assert content == "two"
    assert [call.answered for call in model.ledger] == [True, False, True, True, True]
    assert [call.cached for call in model.ledger] == [False, False, False, False, True]
    assert model.bill.usage == Usage(input_tokens=30, output_tokens=15, n_unreported=1)
    assert model.bill.price(model.bill.usage) == pytest.approx(sum(call.cost or 0.0 for call in model.ledger))
    assert model.bill.price(model.bill.usage) == pytest.approx(180e-6)  # (30 * 1 + 15 * 10) / 1e6
    assert len(list(tmp_path.iterdir())) == 3


def test_without_prices_the_cost_is_unknown_rather_than_nothing(tmp_path: Path):
    with FakeServer([good()]) as server:
        model = talk_to(server, tmp_path)
        assert model.ask(ASK, Named).cost is None
    assert model.bill.price(model.bill.usage) is None


def test_an_interrupted_call_is_on_the_bill(tmp_path: Path, monkeypatch):
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(chat.time, "sleep", interrupt)
    with FakeServer([failure(500)]) as server:
        model = talk_to(server, tmp_path)
        with pytest.raises(KeyboardInterrupt):
            model.ask(ASK, Named)
    assert [call.answered for call in model.ledger] == [False]


def test_an_answer_is_not_lost_to_a_disk_that_refuses(tmp_path: Path, caplog):
    (tmp_path / "file").touch()
    with FakeServer([good()]) as server:
        assert talk_to(server, tmp_path / "file").ask(ASK, Named).value == Named(**GOOD)
    assert "could not be kept" in caplog.text


def test_the_key_is_written_nowhere(tmp_path: Path, caplog):
    caplog.set_level(logging.DEBUG, logger="")
    for name in ("openai", "httpx2", "httpcore2", "cg_pipeline"):
        caplog.set_level(logging.DEBUG, logger=name)
    said = ""
    for steps in (
        [failure(500, f"no {KEY}"), completion(f"I saw {KEY}"), good(explanation=f"It says {KEY}.")],
        [failure(401, f"wrong key {KEY}")],
        [failure(400, f"wrong key {KEY}")],
        [completion(None, refusal=f"Not with {KEY}.")],
    ):
        with FakeServer(steps) as server:
            model = talk_to(server, tmp_path, api_key=SecretStr(KEY), model=f"m{len(steps)}")
            try:
                said += repr(model.ask(ASK, Named))
            except NamingFailed as error:
                said += str(error)
            said += repr((model, vars(model), model.ledger))
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "chat/completions" in caplog.text  # the logs were on
    written = "".join(path.read_text() + path.name for path in tmp_path.iterdir())
    assert "[key]" in written
    for text in (said, caplog.text, written):
        assert KEY not in text


def test_an_unusable_proxy_variable_is_one_sentence(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "gopher://user:hunter2@proxy")
    model = ChatModel(Endpoint(base_url="https://llm.example.org/v1", model="m"), tmp_path)
    with pytest.raises(NamingFailed) as caught:
        model.ask(ASK, Named)
    assert str(caught.value) == (
        "LLM 'm' at https://llm.example.org/v1 cannot be asked: "
        "a proxy or certificate variable is unusable (ValueError)."
    )
    assert caught.value.__context__ is None


def test_two_threads_may_ask_at_once(tmp_path: Path):
    with FakeServer([good()]) as server:
        model = talk_to(server, tmp_path)
        threads = [threading.Thread(target=model.ask, args=(ASK, Named)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(model.ledger) == 2
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]
