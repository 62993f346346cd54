"""Which words a direction of the residual stream makes more probable: the logit lens.

It is the one thing that can be said of a latent that never fires.
"""

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from cg_pipeline.inference.chat_templates import special_ids
from cg_pipeline.inference.models import LoadedModel

_DIRECTIONS_AT_ONCE = 256
_FINAL_NORMS = ("norm", "ln_f", "final_layer_norm")


@torch.no_grad()
def promoted_tokens(
    model: LoadedModel, directions: Float[Tensor, "d_sae d_model"], n: int = 8
) -> list[tuple[str, ...]]:
    """For each direction, the readable tokens whose logits it raises most for that token, highest first.

    logits = W_U (g ⊙ d), with g the scale of the final norm; the norm itself, which depends
    on everything else in the stream, is left out. Each token's logit is then counted in its
    own standard deviations over all directions: some rare tokens (`ChannelType`) move with any
    direction, and would top every list. Special tokens, white space, parts of characters and
    repeats in another case are passed over.
    """
    unembedding = model.head.weight.float()
    scaled = directions * _final_scale(model.module.base_model, directions)
    centred = scaled - scaled.mean(0)
    spread = _spread(centred, unembedding)
    found: list[tuple[str, ...]] = []
    for some in centred.split(_DIRECTIONS_AT_ONCE):
        scores = (some @ unembedding.T) / spread
        ranked = scores.topk(min(8 * n, len(unembedding)), dim=-1).indices.tolist()
        found.extend(_first_readable(model.tokenizer, row, n) for row in ranked)
    return found


def _spread(centred: Float[Tensor, "d_sae d_model"], unembedding: Float[Tensor, "vocab d_model"]) -> Tensor:
    """Standard deviation of each token's logit over the directions: √(uᵀ C u), C their covariance."""
    covariance = centred.T @ centred / len(centred)
    return ((unembedding @ covariance) * unembedding).sum(-1).clamp(min=1e-12).sqrt()


def _final_scale(base: nn.Module, like: Tensor) -> Tensor:
    """The final norm's elementwise scale; an RMS norm shows it when applied to ones (Gemma's adds 1)."""
    norm = next((getattr(base, name) for name in _FINAL_NORMS if hasattr(base, name)), None)
    ones = torch.ones(like.shape[1], device=like.device)
    if norm is None:
        return ones
    return norm.weight.float() if isinstance(norm, nn.LayerNorm) else norm(ones.to(norm.weight.dtype)).float()


def _first_readable(tokenizer: PreTrainedTokenizerBase, ranked: list[int], n: int) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for token in ranked:
        text = _readable(tokenizer, token)
        if text:
            kept.setdefault(text.casefold(), text)
        if len(kept) == n:
            break
    return tuple(kept.values())


@lru_cache(maxsize=500_000)
def _readable(tokenizer: PreTrainedTokenizerBase, token: int) -> str:
    """The token's text without surrounding space; empty if a person could not read it."""
    if token in special_ids(tokenizer):
        return ""
    text = str(tokenizer.decode([token])).strip()
    return text if text.isprintable() and "\ufffd" not in text else ""
