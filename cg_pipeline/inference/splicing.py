"""A model that goes on from other hidden states than its own: what it costs to read it by an SAE.

States are replaced where hookpoints are, on the running model, so that everything after them is
computed as the model computes it. In the middle of a block (`resid_mid`) the stream runs on beside
the norm that is hooked; what was changed there is added where the block ends.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from cg_pipeline.inference.hooks import hook_place, is_beside_the_stream, model_blocks, positions_of
from cg_pipeline.inference.likelihood import head_logits
from cg_pipeline.inference.models import LoadedModel

Change = Callable[[Tensor], Tensor]
"""From the states of a batch, shape (batch, seq, d_model), to those that the model goes on from."""

_LOGITS_AT_ONCE = 2**24


@contextmanager
def changed(module: nn.Module, hookpoint: str, change: Change) -> Iterator[None]:
    """Within it, the model goes on from `change(states)` at the hookpoint.

    Raises:
        ValueError: the hookpoint is unknown, out of range, or the model has no such place.
    """
    found, side = hook_place(module, hookpoint)
    with ExitStack() as handles:
        if side == "output":
            hook = found.register_forward_hook(lambda _module, _inputs, output: _replaced(output, change))
        elif is_beside_the_stream(hookpoint):
            hook = _change_beside(module, hookpoint, found, change, handles)
        else:
            hook = found.register_forward_pre_hook(_input_changer(change), with_kwargs=True)
        handles.callback(hook.remove)
        yield


@torch.no_grad()
def losses(
    reader: LoadedModel,
    input_ids: Int[Tensor, "batch seq"],
    kept: Bool[Tensor, "batch seq"],
    predicted: Bool[Tensor, "batch seq"],
) -> Float[Tensor, " n_predicted"]:
    """Cross-entropy of each token under `predicted` given what precedes it, in nats, row after row.

    Args:
        reader: the model.
        input_ids: token ids, padded on the right.
        kept: which of them are no padding.
        predicted: which of them to look at; none is the first of its row.
    """
    hidden = reader.module.base_model(
        input_ids=input_ids,
        attention_mask=kept.long(),
        position_ids=positions_of(kept.long()),
        use_cache=False,
    ).last_hidden_state
    states, wanted = hidden[:, :-1][predicted[:, 1:]], input_ids[predicted]
    at_once = max(1, _LOGITS_AT_ONCE // reader.head.out_features)
    found = [
        nn.functional.cross_entropy(head_logits(reader, some), ids, reduction="none")
        for some, ids in zip(states.split(at_once), wanted.split(at_once), strict=True)
    ]
    return torch.cat(found)


def _replaced(output: Any, change: Change) -> Any:
    if isinstance(output, tuple):
        return (change(output[0]), *output[1:])
    return change(output)


def _input_changer(change: Change) -> Callable[..., Any]:
    def hook(_module: nn.Module, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if inputs:
            return (change(inputs[0]), *inputs[1:]), keywords
        return inputs, {**keywords, "hidden_states": change(keywords["hidden_states"])}

    return hook


def _change_beside(
    module: nn.Module, hookpoint: str, norm: nn.Module, change: Change, handles: ExitStack
) -> Any:
    differences: list[Tensor] = []

    def noted(states: Tensor) -> Tensor:
        differences.append(change(states) - states)
        return states + differences[-1]

    block = model_blocks(module)[int(hookpoint.split(".")[1])]
    at_the_end = block.register_forward_hook(
        lambda _module, _inputs, output: _replaced(output, lambda states: states + differences.pop())
    )
    handles.callback(at_the_end.remove)
    return norm.register_forward_pre_hook(_input_changer(noted), with_kwargs=True)
