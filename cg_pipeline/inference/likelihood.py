"""Log-likelihood of texts packed into rows, with one forward pass per batch of rows.

Logits are computed only where a scored token is predicted, once for all tokens predicted at
one place, and a bounded number of rows of the vocabulary at a time: a model with a large
vocabulary spends a fifth of its time on logits that nobody reads otherwise.

Rows in which nothing branches go through plain causal attention, which needs no mask.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from cg_pipeline.inference.batching import pad_right
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import PackedRow

_LOGITS_AT_ONCE = 2**24
"""Numbers in one chunk of logits: 64 MB in float32, whatever the vocabulary."""


@torch.no_grad()
def text_logprobs(model: LoadedModel, rows: Sequence[PackedRow]) -> list[tuple[float, ...]]:
    """Σ log p(token | what precedes it) of every text of every row, in nats."""
    width = max(len(row.input_ids) for row in rows)
    places = np.concatenate([index * width + row.predictors for index, row in enumerate(rows)])
    states = _last_states(model, rows).flatten(0, 1)
    scored = np.concatenate([row.scored_ids for row in rows])
    tokens = _token_logprobs(model, states, places, scored)
    sizes = [size for row in rows for size in row.n_tokens]
    sums = [float(part.sum()) for part in np.split(tokens, np.cumsum(sizes)[:-1])]
    ends = np.cumsum([len(row.n_tokens) for row in rows])
    return [tuple(sums[end - len(row.n_tokens) : end]) for end, row in zip(ends, rows, strict=True)]


def _last_states(model: LoadedModel, rows: Sequence[PackedRow]) -> Float[Tensor, "batch seq d_model"]:
    ids = pad_right([row.input_ids for row in rows], 0).to(model.device)
    if all(row.is_chain for row in rows):  # padding comes last, where causal attention never looks
        return model.module.base_model(input_ids=ids, use_cache=False).last_hidden_state
    ends = pad_right([row.ends for row in rows], 0).to(model.device)
    outputs = model.module.base_model(
        input_ids=ids,
        position_ids=pad_right([row.position_ids for row in rows], 0).to(model.device),
        attention_mask=_tree_mask(ends, model.module.dtype),
        use_cache=False,
    )
    return outputs.last_hidden_state


def _tree_mask(ends: Int[Tensor, "batch seq"], dtype: torch.dtype) -> Float[Tensor, "batch 1 seq seq"]:
    """0 where a token may look, the lowest number elsewhere: to its ancestors and to itself.

    Padding, which is nobody's ancestor, sees itself, so that no row of the softmax is empty.
    """
    order = torch.arange(ends.shape[1], device=ends.device)
    below = (order[:, None] >= order[None, :]) & (order[:, None] < ends[:, None, :])
    allowed = below | (order[:, None] == order[None, :])
    mask = torch.zeros(allowed.shape, dtype=dtype, device=ends.device)
    return mask.masked_fill_(~allowed, torch.finfo(dtype).min)[:, None]


def _token_logprobs(
    model: LoadedModel,
    states: Float[Tensor, "n d_model"],
    places: Int[np.ndarray, " n_scored"],
    scored: Int[np.ndarray, " n_scored"],
) -> Float[np.ndarray, " n_scored"]:
    """Log p of each scored token from the state at its place; logits of a place are computed once."""
    unique, where = np.unique(places, return_inverse=True)
    order = np.argsort(where, kind="stable")
    at_once = max(1, _LOGITS_AT_ONCE // model.head.out_features)
    found = np.empty(len(scored))
    for start in range(0, len(unique), at_once):
        chunk = unique[start : start + at_once]
        some = order[np.searchsorted(where[order], start) : np.searchsorted(where[order], start + len(chunk))]
        logits = head_logits(model, states[torch.from_numpy(chunk).to(model.device)])
        total = torch.logsumexp(logits, -1)
        rows = torch.from_numpy(where[some] - start).to(model.device)
        wanted = logits[rows, torch.from_numpy(scored[some]).to(model.device)]
        found[some] = (wanted.double() - total[rows].double()).cpu().numpy()
    return found


def head_logits(model: LoadedModel, states: Float[Tensor, "n d_model"]) -> Float[Tensor, "n vocab"]:
    """The head's output in float32, capped or scaled where the model does so (Gemma 2, Cohere, Granite)."""
    config = model.module.config.get_text_config()
    scale = (getattr(config, "logit_scale", None) or 1.0) / (getattr(config, "logits_scaling", None) or 1.0)
    logits = model.head(states).float()
    logits = logits if scale == 1 else logits * scale
    cap = getattr(config, "final_logit_softcapping", None)
    return logits if cap is None else cap * torch.tanh(logits / cap)
