"""The concept dictionary of an SAE: from where its latents fire to one `Concept` each."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float
from torch import Tensor

from cg_pipeline.inference.firings import Firings
from cg_pipeline.inference.labels import label_concepts, strongest_contexts, strongest_tokens
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.occurrences import Occurrence
from cg_pipeline.inference.promotion import promoted_tokens
from cg_pipeline.inference.prompts import RenderedPrompt
from cg_pipeline.records import Concept
from cg_pipeline.specs import Sae


def describe_dictionary(
    sae: Sae,
    reader: LoadedModel,
    directions: Float[Tensor, "d_sae d_model"],
    firings: Firings,
    texts: Sequence[str],
    prompts: Sequence[RenderedPrompt],
) -> list[Concept]:
    """One concept per latent, in their order.

    Args:
        sae: the SAE described.
        reader: its model.
        directions: its decoder directions.
        firings: what was seen over the content tokens of the prompts, numbered through all of them.
        texts: the texts that the prompts were made of.
        prompts: the same texts as token ids.
    """
    occurrences = locate_firings(firings, texts, prompts)
    promoted = promoted_tokens(reader, directions)
    labels = label_concepts(occurrences, promoted)
    rates = (firings.counts.cpu().double() / max(1, firings.n_tokens)).tolist()
    return [
        Concept(
            sae=sae.name,
            concept_id=index,
            label=labels[index],
            label_source="automatic",
            firing_rate=rates[index],
            status=_status(rates[index], sae.dense_threshold),
            top_tokens=strongest_tokens(occurrences[index]),
            contexts=strongest_contexts(occurrences[index]),
            promoted_tokens=promoted[index],
        )
        for index in range(sae.d_sae)
    ]


def locate_firings(
    firings: Firings, texts: Sequence[str], prompts: Sequence[RenderedPrompt]
) -> list[list[Occurrence]]:
    """Where each concept fires most strongly, strongest first."""
    spans = np.concatenate(
        [np.zeros((0, 2), np.int64), *(prompt.spans[prompt.content_mask] for prompt in prompts)]
    )
    text_of = np.repeat(np.arange(len(prompts)), [int(prompt.content_mask.sum()) for prompt in prompts])
    values, tokens = firings.values.T.tolist(), firings.tokens.T.tolist()
    return [
        [
            Occurrence(texts[int(text_of[token])], int(spans[token, 0]), int(spans[token, 1]), value)
            for value, token in zip(concept_values, concept_tokens, strict=True)
            if token >= 0
        ]
        for concept_values, concept_tokens in zip(values, tokens, strict=True)
    ]


def _status(rate: float, dense_threshold: float) -> Literal["alive", "dead", "dense"]:
    if rate == 0.0:
        return "dead"
    return "dense" if rate > dense_threshold else "alive"
