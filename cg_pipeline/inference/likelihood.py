"""Log-likelihood of every choice of an example, with one forward pass per example.

The prompt and all its choices share one row: `prompt | choice 1 | choice 2 | …`. A choice
sees the prompt and itself, never another choice, and its positions go on from the end of
the prompt, so that each is scored as if it stood alone; the prompt is read once. A
choice's last token is never an input, since nothing follows it: choices of one token add
nothing to the row.

Logits are computed only where a choice's token is predicted, a bounded number of rows of
the vocabulary at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from cg_pipeline.inference.batching import pad_right
from cg_pipeline.inference.models import LoadedModel

_ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class PackedChoices:
    """One row of ids with what is needed to attend, place and score it."""

    input_ids: Int[np.ndarray, " seq"]
    position_ids: Int[np.ndarray, " seq"]
    segments: Int[np.ndarray, " seq"]
    """0 for the prompt, i for choice i, counted from 1."""
    predictors: Int[np.ndarray, " n_scored"]
    """Place in the row whose logits predict each scored token, choice after choice."""
    scored_ids: Int[np.ndarray, " n_scored"]
    n_choice_tokens: tuple[int, ...]


def pack_choices(prompt: Int[np.ndarray, " _"], choices: Sequence[Int[np.ndarray, " _"]]) -> PackedChoices:
    """The row of one example. Every choice has at least one token."""
    inputs = [choice[:-1] for choice in choices]
    starts = len(prompt) + np.cumsum([0, *map(len, inputs)])
    predictors = [
        np.array([len(prompt) - 1, *range(start, start + len(part))])
        for start, part in zip(starts, inputs, strict=False)
    ]
    return PackedChoices(
        input_ids=np.concatenate([prompt, *inputs]),
        position_ids=np.concatenate(
            [np.arange(len(prompt)), *(len(prompt) + np.arange(len(p)) for p in inputs)]
        ),
        segments=np.repeat(np.arange(len(choices) + 1), [len(prompt), *map(len, inputs)]),
        predictors=np.concatenate(predictors),
        scored_ids=np.concatenate(choices),
        n_choice_tokens=tuple(map(len, choices)),
    )


@torch.no_grad()
def choice_logprobs(model: LoadedModel, rows: Sequence[PackedChoices]) -> list[tuple[float, ...]]:
    """Σ log p(token | what precedes it) of every choice of every row, in nats."""
    states = _last_states(model, rows)
    row_of = torch.repeat_interleave(
        torch.arange(len(rows)), torch.tensor([len(row.predictors) for row in rows])
    )
    places = torch.from_numpy(np.concatenate([row.predictors for row in rows]))
    targets = torch.from_numpy(np.concatenate([row.scored_ids for row in rows])).to(model.device)
    tokens = _token_logprobs(model, states[row_of.to(model.device), places.to(model.device)], targets)
    sizes = [size for row in rows for size in row.n_choice_tokens]
    sums = [float(part.sum()) for part in np.split(tokens, np.cumsum(sizes)[:-1])]
    ends = np.cumsum([len(row.n_choice_tokens) for row in rows])
    return [tuple(sums[end - len(row.n_choice_tokens) : end]) for end, row in zip(ends, rows, strict=True)]


def _last_states(model: LoadedModel, rows: Sequence[PackedChoices]) -> Float[Tensor, "batch seq d_model"]:
    segments = pad_right([row.segments for row in rows], -1)
    outputs = model.module.base_model(
        input_ids=pad_right([row.input_ids for row in rows], 0).to(model.device),
        position_ids=pad_right([row.position_ids for row in rows], 0).to(model.device),
        attention_mask=_block_mask(segments.to(model.device), model.module.dtype),
        use_cache=False,
    )
    return outputs.last_hidden_state


def _block_mask(segments: Int[Tensor, "batch seq"], dtype: torch.dtype) -> Float[Tensor, "batch 1 seq seq"]:
    """0 where a token may look, the lowest number elsewhere: back to its own segment and to the prompt.

    Padding (segment -1, always last) looks back to the prompt too, so that no row of the softmax is empty.
    """
    order = torch.arange(segments.shape[1], device=segments.device)
    same = segments[:, :, None] == segments[:, None, :]
    allowed = (same | (segments[:, None, :] == 0)) & (order[:, None] >= order[None, :])
    mask = torch.zeros(allowed.shape, dtype=dtype, device=segments.device)
    return mask.masked_fill_(~allowed, torch.finfo(dtype).min)[:, None]


def _token_logprobs(
    model: LoadedModel, states: Float[Tensor, "n_scored d_model"], targets: Int[Tensor, " n_scored"]
) -> Float[np.ndarray, " n_scored"]:
    parts = [
        torch.log_softmax(_logits(model, some), -1).gather(-1, wanted[:, None])[:, 0].cpu()
        for some, wanted in zip(states.split(_ROWS_AT_ONCE), targets.split(_ROWS_AT_ONCE), strict=True)
    ]
    return torch.cat(parts).double().numpy()


def _logits(model: LoadedModel, states: Float[Tensor, "n d_model"]) -> Float[Tensor, "n vocab"]:
    """The head's output in float32, capped or scaled where the model does so (Gemma 2, Cohere, Granite)."""
    config = model.module.config.get_text_config()
    logits = model.head(states).float()
    logits = (
        logits
        * (getattr(config, "logit_scale", None) or 1.0)
        / (getattr(config, "logits_scaling", None) or 1.0)
    )
    cap = getattr(config, "final_logit_softcapping", None)
    return logits if cap is None else cap * torch.tanh(logits / cap)
