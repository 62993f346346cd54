import pytest

from cg_pipeline.llm.attempts import Attempt, Usage
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.wire import Fault

ENDPOINT = Endpoint(
    base_url="http://h/v1", model="m", max_retries=2, backoff_s=1.0, input_price=2.0, output_price=8.0
)


def fault(remedy, **fields) -> Fault:
    return Fault(reason="broke", remedy=remedy, **fields)


def test_it_waits_as_often_as_the_endpoint_allows():
    attempt = Attempt()
    first, second, *rest = [attempt.cure(fault("wait"), ENDPOINT) for _ in range(4)]
    assert rest == [None, None]
    assert 0.5 <= first <= 1.0 <= second <= 2.0  # doubled, with jitter


def test_what_the_server_asks_for_is_waited():
    assert 3.0 <= Attempt().cure(fault("wait", wait_s=3.0), ENDPOINT) <= 3.3


def test_a_parameter_is_left_out_once():
    """A server that goes on complaining of what it is not sent is not asked for ever."""
    attempt = Attempt(omitted=frozenset({"seed"}))
    assert attempt.cure(fault("omit", parameter="top_p"), ENDPOINT) == 0.0
    assert attempt.omitted == {"seed", "top_p"}
    assert attempt.cure(fault("omit", parameter="top_p"), ENDPOINT) is None


@pytest.mark.parametrize("remedy", ["none", "correct", "lengthen"])
def test_what_depends_on_the_question_is_not_cured_here(remedy):
    assert Attempt().cure(fault(remedy), ENDPOINT) is None


def test_it_ends_as_a_line_of_the_bill():
    attempt = Attempt()
    assert (attempt.tries, attempt.call(ENDPOINT, cached=True, answered=True).n_retries) == ("0 tries", 0)
    attempt.n_tries, attempt.usage = 3, Usage(input_tokens=10, output_tokens=5)
    call = attempt.call(ENDPOINT, cached=False, answered=False)
    assert (attempt.tries, call.n_retries, call.cost) == ("3 tries", 2, pytest.approx(60e-6))
    assert (call.cached, call.answered) == (False, False)
    assert call.latency_s >= 0
