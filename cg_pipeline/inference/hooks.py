"""Hidden states at a named hookpoint, read with a forward pass that stops there.

Hookpoints carry TransformerLens names, because published SAEs do; they are found on plain
transformers modules, so that the model that reads is the very model that answers.

Why a hook and not `output_hidden_states`: entry i of that tuple is what enters block i, and
the last one is normed, so an index off by one reads the wrong layer without complaint.
"""

import re
from typing import Any, Literal, NoReturn

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

Side = Literal["input", "output"]

_BLOCK_LISTS = ("layers", "h")
_ATTENTION = ("self_attn", "attn", "attention")
_HOOKPOINT = re.compile(r"blocks\.(\d+)\.hook_(resid_pre|resid_mid|resid_post|attn_out|mlp_out)")


class _Reached(Exception):
    """Carries the hidden states out of the forward pass; never leaves this module."""

    def __init__(self, states: Tensor) -> None:
        self.states = states


def model_blocks(module: nn.Module) -> nn.ModuleList:
    """The transformer blocks: `model.layers`, `transformer.h` or `gpt_neox.layers`."""
    base = getattr(module, "base_model", module)
    for name in _BLOCK_LISTS:
        found = getattr(base, name, None)
        if isinstance(found, nn.ModuleList):
            return found
    raise ValueError(
        f"{type(module).__name__} has no list of blocks called {' or '.join(_BLOCK_LISTS)}; expected a "
        "decoder laid out like Llama, Mistral, Qwen, Gemma, GPT-2 or GPT-NeoX."
    )


@torch.no_grad()
def read_hidden_states(
    module: nn.Module,
    hookpoint: str,
    input_ids: Int[Tensor, "batch seq"],
    attention_mask: Int[Tensor, "batch seq"],
    position_ids: Int[Tensor, "batch seq"] | None = None,
) -> Float[Tensor, "batch seq d_model"]:
    """Hidden states at the hookpoint, in the model's dtype; blocks after it are not run.

    Without `position_ids`, positions count the tokens that the attention mask keeps, so that
    padding on either side changes nothing.

    Raises:
        ValueError: the hookpoint is unknown, out of range, or the model has no such place.
    """
    positions = positions_of(attention_mask) if position_ids is None else position_ids
    base = getattr(module, "base_model", module)
    handle = _attach(module, hookpoint)
    try:
        base(input_ids=input_ids, attention_mask=attention_mask, position_ids=positions, use_cache=False)
    except _Reached as reached:
        return reached.states
    finally:
        handle.remove()
    raise RuntimeError(f"The forward pass of {type(module).__name__} never came by {hookpoint!r}.")


def positions_of(attention_mask: Int[Tensor, "batch seq"]) -> Int[Tensor, "batch seq"]:
    """Position of each token among those kept: 0, 1, 2 …, whichever side is padded."""
    return (attention_mask.long().cumsum(-1) - 1).clamp(min=0)


def check_hookpoint(module: nn.Module, hookpoint: str) -> None:
    """Raise the `ValueError` that reading would raise."""
    _attach(module, hookpoint).remove()


def hook_place(module: nn.Module, hookpoint: str) -> tuple[nn.Module, Side]:
    """The module that has the hookpoint's states as its input, or as its output.

    Raises:
        ValueError: the hookpoint is unknown, out of range, or the model has no such place.
    """
    block, place = _find(module, hookpoint)
    if place == "resid_pre":
        return block, "input"
    if place == "resid_mid":
        return _norm_before_mlp(block, hookpoint), "input"
    if place == "resid_post":
        return block, "output"
    return (_attention_writer if place == "attn_out" else _mlp_writer)(block, hookpoint), "output"


def is_beside_the_stream(hookpoint: str) -> bool:
    """Whether what is hooked is a copy, past which the residual stream runs on unchanged."""
    return hookpoint.endswith("resid_mid")


def hookpoints_like(module: nn.Module, hookpoint: str) -> list[str]:
    """The places of the same kind in every block, in order."""
    _, place = _find(module, hookpoint)
    return [f"blocks.{index}.hook_{place}" for index in range(len(model_blocks(module)))]


def _attach(module: nn.Module, hookpoint: str) -> Any:
    found, side = hook_place(module, hookpoint)
    if side == "input":
        return found.register_forward_pre_hook(_stop_at_input, with_kwargs=True)
    return found.register_forward_hook(_stop_at_output)


def _find(module: nn.Module, hookpoint: str) -> tuple[nn.Module, str]:
    match = _HOOKPOINT.fullmatch(hookpoint)
    if match is None:
        raise ValueError(
            f"Hookpoint is {hookpoint!r}; expected blocks.N.hook_X with X one of "
            "resid_pre, resid_mid, resid_post, attn_out, mlp_out."
        )
    blocks = model_blocks(module)
    index = int(match[1])
    if index >= len(blocks):
        raise ValueError(f"Hookpoint is {hookpoint!r}, but the model has blocks 0 to {len(blocks) - 1}.")
    return blocks[index], match[2]


def _attention_writer(block: nn.Module, hookpoint: str) -> nn.Module:
    """What attention adds to the residual stream; Gemma 2 norms it first, as TransformerLens counts it."""
    if hasattr(block, "pre_feedforward_layernorm"):
        return block.post_attention_layernorm  # type: ignore[return-value]
    return _first_child(block, _ATTENTION, hookpoint)


def _mlp_writer(block: nn.Module, hookpoint: str) -> nn.Module:
    return _first_child(block, ("post_feedforward_layernorm", "mlp"), hookpoint)


def _norm_before_mlp(block: nn.Module, hookpoint: str) -> nn.Module:
    if getattr(block, "use_parallel_residual", False):
        raise ValueError(
            f"Hookpoint {hookpoint!r} does not exist in {type(block).__name__}: "
            "attention and MLP run side by side."
        )
    return _first_child(block, ("pre_feedforward_layernorm", "post_attention_layernorm", "ln_2"), hookpoint)


def _first_child(block: nn.Module, names: tuple[str, ...], hookpoint: str) -> nn.Module:
    for name in names:
        if isinstance(getattr(block, name, None), nn.Module):
            return getattr(block, name)
    raise ValueError(f"Hookpoint {hookpoint!r}: {type(block).__name__} has none of {', '.join(names)}.")


def _stop_at_input(_block: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> NoReturn:
    raise _Reached(arguments[0] if arguments else keywords["hidden_states"])


def _stop_at_output(_block: nn.Module, _arguments: tuple[Any, ...], output: Any) -> NoReturn:
    raise _Reached(output[0] if isinstance(output, tuple) else output)
