"""Answers of a causal language model to a batch of rendered prompts, greedy or sampled.

Results do not depend on the batch up to floating-point noise, which can flip a near-tie; no
batch size is bitwise equal to another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Float, Int

from cg_pipeline.inference.chat_templates import end_of_turn
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.running_batch import RunningBatch
from cg_pipeline.inference.sampling import next_tokens
from cg_pipeline.inference.stop_texts import answer_text, cut_before, stops_here
from cg_pipeline.protocols import Generation

_KEPT_SHARE = 0.75
"""Finished rows are taken out once fewer than this share is left: taking out copies all that is cached."""


@dataclass(frozen=True)
class Answer:
    """What was generated after one prompt."""

    text: str
    n_tokens: int
    """Tokens generated, the end-of-turn token not counted."""
    ended: bool
    """Whether the model ended its turn or wrote a stop text; otherwise it was cut at the limit."""


@dataclass
class Draft:
    """An answer being written."""

    prompt: Int[np.ndarray, " seq"]
    numbers: Float[np.ndarray, " _"]
    """Random numbers to draw its tokens with; empty for a greedy answer."""
    ids: list[int]
    """Tokens so far."""
    done: bool = False
    """Whether it ended before the limit."""


@torch.no_grad()
def generate_answers(
    model: LoadedModel,
    drafts: Sequence[Draft],
    how: Generation,
    count_tokens: Callable[[int], None] = lambda _n: None,
) -> list[Answer]:
    """Write every draft to its end: the end of the turn, a stop text, or the limit.

    Args:
        model: who answers.
        drafts: prompts with nothing written yet.
        how: limit, stop texts and how tokens are drawn.
        count_tokens: told how many tokens were generated, again and again.
    """
    stops = frozenset(stop_ids(model))
    batch = RunningBatch(model, [draft.prompt for draft in drafts])
    rows = list(drafts)
    for step in range(how.max_new_tokens):
        numbers = [float(row.numbers[step]) for row in rows] if how.temperature else []
        tokens = next_tokens(batch.logits, numbers, how)
        count_tokens(_append(model, rows, tokens.tolist(), stops, how.stop))
        alive = [index for index, row in enumerate(rows) if not row.done]
        if not alive or step + 1 == how.max_new_tokens:
            break
        if len(alive) < _KEPT_SHARE * len(rows):
            batch.keep(alive)
            rows, tokens = [rows[index] for index in alive], tokens[alive]
        batch.feed(tokens)
    return [_answer(model, draft, how.stop) for draft in drafts]


def stop_ids(model: LoadedModel) -> list[int]:
    """Tokens that end an answer: those the model's files name, and the one that closes a turn of the chat."""
    tokenizer, module = cast(Any, model.tokenizer), cast(Any, model.module)
    named = module.generation_config.eos_token_id
    listed = named if isinstance(named, list) else [named]
    turn = end_of_turn(model.tokenizer) if model.spec.chat else None
    found = [token for token in (*listed, tokenizer.eos_token_id, turn) if token is not None]
    if not found:
        raise ValueError(
            f"Model {model.spec.name!r} names no token that ends a text; expected eos_token_id in its files. "
            "Set it in generation_config.json."
        )
    return sorted(set(found))


def _append(
    model: LoadedModel,
    rows: Sequence[Draft],
    tokens: Sequence[int],
    stops: frozenset[int],
    texts: Sequence[str],
) -> int:
    """Add a token to every row that is not done; how many there were."""
    waiting = [(row, token) for row, token in zip(rows, tokens, strict=True) if not row.done]
    for row, token in waiting:
        if token in stops:
            row.done = True
        else:
            row.ids.append(token)
            row.done = stops_here(model.tokenizer, row.ids, texts)
    return len(waiting)


def _answer(model: LoadedModel, draft: Draft, stop: Sequence[str]) -> Answer:
    text = answer_text(model.tokenizer, draft.ids)
    return Answer(text=cut_before(text, stop), n_tokens=len(draft.ids), ended=draft.done)
