import contextlib
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import pytest
from pydantic import SecretStr

from cg_pipeline.llm import wire
from cg_pipeline.llm.endpoint import Endpoint, Settings
from cg_pipeline.llm.wire import Fault, connect, post, quote
from tests.llm.fake_server import FakeServer, failure, good, step

KEY = "sk-very-secret-0123456789"
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.0}


def send(server, **settings):
    endpoint = Endpoint(base_url=server.url, model="m", **{"timeout_s": 5.0, **settings})
    with connect(endpoint) as client:
        return post(client, endpoint, REQUEST)


def test_the_body_comes_back_as_sent():
    with FakeServer([step('{"any": "thing"}')]) as server:
        assert send(server) == '{"any": "thing"}'
    assert server.paths == ["/v1/chat/completions"]
    assert server.requests == [REQUEST]


def test_only_the_endpoint_decides_what_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ambient")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-ambient")
    monkeypatch.setenv("OPENAI_ORG_ID", "ambient")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "ambient")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/ambient")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-ambient")
    with FakeServer([good()]) as server:
        assert isinstance(send(server), str)
        assert isinstance(send(server, api_key=SecretStr(KEY)), str)
    assert [headers["authorization"] for headers in server.headers] == ["Bearer none", f"Bearer {KEY}"]
    assert "ambient" not in str(server.headers)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_no_proxy_comes_before_a_loopback_address(monkeypatch, variable):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with FakeServer([failure(500, "the proxy was asked")]) as proxy, FakeServer([good()]) as server:
        monkeypatch.setenv(variable, proxy.url)
        assert isinstance(send(server), str)
    assert proxy.requests == []


def test_a_redirect_is_not_followed():
    with FakeServer([good()]) as elsewhere:
        moved = step("", 307, location=f"{elsewhere.url}/chat/completions")
        with FakeServer([moved]) as server:
            fault = send(server)
    assert isinstance(fault, Fault)
    assert fault.remedy == "none"
    assert "HTTP 307" in fault.reason
    assert elsewhere.requests == []


REMEDIES = {
    "omit": [400, 422],
    "none": [401, 403, 404, 413],
    "wait": [408, 409, 429, 500, 502, 503, 529],
}


@pytest.mark.parametrize(
    ("status", "remedy"), [(status, remedy) for remedy, listed in REMEDIES.items() for status in listed]
)
def test_each_status_has_its_remedy(status, remedy):
    with FakeServer([failure(status, "unsupported value: temperature")]) as server:
        fault = send(server)
    assert isinstance(fault, Fault)
    assert (fault.remedy, fault.parameter) == (remedy, "temperature" if remedy == "omit" else "")
    assert str(status) in fault.reason


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, "insufficient_quota", "server"),
        (400, "content_filter", "refused"),
        (400, "context_length_exceeded", "overflow"),
        (413, "", "overflow"),
    ],
)
def test_what_no_retry_can_cure_is_not_retried(status, code, kind):
    with FakeServer([failure(status, "No.", code=code)]) as server:
        fault = send(server)
    assert fault == Fault(reason=f"answered HTTP {status} (No.)", remedy="none", kind=kind)


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 128 tokens. However, your messages resulted in 203 tokens.",
        "'max_tokens' or 'max_completion_tokens' is too large: 64. The maximum context length is 128 tokens.",
        "The decoder prompt (length 203) is longer than the maximum model length of 128.",
        "the request exceeds the available context size. try increasing the context size",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 128. Given: 203",
        "The input (203 tokens) is longer than the model's context length (128 tokens).",
        "prompt is too long: 203 tokens > 128 maximum",
        "Prompt contains 203 tokens, too large for model with 128 maximum context length",
        "The input token count (203) exceeds the maximum number of tokens allowed (128).",
    ],
)
def test_every_server_says_in_its_own_words_that_a_text_is_too_long(words):
    with FakeServer([failure(400, words)]) as server:
        fault = send(server)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.remedy) == ("overflow", "none")


@pytest.mark.parametrize(
    ("words", "parameter"),
    [
        ("property 'stop' is unsupported", "stop"),
        ("please stop that", ""),
        ("unknown field `seed`", "seed"),
        ("Unrecognized request argument supplied: continue_final_message", "continue_final_message"),
        ("The conversation must end with a user message.", "continue_final_message"),
    ],
)
def test_a_refused_parameter_is_found_by_its_name(words, parameter):
    request = {**REQUEST, "stop": ["x"], "seed": 1, "continue_final_message": True}
    with FakeServer([failure(400, words)]) as server:
        endpoint = Endpoint(base_url=server.url, model="m")
        with connect(endpoint) as client:
            fault = post(client, endpoint, request)
    assert isinstance(fault, Fault)
    assert fault.parameter == parameter


def test_errors_name_what_the_endpoint_was_set_by():
    settings = Settings(address="base_url of model 'a'", model="its name", key="MY_KEY")
    with FakeServer([failure(401), failure(404)]) as server:
        reasons = [send(server, settings=settings).reason for _ in range(2)]
    assert reasons[0] == "refused the key (HTTP 401); check MY_KEY"
    assert reasons[1].endswith("check base_url of model 'a', which usually ends in /v1, and its name")


def test_the_words_of_a_server_that_refuses_the_key_are_left_out():
    with FakeServer([failure(401, "Incorrect API key: sk-very-***6789")]) as server:
        fault = send(server, api_key=SecretStr(KEY))
    assert fault == Fault(
        reason="refused the key (HTTP 401); check CG_LLM_API_KEY", remedy="none", kind="settings"
    )


def test_a_wrong_address_or_model_is_explained():
    page = step("<html><h1>404</h1></html>", 404, content_type="text/html")
    with FakeServer([page]) as server:
        fault = send(server)
    assert fault == Fault(
        reason="knows no such address or model (HTTP 404: an HTML page); "
        "check CG_LLM_BASE_URL, which usually ends in /v1, and CG_LLM_MODEL",
        remedy="none",
        kind="settings",
    )


@pytest.mark.parametrize("path", ["error", "body"])
def test_an_echoed_key_is_taken_out(path):
    echo = failure(500, f"bad {KEY}") if path == "error" else step(f'{{"echo": "{KEY}"}}')
    with FakeServer([echo]) as server:
        outcome = send(server, api_key=SecretStr(KEY))
    assert "[key]" in str(outcome)
    assert KEY not in str(outcome)


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [("2", 2.0), ("0.5", 0.5), ("0", 0.0), ("-3", 0.0), ("soon", None), ("nan", None), ("", None)],
)
def test_retry_after_as_a_number(header, wait_s):
    with FakeServer([failure(429, retry_after=header)]) as server:
        fault = send(server)
    assert fault == Fault(reason="answered HTTP 429 (it broke)", remedy="wait", wait_s=wait_s, kind="server")


def test_retry_after_as_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with FakeServer([failure(503, retry_after=date)]) as server:
        fault = send(server)
    assert isinstance(fault, Fault)
    assert fault.wait_s == pytest.approx(30, abs=2)


@pytest.mark.parametrize("header", ["3600", "inf"])
def test_a_server_that_asks_for_too_long_a_wait_is_given_up(header):
    with FakeServer([failure(429, retry_after=header)]) as server:
        fault = send(server)
    words = f"answered HTTP 429 (it broke) and asks to wait {header} s, more than the 60 s allowed"
    assert fault == Fault(reason=words, remedy="none", kind="server")


def test_a_slow_server_is_a_timeout():
    with FakeServer([step("{}", delay_s=3.0)]) as server:
        fault = send(server, timeout_s=0.1)
    assert fault == Fault(reason="did not answer within 0.1 s", remedy="wait", kind="timed_out")


@contextlib.contextmanager
def serving_raw(head: bytes, part: bytes, rest_s: float):
    """A server that sends a head, then one part after the other until the client has gone."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            talk, _ = listening.accept()
            with talk:
                talk.recv(1 << 16)
                talk.sendall(head)
                while not closing.wait(rest_s):
                    talk.sendall(part)

    closing = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield SimpleNamespace(url=f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        closing.set()
    thread.join(5)


def head(status: int) -> bytes:
    return f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n".encode()


@pytest.mark.parametrize("status", [200, 400, 401, 429, 500])
def test_a_body_that_trickles_past_the_deadline_is_a_timeout(status):
    started = time.monotonic()
    with serving_raw(head(status), b" ", 0.05) as server:
        fault = send(server, timeout_s=0.4)
    assert fault == Fault(reason="did not answer within 0.4 s", remedy="wait", kind="timed_out")
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"x-slow: 1\r\n"),
        (b"HTTP/1.1 200 OK\r\nx-slow: ", b"1"),
        (b"", b"H"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n"),
        (head(200)[:-2] + b"transfer-encoding: chunked\r\n\r\n", b"0"),
    ],
    ids=["headers", "one header", "status line", "informational", "chunk header"],
)
def test_a_head_that_trickles_past_the_deadline_is_a_timeout(start, part):
    started = time.monotonic()
    with serving_raw(start, part, 0.05) as server:
        fault = send(server, timeout_s=0.4)
    assert isinstance(fault, Fault)
    assert (fault.reason, fault.kind) == ("did not answer within 0.4 s", "timed_out")
    assert time.monotonic() - started < 3


def test_a_connection_that_is_used_again_is_bounded_anew():
    """The second request has all of its time, and not more."""
    whole = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"

    def serve() -> None:
        talk, _ = listening.accept()
        with talk, contextlib.suppress(OSError):
            for pause in (0.0, 0.35, 0.35):
                talk.recv(1 << 16)
                time.sleep(pause)
                talk.sendall(whole)
            talk.recv(1 << 16)
            while True:
                talk.sendall(b"H")
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        endpoint = Endpoint(base_url=url, model="m", timeout_s=0.6)
        with connect(endpoint) as client:
            outcomes = [post(client, endpoint, REQUEST) for _ in range(4)]
    assert outcomes[:3] == ["{}"] * 3
    assert outcomes[3] == Fault(reason="did not answer within 0.6 s", remedy="wait", kind="timed_out")


@pytest.mark.parametrize(("status", "remedy"), [(400, "none"), (404, "none"), (429, "wait"), (503, "wait")])
def test_an_error_without_end_is_judged_by_its_status(status, remedy):
    with serving_raw(head(status), b"x" * (1 << 16), 0.0) as server:
        fault = send(server, timeout_s=20.0)
    assert isinstance(fault, Fault)
    assert (fault.remedy, f"HTTP {status}" in fault.reason, len(fault.reason) < 400) == (remedy, True, True)


def test_a_body_without_end_is_cut_off():
    with FakeServer([step(b" " * (wire.MAX_BODY_BYTES + 1))]) as server:
        fault = send(server)
    assert fault == Fault(reason="sent more than 1048576 bytes", remedy="none")


def test_a_closed_port_cannot_be_reached():
    with FakeServer([good()]) as server:
        pass  # its port is free again
    fault = send(server)
    assert isinstance(fault, Fault)
    assert fault.remedy == "wait"
    assert fault.reason == "could not be reached ([Errno 111] Connection refused)"


def test_a_body_that_is_not_what_its_header_says():
    with FakeServer([step(b"not gzip", content_encoding="gzip")]) as server:
        fault = send(server)
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("could not be reached (")


def test_quoted_words_fit_a_sentence():
    endpoint = Endpoint(base_url="http://h/v1", model="m")
    assert quote("a\n\x1b[31m\u202e b", endpoint) == "a [31m b"
    assert quote("  <!doctype html><p>", endpoint) == "an HTML page"
    assert quote("x" * 500, endpoint) == "x" * 200 + "…"
