import json
import math

import pytest
from pydantic import SecretStr

from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.questions import chat_question, counted, measured, raw_question
from cg_pipeline.llm.replies import AnswerText, read_answer
from cg_pipeline.llm.wire import Fault
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Example
from tests.llm.fake_server import completion, measuring, raw_completion

EXAMPLE = Example(benchmark="b", category="c", cluster="", prompt="2 + 2?", targets=("4",))
CHAT = chat_question(EXAMPLE, Generation(max_new_tokens=5), system_prompt="", sample=0)
RAW = raw_question(EXAMPLE, Generation(max_new_tokens=5), sample=0)
ENDPOINT = Endpoint(base_url="http://h/v1", model="m", api_key=SecretStr("sk-very-secret-0123456789"))


def read(sent, question=CHAT):
    body = sent if isinstance(sent, str) else sent[2].decode()
    return read_answer(body, question, question.build(frozenset()), ENDPOINT)


def answer(sent, question=CHAT) -> AnswerText:
    found, _ = read(sent, question)
    assert isinstance(found, AnswerText)
    return found


def reason(sent, question=CHAT) -> str:
    found, _ = read(sent, question)
    assert isinstance(found, Fault)
    return found.reason


def test_an_answer_with_its_tokens():
    found, usage = read(completion(" 4", tokens=(9, 2)))
    assert found == AnswerText(
        text=" 4",
        stop="end",
        prompt='[{"role": "user", "content": "2 + 2?"}]',
        n_prompt_tokens=9,
        n_completion_tokens=2,
    )
    assert usage == Usage(input_tokens=9, output_tokens=2)


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("model_length", "length"),
        ("content_filter", "refused"),
        ("eos", "end"),
    ],
)
def test_why_an_answer_ends(finish, stop):
    assert answer(completion("4", finish=finish)).stop == stop
    assert answer(raw_completion("4", finish=finish), RAW).stop == stop


def test_an_answer_without_a_reason_was_cut_when_it_is_as_long_as_allowed():
    assert answer(raw_completion("4", finish=None, tokens=(9, 5)), RAW).stop == "length"
    assert answer(raw_completion("4", finish=None, tokens=(9, 4)), RAW).stop == "end"


def test_a_refusal_keeps_its_words():
    found = answer(completion(None, refusal="I will not."))
    assert (found.text, found.stop) == ("I will not.", "refused")


def test_an_answer_of_nothing_is_an_answer():
    assert (answer(completion(None)).text, answer(completion(None)).stop) == ("", "end")


def test_missing_usage_is_counted():
    found, usage = read(completion("4", tokens=None))
    assert isinstance(found, AnswerText)
    assert (found.n_prompt_tokens, usage) == (0, Usage(n_unreported=1))


@pytest.mark.parametrize("n", [0, 2])
def test_another_number_of_answers_than_one_is_a_fault(n):
    body = json.loads(completion("4")[2])
    body["choices"] *= n
    assert reason(json.dumps(body)) == f"sent {n} answers; 1 was wanted"


@pytest.mark.parametrize("body", ["", "{", "[]", "<html>", '{"choices": 3}', "[" * 100_000, "NaN"])
def test_what_is_no_completion_is_a_fault_that_waiting_may_cure(body):
    found, usage = read(body)
    assert isinstance(found, Fault)
    assert found.reason.startswith("sent something other than a completion (")
    assert (found.remedy, usage) == ("wait", Usage(n_unreported=1))


def test_what_cannot_be_stored_is_replaced():
    text = answer(
        '{"choices": [{"message": {"content": "a\\ud800b\\u0000c \\ud83d\\ude00 \\\\u0000"}}]}'
    ).text
    assert text.encode("utf-8")
    assert (text[0], text[2], text[4]) == ("a", "b", "c")
    assert "\0" not in text
    assert "😀" in text


def test_a_measured_text_gives_what_comes_after_the_context():
    question = measured("one two three four", skip=2)
    found = answer(measuring("/completions", dict(question.build(frozenset()))), question)
    assert found.logprobs == (-0.5, -0.4)  # three, four; the generated token is dropped
    assert found.n_prompt_tokens == 4


def test_a_first_token_has_no_probability():
    question = measured("one two", skip=0)
    found = answer(measuring("/completions", dict(question.build(frozenset()))), question)
    assert math.isnan(found.logprobs[0])


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (
            raw_completion("one two and", tokens=(2, 1)),
            "did not give the log-probability of every token sent",
        ),
        (
            raw_completion("one two and", tokens=(2, 1), logprobs={"content": [{"logprob": -1}]}),
            "did not give the log-probability of every token sent",
        ),
        (
            raw_completion(" and", tokens=(2, 2), logprobs={"token_logprobs": [-0.1, -0.2]}),
            "did not repeat the text whose likelihood was asked for",
        ),
        (raw_completion("one two and", tokens=None), "did not say how many tokens the text has"),
    ],
)
def test_a_server_that_does_not_measure_is_not_believed(sent, words):
    assert reason(sent, measured("one two", skip=1)) == words


def test_a_text_cannot_be_counted_without_usage():
    assert (
        reason(raw_completion(" and", tokens=None), counted("one"))
        == "did not say how many tokens the text has"
    )


def test_an_echoed_key_is_not_quoted():
    assert "sk-very" not in reason("not json sk-very-secret-0123456789")


@pytest.mark.parametrize("escaped", ["\\u0073k-very-secret-0123456789", "sk-very-secret-012345678\\u0039"])
def test_an_echoed_key_is_no_part_of_an_answer(escaped):
    for sent, question in [(completion("KEY"), CHAT), (completion(None, refusal="KEY"), CHAT)]:
        assert answer(sent[2].decode().replace("KEY", escaped), question).text == "[key]"
    assert answer(raw_completion("KEY")[2].decode().replace("KEY", escaped), RAW).text == "[key]"


@pytest.mark.parametrize(
    "value", [0.5, 1, True, False, math.inf, -math.inf, math.nan, None, "-0.5", [-0.5], 10**400, -(10**400)]
)
def test_what_is_no_logarithm_of_a_probability_is_not_believed(value):
    sent = raw_completion("one two three", tokens=(3, 1), logprobs={"token_logprobs": [None, -1, value]})
    assert reason(sent, measured("one two three", skip=1)).startswith("gave something other than the log-pr")


def test_a_certain_token_has_a_logarithm_of_zero():
    sent = raw_completion("one two", tokens=(2, 1), logprobs={"token_logprobs": [None, 0]})
    assert answer(sent, measured("one two", skip=1)).logprobs == (0.0,)


@pytest.mark.parametrize("finish", ["error", "abort", "cancelled"])
def test_an_answer_that_was_broken_off_is_none(finish):
    for sent, question in [(completion("4", finish=finish), CHAT), (raw_completion("4", finish=finish), RAW)]:
        found, usage = read(sent, question)
        assert found == Fault(reason=f"broke off the answer ({finish})", remedy="wait")
        assert usage == Usage(input_tokens=10, output_tokens=5)


@pytest.mark.parametrize("error", [{"message": "overloaded", "code": 502}, "overloaded"])
def test_an_error_beside_an_answer_counts(error):
    body = {**json.loads(completion("4")[2]), "error": error}
    found, _ = read(json.dumps(body))
    assert found == Fault(reason="sent an error along with HTTP 200 (overloaded)", remedy="wait")
    assert answer(json.dumps({**body, "error": None})).text == "4"
