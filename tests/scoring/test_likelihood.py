"""Choosing by likelihood, whole and per byte."""

import pytest

from cg_pipeline.records import Completion, Example
from cg_pipeline.scoring import likelihood, likelihood_per_byte

EXAMPLE = Example(
    benchmark="b",
    category="c",
    cluster="",
    prompt="?",
    choices=("ab", "abcdefgh", "äöü"),
    targets=("abcdefgh",),
)


def completion(*logprobs: float, stop: str = "choice") -> Completion:
    return Completion(
        model="m",
        benchmark="b",
        example_id="x",
        text="",
        choice_logprobs=logprobs,
        choice_tokens=(1,) * len(logprobs),
        stop=stop,
        n_prompt_tokens=1,
        n_completion_tokens=3,
    )


@pytest.mark.parametrize(
    ("logprobs", "whole", "per_byte"),
    [
        ((-4.0, -8.0, -9.0), "ab", "abcdefgh"),  # per byte -2, -1, -1.5
        ((-1.0, -8.0, -9.0), "ab", "ab"),
        ((-4.0, -12.0, -6.0), "ab", "äöü"),  # per byte -2, -1.5, -1: six bytes, three characters
        ((-8.0, -8.0, -30.0), "ab", "abcdefgh"),  # a tie in the sum goes to the first
    ],
)
def test_choice(logprobs: tuple[float, ...], whole: str, per_byte: str) -> None:
    assert likelihood.POLICY.score(EXAMPLE, completion(*logprobs)).answer == whole
    assert likelihood_per_byte.POLICY.score(EXAMPLE, completion(*logprobs)).answer == per_byte


@pytest.mark.parametrize("policy", [likelihood.POLICY, likelihood_per_byte.POLICY])
def test_overflow_is_unscored(policy) -> None:
    score = policy.score(EXAMPLE, completion(stop="overflow"))
    assert (score.value, score.reason) == (None, "overflow")


@pytest.mark.parametrize("policy", [likelihood.POLICY, likelihood_per_byte.POLICY])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_model_that_breaks_down_is_unscored(policy, place) -> None:
    logprobs = [-1.0, -2.0, -3.0]
    logprobs[place] = float("nan")
    score = policy.score(EXAMPLE, completion(*logprobs))
    assert (score.value, score.reason) == (None, "not_a_number")


@pytest.mark.parametrize("policy", [likelihood.POLICY, likelihood_per_byte.POLICY])
def test_target_decides(policy) -> None:
    assert policy.score(EXAMPLE, completion(-9.0, -1.0, -9.0)).outcome == "right"
    assert policy.score(EXAMPLE, completion(-1.0, -90.0, -9.0)).outcome == "wrong"
