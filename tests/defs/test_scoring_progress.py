import pytest

from cg_pipeline.answers.grading import grade
from cg_pipeline.defs.scoring_progress import watched
from cg_pipeline.llm.attempts import Call, Usage
from cg_pipeline.progress import Progress
from tests.scoring.cases import chosen

SCORES = [grade(chosen(-1.0), 1.0, answer=str(i)) for i in range(10)]


def call(*, cached: bool, tokens: int = 0) -> Call:
    usage = Usage(input_tokens=tokens, output_tokens=tokens // 2)
    return Call(usage=usage, cost=None, cached=cached, answered=True, latency_s=0.0, n_retries=0)


def judging(ledger: list[Call], calls_of):
    """Scores as they come, each after the calls it took."""
    for i, score in enumerate(SCORES):
        ledger.extend(calls_of(i))
        yield score


def scored(calls_of) -> Progress:
    heard: list[Progress] = []
    ledger: list[Call] = []
    with watched(len(SCORES), heard.append, needed=True, ledger=ledger) as watch:
        assert list(watch(judging(ledger, calls_of))) == SCORES
    return heard[-1]


@pytest.mark.parametrize("n_calls", [1, 2])
def test_verdicts_on_disk_are_known_before(n_calls: int) -> None:
    found = scored(lambda i: [call(cached=i < 8, tokens=0 if i < 8 else 20)] * n_calls)

    assert (found.n_done, found.n_total, found.n_known, found.unit) == (10, 10, 8, "answer")
    assert found.n_tokens == 2 * n_calls * 30


def test_calls_of_others_that_are_under_way_are_not_taken_twice() -> None:
    """All ten calls have ended by the time the first score passes."""
    found = scored(lambda i: [call(cached=False, tokens=20)] * 10 if i == 0 else [])

    assert (found.n_known, found.n_tokens) == (0, 300)


def test_answers_that_nobody_was_asked_about_are_known() -> None:
    assert scored(lambda i: []).n_known == 10


def test_programs_all_run() -> None:
    heard: list[Progress] = []
    with watched(len(SCORES), heard.append, needed=True) as watch:
        list(watch(SCORES))

    assert (heard[-1].n_done, heard[-1].n_known) == (10, 0)
    assert "tokens" not in str(heard[-1])


def test_a_policy_that_asks_nobody_is_not_worth_a_word() -> None:
    heard: list[Progress] = []
    with watched(len(SCORES), heard.append, needed=False) as watch:
        assert list(watch(SCORES)) == SCORES

    assert heard == []
