"""Which token comes next."""

import numpy as np
import pytest
import torch

from cg_pipeline.inference.sampling import drawn_numbers, next_tokens
from cg_pipeline.protocols import Generation

LOGITS = torch.tensor([[0.0, 2.0, 1.0, -1.0]])  # most probable first: 1, 2, 0, 3
SAMPLED = Generation(max_new_tokens=4, temperature=1.0)


def drawn(number: float, how: Generation) -> int:
    return int(next_tokens(LOGITS, [number], how)[0])


def test_greedy_takes_the_most_probable() -> None:
    assert next_tokens(LOGITS, [], Generation(max_new_tokens=4)).tolist() == [1]


def test_a_number_picks_by_cumulative_probability() -> None:
    """softmax of 2, 1, 0, -1 is 0.644, 0.237, 0.087, 0.032; cumulative 0.644, 0.881, 0.968, 1."""
    picked = [drawn(number, SAMPLED) for number in (0.0, 0.64, 0.65, 0.88, 0.89, 0.96, 0.97, 1 - 1e-12)]

    assert picked == [1, 1, 2, 2, 0, 0, 3, 3]


def test_top_p_keeps_the_smallest_set_that_reaches_it() -> None:
    """0.7 needs the two most probable, rescaled to 0.731 and 0.269; 0.6 only the first."""
    two = Generation(max_new_tokens=4, temperature=1.0, top_p=0.7)
    one = Generation(max_new_tokens=4, temperature=1.0, top_p=0.6)

    assert [drawn(number, two) for number in (0.73, 0.74, 1 - 1e-12)] == [1, 2, 2]
    assert [drawn(number, one) for number in (0.0, 1 - 1e-12)] == [1, 1]


def test_temperature_sharpens() -> None:
    cold = Generation(max_new_tokens=4, temperature=0.1)

    assert drawn(0.999, cold) == 1


def test_shares_are_those_of_the_model() -> None:
    numbers = np.random.default_rng(0).random(4000)
    tokens = next_tokens(LOGITS.expand(4000, -1), numbers.tolist(), SAMPLED)

    shares = np.bincount(tokens.numpy(), minlength=4) / 4000
    assert shares == pytest.approx(LOGITS[0].softmax(-1).numpy(), abs=0.03)


def test_every_answer_has_numbers_of_its_own() -> None:
    numbers = [
        drawn_numbers("a", 0, SAMPLED),
        drawn_numbers("a", 1, SAMPLED),
        drawn_numbers("b", 0, SAMPLED),
        drawn_numbers("a", 0, Generation(max_new_tokens=4, temperature=1.0, seed=1)),
    ]

    assert len({tuple(each) for each in numbers}) == 4
    assert numbers[0].tolist() == drawn_numbers("a", 0, SAMPLED).tolist()
    assert drawn_numbers("a", 0, Generation(max_new_tokens=4)).tolist() == []
