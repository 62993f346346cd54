"""Greedy answers of a causal language model to a batch of rendered prompts.

Prompts are padded on the left, where the attention mask hides the padding and positions
start at the first real token, so that a batch answers as each prompt alone would, up to
floating-point noise (which can flip a near-tie; no batch size is bitwise equal to another).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from jaxtyping import Int
from transformers import GenerationConfig

from cg_pipeline.inference.batching import filled, pad_left
from cg_pipeline.inference.chat_templates import end_of_turn
from cg_pipeline.inference.models import LoadedModel


@dataclass(frozen=True)
class Answer:
    """What was generated after one prompt."""

    text: str
    n_tokens: int
    """Tokens generated, the end-of-turn token not counted."""
    ended: bool
    """Whether the model ended its turn; otherwise it was cut at the limit."""


@torch.no_grad()
def generate_greedily(
    model: LoadedModel, prompts: Sequence[Int[np.ndarray, " _"]], max_new_tokens: int
) -> list[Answer]:
    """The most probable next token, again and again, until the turn ends or the limit is reached."""
    stops, module = stop_ids(model), cast(Any, model.module)
    fill = stops[0]  # any token will do: padding is masked on the left, and cut off after the end
    settings = GenerationConfig(
        do_sample=False, num_beams=1, max_new_tokens=max_new_tokens, eos_token_id=stops, pad_token_id=fill
    )
    inputs = pad_left(prompts, fill).to(model.device)
    mask = filled([len(prompt) for prompt in prompts], left=True).long().to(model.device)
    output = module.generate(inputs, attention_mask=mask, generation_config=settings)
    rows = output[:, inputs.shape[1] :].tolist()
    return [_answer(model, row, frozenset(stops)) for row in rows]


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


def _answer(model: LoadedModel, row: list[int], stops: frozenset[int]) -> Answer:
    length = next((place for place, token in enumerate(row) if token in stops), len(row))
    text = str(
        model.tokenizer.decode(row[:length], skip_special_tokens=True, clean_up_tokenization_spaces=False)
    )
    text = text.replace("\0", "\ufffd")  # byte-level tokens can spell NUL, which no database keeps
    return Answer(text=text, n_tokens=length, ended=length < len(row))
