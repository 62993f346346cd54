import json
from pathlib import Path

import pydantic
import pytest
from hypothesis import given
from pydantic import SecretStr

from cg_pipeline.llm.answers import load_answer, read_response, save_answer
from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.wire import Fault
from tests.llm.fake_server import completion
from tests.strategies import TEXT

ENDPOINT = Endpoint(base_url="http://h/v1", model="m")
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


class Pair(pydantic.BaseModel):
    name: str
    size: int


PAIR = Pair(name="a", size=1)


def read(step):
    return read_response(step[2].decode(), Pair, ENDPOINT)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "a", "size": 1}',
        '```json\n{"name": "a", "size": 1}\n```',
        '<think>{"name": "b"} or so?</think>\n{"name": "a", "size": 1}',
        'Here it is: {"name": "a", "size": 1}. Anything else?',
    ],
)
def test_json_is_found_inside_text(text):
    assert read(completion(text)) == (PAIR, Usage(input_tokens=10, output_tokens=5))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"name": "a"}', "size: Field required"),
        ('{"name": "a", "size": "1"}', "size: Input should be a valid integer"),
        ("no idea", "answer: Invalid JSON: expected ident at line 1 column 2"),
        ("", "answer: Invalid JSON: EOF while parsing a value at line 1 column 0"),
        (None, "answer: Invalid JSON: EOF while parsing a value at line 1 column 0"),
        ("[" * 3000, "answer: Invalid JSON: recursion limit exceeded"),
    ],
)
def test_an_answer_outside_the_schema_is_to_be_corrected(text, complaint):
    """F11: what cannot be parsed is a fault with its reason, never a value."""
    fault, usage = read(completion(text))
    assert isinstance(fault, Fault)
    assert (fault.remedy, fault.answer) == ("correct", text or "")
    assert fault.reason.startswith(f"gave an unusable answer ({complaint}")
    assert usage.output_tokens == 5


@pytest.mark.parametrize(
    ("step", "remedy", "reason", "kind"),
    [
        (completion(None, refusal="I cannot."), "none", "declined to answer (I cannot.)", "refused"),
        (completion("", finish="content_filter"), "none", "withheld the answer (content filter)", "refused"),
        (
            completion('{"name": "a', finish="length"),
            "lengthen",
            "was cut off before the answer was complete",
            "",
        ),
    ],
)
def test_an_answer_withheld_or_cut_off(step, remedy, reason, kind):
    assert read(step)[0] == Fault(reason=reason, remedy=remedy, kind=kind)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('{"choices": []}', "sent a completion without an answer"),
        ("", "sent something other than a chat completion (nothing)"),
        ("<html>oops</html>", "sent something other than a chat completion (an HTML page)"),
        ('{"error": "later"}', 'sent something other than a chat completion ({"error": "later"})'),
        (
            '{"choices": [{"message": null}]}',
            'sent something other than a chat completion ({"choices": [{"mes',
        ),
    ],
)
def test_a_body_that_is_no_completion_may_pass(body, reason):
    fault, usage = read_response(body, Pair, ENDPOINT)
    assert isinstance(fault, Fault)
    assert fault.remedy == "wait"
    assert fault.reason.startswith(reason)
    assert usage == Usage(n_unreported=1)


def test_unreported_tokens_are_counted_as_unknown():
    answer, usage = read(completion('{"name": "a", "size": 1}', tokens=None))
    assert answer == PAIR
    assert usage == Usage(n_unreported=1)
    assert usage + Usage(input_tokens=3) == Usage(input_tokens=3, n_unreported=1)


@pytest.mark.parametrize("finish", ["error", "abort", "cancelled"])
def test_an_answer_that_was_broken_off_is_asked_again(finish):
    sent = completion(PAIR.model_dump_json(), finish=finish)
    assert read(sent)[0] == Fault(reason=f"broke off the answer ({finish})", remedy="wait")


def test_an_error_beside_an_answer_counts():
    body = {**json.loads(completion(PAIR.model_dump_json())[2]), "error": {"message": "overloaded"}}
    fault, usage = read_response(json.dumps(body), Pair, ENDPOINT)
    assert fault == Fault(reason="sent an error along with HTTP 200 (overloaded)", remedy="wait")
    assert usage.output_tokens == 5


SECRET = "sk/very/secret/0123456789"
ESCAPES = [
    lambda text: text.replace("/", "\\/"),
    lambda text: text.replace("sk", "\\u0073k"),
    lambda text: text.replace("sk", "\\u0073\\u006B").replace("/", "\\u002f"),
]


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("deep", [False, True])
def test_an_escaped_key_is_taken_out(escape, deep):
    endpoint = Endpoint(base_url="http://h/v1", model="m", api_key=SecretStr(SECRET))
    inner = json.dumps({"name": SECRET, "size": 1})
    said = completion(escape(inner) if deep else inner)[2].decode()
    sent = said if deep else escape(said)
    assert read_response(sent, Pair, endpoint)[0] == Pair(name="[key]", size=1)
    declined = escape(completion(None, refusal=f"No, {SECRET}!")[2].decode())
    assert read_response(declined, Pair, endpoint)[0].reason == "declined to answer (No, [key]!)"
    odd = escape(json.dumps({"odd": SECRET}))
    assert '"[key]"' in read_response(odd, Pair, endpoint)[0].reason


@given(TEXT)
def test_no_text_breaks_the_reader(text):
    assert isinstance(read_response(text, Pair, ENDPOINT)[0], Fault)
    assert isinstance(read(completion(text))[0], Fault)


def test_an_answer_is_kept_and_found_again(tmp_path: Path):
    path = tmp_path / "new" / "a.json"
    assert load_answer(path, REQUEST, Pair) is None
    save_answer(path, REQUEST, PAIR, Usage(input_tokens=2))
    assert load_answer(path, REQUEST, Pair) == (PAIR, Usage(input_tokens=2))
    assert [entry.name for entry in path.parent.iterdir()] == ["a.json"]
    assert json.loads(path.read_text())["usage"]["input_tokens"] == 2


def test_a_kept_answer_serves_its_own_request_only(tmp_path: Path):
    """F1: even if two requests met in one file name, neither gets the other's answer."""
    path = tmp_path / "a.json"
    save_answer(path, REQUEST, PAIR, Usage())
    assert load_answer(path, {**REQUEST, "model": "other"}, Pair) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"request": 1}',
        b'{"answer": {"name": "a"}, "request": 1}',
        json.dumps({"answer": vars(PAIR), "request": REQUEST}).encode(),
        json.dumps({"answer": vars(PAIR), "request": REQUEST, "usage": [1]}).encode(),
        b"[" * 99999,
    ],
)
def test_a_damaged_entry_is_absent(tmp_path: Path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert load_answer(path, REQUEST, Pair) is None


def test_a_disk_that_refuses_is_reported(tmp_path: Path, caplog):
    (tmp_path / "a.json").mkdir()
    (tmp_path / "a.json" / "occupied").touch()
    save_answer(tmp_path / "a.json", REQUEST, PAIR, Usage())
    assert "could not be kept" in caplog.text
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]
    (tmp_path / "file").touch()
    save_answer(tmp_path / "file" / "a.json", REQUEST, PAIR, Usage())
    assert caplog.text.count("could not be kept") == 2
