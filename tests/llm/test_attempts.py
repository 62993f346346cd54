import pytest

from cg_pipeline.llm.attempts import Attempt, Usage, usage_of
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.wire import Fault

ENDPOINT = Endpoint(
    base_url="http://h/v1", model="m", max_retries=2, backoff_s=1.0, input_price=2.0, output_price=8.0
)


def fault(remedy, **fields) -> Fault:
    return Fault(reason="broke", remedy=remedy, **fields)


def test_it_waits_as_often_as_the_endpoint_allows():
    slept: list[float] = []
    attempt = Attempt()
    assert [attempt.cure(fault("wait"), ENDPOINT, slept.append) for _ in range(4)] == [
        True,
        True,
        False,
        False,
    ]
    assert len(slept) == 2
    assert 0.5 <= slept[0] <= 1.0 <= slept[1] <= 2.0  # doubled, with jitter


def test_what_the_server_asks_for_is_waited():
    slept: list[float] = []
    assert Attempt().cure(fault("wait", wait_s=3.0), ENDPOINT, slept.append)
    assert 3.0 <= slept[0] <= 3.3


def test_a_parameter_is_left_out_once():
    """A server that goes on complaining of what it is not sent is not asked for ever."""
    attempt = Attempt(omitted=frozenset({"seed"}))
    assert attempt.cure(fault("omit", parameter="top_p"), ENDPOINT, pytest.fail)
    assert attempt.omitted == {"seed", "top_p"}
    assert not attempt.cure(fault("omit", parameter="top_p"), ENDPOINT, pytest.fail)


@pytest.mark.parametrize("remedy", ["none", "correct", "lengthen"])
def test_what_depends_on_the_question_is_not_cured_here(remedy):
    assert not Attempt().cure(fault(remedy), ENDPOINT, pytest.fail)


def test_it_ends_as_a_line_of_the_bill():
    attempt = Attempt()
    assert (attempt.tries, attempt.call(ENDPOINT, cached=True, answered=True).n_retries) == ("0 tries", 0)
    attempt.n_tries, attempt.usage = 3, Usage(input_tokens=10, output_tokens=5)
    call = attempt.call(ENDPOINT, cached=False, answered=False)
    assert (attempt.tries, call.n_retries, call.cost) == ("3 tries", 2, pytest.approx(60e-6))
    assert (call.cached, call.answered) == (False, False)
    assert call.latency_s >= 0
    assert usage_of([call, call]) == Usage(input_tokens=20, output_tokens=10)
    assert usage_of([]) == Usage()
