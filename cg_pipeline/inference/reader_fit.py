"""How well an SAE fits the model that reads with it, on given texts: figures for a gate, counts by latent.

Three passes. All texts as far as the hookpoint: variance explained, latents that fire on each kind
of token, values that are no numbers. Some of them through the whole model, four times: its loss as it
is, with reconstructions in place of states, with the mean state, with zeros. A few under the
experiments of `fit_probes`.

Why only some: loss costs the whole model four times over, and its ratio settles with a few hundred
tokens (0.973 and 0.980 on two samples of 800), where counts by latent want all there are.
"""

from collections.abc import Sequence
from typing import Any

import torch
from sae_lens import SAE

from cg_pipeline.health_records import FitArrays, ReaderFit
from cg_pipeline.inference.batching import enough_tokens, map_in_batches
from cg_pipeline.inference.fit_probes import SCALES, Probes, probe
from cg_pipeline.inference.fit_sums import FitSums
from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.loss_recovered import SplicedBatch, spliced_losses
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.near_directions import nearest_directions
from cg_pipeline.inference.prompt_batches import BOS, Row, batches_of, bos_of, prompt_row
from cg_pipeline.inference.prompts import RenderedPrompt
from cg_pipeline.inference.sae_passes import passes
from cg_pipeline.specs import Sae

N_SPLICED = 16
"""Texts, the first ones, whose loss is measured."""
N_PROBED = 16
"""Texts, the first ones, that the experiments are made with."""


def measure_fit(
    sae: Sae, loaded: SAE[Any], reader: LoadedModel, prompts: Sequence[RenderedPrompt], batch_tokens: int
) -> tuple[ReaderFit, FitArrays]:
    """Figures of an SAE on the prompts, and counts by latent.

    Losses are of the content tokens that follow one; only states of tokens that count are replaced, since no
    others are read by the SAE (`loss_recovered.spliced_losses`).

    Returns:
        The figures, whose `model`, `identity` and `path` are for whoever stores them to fill in, and
        the counts.

    Raises:
        ValueError: the prompts hold no token that counts.
    """
    rows = [prompt_row(prompt, bos_of(reader), sae.token_mask) for prompt in prompts]
    sums = _read(sae, loaded, reader, rows, batch_tokens)
    if not sums.counted.n_tokens and not (sums.n_not_finite or sums.n_negative):
        raise ValueError(
            f"{len(prompts)} sampled texts hold no token that counts for SAE {sae.name!r} (token_mask="
            f"{sae.token_mask!r}); expected some. Look at the examples, or at the chat template."
        )
    batches = list(batches_of(rows[:N_PROBED], batch_tokens, reader.device))
    probes = probe(loaded, reader, sae.hookpoint, batches)
    found = _losses(sae, loaded, reader, rows[:N_SPLICED], sums, batch_tokens)
    return _figures(sae, rows, sums, probes, found), _arrays(loaded, sums)


def _read(sae: Sae, loaded: SAE[Any], reader: LoadedModel, rows: Sequence[Row], batch_tokens: int) -> FitSums:
    sums = FitSums(sae.d_sae)

    @torch.no_grad()
    def run(chosen: list[int]) -> list[None]:
        here = FitSums(sae.d_sae)
        for batch in batches_of([rows[index] for index in chosen], batch_tokens, reader.device):
            states = read_hidden_states(reader.module, sae.hookpoint, batch.input_ids, batch.kept.long())
            places, counts = batch.places[batch.kept], batch.counts[batch.kept]
            for found in passes(loaded, states, batch.kept):
                n = len(found[0])
                here.add(*found, places[:n], counts[:n])
                places, counts = places[n:], counts[n:]
        sums.absorb(here)  # not before: a batch that does not fit is read again in halves
        return [None] * len(chosen)

    map_in_batches(run, [len(ids) for ids, _, _ in rows], batch_tokens, enough_tokens(reader.device))
    return sums


def _losses(
    sae: Sae, loaded: SAE[Any], reader: LoadedModel, rows: Sequence[Row], sums: FitSums, batch_tokens: int
) -> dict[str, float]:
    """What is spliced in costs nothing that could be told where no token counts."""
    found = batches_of(rows if sums.counted.n_tokens else [], batch_tokens, reader.device)
    batches = (SplicedBatch(each.input_ids, each.kept, each.counts, each.predicted) for each in found)
    mean = sums.counted.mean if sums.counted.n_tokens else torch.zeros(reader.d_model)
    return spliced_losses(reader, loaded, sae.hookpoint, batches, mean)


def _figures(
    sae: Sae, rows: Sequence[Row], sums: FitSums, probes: Probes, found: dict[str, float]
) -> ReaderFit:
    return ReaderFit(
        model="",
        sae=sae.name,
        reader=sae.model.name,
        identity="",
        hookpoint=sae.hookpoint,
        d_sae=sae.d_sae,
        n_examples=len(rows),
        n_tokens=sums.counted.n_tokens,
        n_not_finite=sums.n_not_finite,
        n_negative=sums.n_negative,
        n_bos=max((int((places == BOS).sum()) for _, _, places in rows), default=0),
        explained_variance=sums.counted.explained,
        content_explained_variance=sums.content.explained,
        l0=sums.l0,
        n_predicted=int(found["n_predicted"]),
        loss=found["loss"],
        spliced_loss=found["spliced_loss"],
        mean_loss=found["mean_loss"],
        zero_loss=found["zero_loss"],
        loss_recovered=found["loss_recovered"],
        zero_loss_recovered=found["zero_loss_recovered"],
        n_probed_tokens=probes.n_tokens,
        hookpoints=probes.hookpoints,
        hookpoint_explained_variance=probes.by_hookpoint,
        scales=SCALES,
        scale_explained_variance=probes.by_scale,
        has_bos=probes.has_bos,
        other_bos_explained_variance=probes.other_bos,
        path="",
    )


def _arrays(loaded: SAE[Any], sums: FitSums) -> FitArrays:
    directions = torch.nn.functional.normalize(loaded.W_dec.detach().float(), dim=-1)
    nearest, cosine = nearest_directions(directions)
    return FitArrays(
        firings=sums.firings,
        n_tokens=sums.n_tokens,
        counted_firings=sums.counted_firings,
        counted_tokens=sums.counted_tokens,
        nearest=nearest.cpu().numpy(),
        cosine=cosine.cpu().numpy(),
    )
