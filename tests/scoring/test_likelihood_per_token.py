import pytest

from cg_pipeline.scoring.likelihood_per_token import POLICY
from tests.scoring.cases import chosen, example

AB = example("long", choices=("short", "long"))


@pytest.mark.parametrize(
    ("logprobs", "tokens", "value", "reason"),
    [
        ((-3.0, -4.0), (1, 2), 1.0, ""),  # per token -3, -2
        ((-3.0, -6.0), (1, 2), 0.0, ""),  # a tie goes to the first
        ((-3.0, -9.0), (1, 2), 0.0, ""),
        ((-3.0, -4.0), (0, 2), None, "not_a_number"),
        ((-3.0, -4.0), (), None, "no_likelihoods"),
    ],
)
def test_score(logprobs, tokens, value, reason) -> None:
    score = POLICY.score(AB, chosen(*logprobs, choice_tokens=tokens))
    assert (score.value, score.reason) == (value, reason)
