"""Experiments that tell why an SAE does not fit: at other layers, at other scales, with another BOS.

On a few examples, since each asks only which of several figures is the best. What explains the states
much better than the use that is made of the SAE names the fault: it belongs to another layer, wants
its inputs scaled, or was trained on prompts that begin otherwise. If nothing does, it belongs to
another model.
"""

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from sae_lens import SAE
from torch import Tensor

from cg_pipeline.inference.fit_sums import VarianceSums
from cg_pipeline.inference.hooks import hookpoints_like, positions_of, read_hidden_states
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompt_batches import BOS, PromptBatch, Row, bos_of, padded
from cg_pipeline.inference.sae_passes import passes
from cg_pipeline.inference.splicing import changed

SCALES = tuple(4.0**power for power in range(-3, 4))
"""Factors tried on states: the norms that SAEs are trained at lie within."""


@dataclass(frozen=True, kw_only=True)
class Probes:
    """What the experiments gave; a figure that cannot be computed is NaN."""

    n_tokens: int
    hookpoints: tuple[str, ...]
    by_hookpoint: tuple[float, ...]
    by_scale: tuple[float, ...]
    has_bos: bool
    other_bos: float


@torch.no_grad()
def probe(loaded: SAE[Any], reader: LoadedModel, hookpoint: str, batches: Sequence[PromptBatch]) -> Probes:
    """Explained variance of the same tokens' states under each change of the use made of an SAE.

    Args:
        loaded: the SAE.
        reader: the model that reads.
        hookpoint: where it reads.
        batches: the prompts.
    """
    names = tuple(hookpoints_like(reader.module, hookpoint))
    layers = {name: VarianceSums() for name in names}
    scales = [VarianceSums() for _ in SCALES]
    other = VarianceSums()
    bos = bos_of(reader)
    for batch in batches:
        _read_layers(loaded, reader, batch, layers)
        states = read_hidden_states(reader.module, hookpoint, batch.input_ids, batch.kept.long())
        for sums, scale in zip(scales, SCALES, strict=True):
            _add(sums, loaded, states * scale, batch.counts)
        rows = [] if bos is None else [_with_other_bos(row, bos) for row in batch.rows]
        if fitting := [row for row in rows if len(row[0]) <= reader.n_positions]:
            turned = padded(fitting, reader.device)
            states = read_hidden_states(reader.module, hookpoint, turned.input_ids, turned.kept.long())
            _add(other, loaded, states, turned.counts)
    return Probes(
        n_tokens=layers[hookpoint].n_tokens,
        hookpoints=names,
        by_hookpoint=tuple(layers[name].explained for name in names),
        by_scale=tuple(sums.explained for sums in scales),
        has_bos=any(batch.n_bos for batch in batches),
        other_bos=other.explained if other.n_tokens else math.nan,
    )


def _read_layers(
    loaded: SAE[Any], reader: LoadedModel, batch: PromptBatch, layers: dict[str, VarianceSums]
) -> None:
    """One forward pass with the SAE looking on at every layer."""
    with ExitStack() as stack:
        for name, sums in layers.items():

            def look(states: Tensor, sums: VarianceSums = sums) -> Tensor:
                _add(sums, loaded, states, batch.counts)
                return states

            stack.enter_context(changed(reader.module, name, look))
        reader.module.base_model(
            input_ids=batch.input_ids,
            attention_mask=batch.kept.long(),
            position_ids=positions_of(batch.kept.long()),
            use_cache=False,
        )


def _add(
    sums: VarianceSums,
    loaded: SAE[Any],
    states: Float[Tensor, "batch seq d_model"],
    wanted: Bool[Tensor, "batch seq"],
) -> None:
    if not bool(wanted.any()):
        return
    for inputs, _, outputs in passes(loaded, states, wanted):
        finite = inputs.isfinite().all(-1) & outputs.isfinite().all(-1)
        sums.add(inputs[finite], outputs[finite])


def _with_other_bos(row: Row, bos: int) -> Row:
    """A prompt without the BOS it begins with, or with one if it has none; a BOS that is new never counts."""
    ids, counts, places = row
    n_bos = int((places == BOS).sum())
    if n_bos:
        return ids[n_bos:], counts[n_bos:], places[n_bos:]
    return np.insert(ids, 0, bos), np.insert(counts, 0, False), np.insert(places, 0, BOS)
