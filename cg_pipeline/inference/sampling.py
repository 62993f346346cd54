"""The next token of each row: the most probable one, or one drawn at random.

Every answer draws from a sequence of numbers of its own, made from the example, the
sample's index and the seed, so that what it says depends neither on which other answers
are generated beside it nor on their order.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from cg_pipeline.protocols import Generation
from cg_pipeline.records import content_id


def drawn_numbers(example_id: str, sample: int, how: Generation) -> Float[np.ndarray, " max_new_tokens"]:
    """Numbers in [0, 1), one for each token of one answer; empty for greedy ones."""
    if how.temperature == 0:
        return np.zeros(0)
    seed = int(content_id(example_id, sample, how.seed), 16)
    return np.random.default_rng(seed).random(how.max_new_tokens)


def next_tokens(
    logits: Float[Tensor, "batch vocab"], numbers: Sequence[float], how: Generation
) -> Int[Tensor, " batch"]:
    """The token of each row; `numbers` holds one per row unless the temperature is 0.

    p ∝ exp(logit / temperature) over the smallest set of most probable tokens whose
    probabilities sum to `top_p`; the token at which the cumulative probability, most
    probable first, passes the row's number.
    """
    if how.temperature == 0:
        return logits.argmax(-1)
    ordered, tokens = (logits.double() / how.temperature).sort(dim=-1, descending=True, stable=True)
    probabilities = ordered.softmax(-1)
    passed = probabilities.cumsum(-1)
    kept = probabilities * (passed - probabilities < how.top_p)
    reached = kept.cumsum(-1)
    wanted = torch.tensor(numbers, dtype=torch.float64, device=logits.device) * reached[:, -1]
    places = torch.searchsorted(reached, wanted[:, None], right=True)
    last = (kept > 0).sum(-1, keepdim=True) - 1
    return tokens.gather(-1, places.minimum(last))[:, 0]
