"""An SAE on the model it was trained on: text in, saliency and concept labels out.

Forward passes stop at the SAE's hookpoint; only the tokens that the spec's `token_mask`
counts are encoded, a bounded number at a time, and each text is pooled where it was
encoded, so that what leaves the device is one sparse row per text.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from cg_pipeline.health_records import FitArrays, ReaderFit
from cg_pipeline.inference.batching import enough_tokens, filled, map_in_batches, pad_right
from cg_pipeline.inference.description import describe_dictionary
from cg_pipeline.inference.firings import Firings, firings_of, no_firings
from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.pooling import SparseRow, join_rows, pool_tokens
from cg_pipeline.inference.prompts import RenderedPrompt, render_answer, render_prompt
from cg_pipeline.inference.reader_fit import measure_fit
from cg_pipeline.inference.room import memory_of
from cg_pipeline.inference.sae_passes import chunk_tokens
from cg_pipeline.inference.saes import load_sae, reads_whole_texts
from cg_pipeline.inference.token_firings import SparseTokens, join_firings, mask_unwanted, split_tokens
from cg_pipeline.label_records import TokenFirings
from cg_pipeline.records import Concept, ConceptActivations
from cg_pipeline.specs import Sae

R = TypeVar("R")

_FIRINGS_KEPT = 24
_ENOUGH_ON_A_GPU = 2048
"""Tokens after which padding costs more than a larger batch gains: they keep a model of billions busy."""

_log = logging.getLogger(__name__)


class SaeEncoder:
    """`protocols.ConceptEncoder` for an SAE of the catalogue."""

    def __init__(self, sae: Sae, reader: LoadedModel, *, data_dir: Path, batch_tokens: int = 8192) -> None:
        """Load the SAE and check that it fits the model that reads.

        Args:
            sae: which SAE.
            reader: its model, loaded.
            data_dir: what the SAE's directory is relative to.
            batch_tokens: most tokens read at once, padding included; on a GPU in the first batch, and
                later ones are as large as its memory allows.

        Raises:
            FileNotFoundError: the SAE's directory is not there.
            PermissionError: its weights are pickled and not trusted.
            ValueError: the SAE does not fit the model, the hookpoint or its spec.
        """
        self._spec = sae
        self._reader = reader
        self._sae = load_sae(sae, reader, data_dir=data_dir)
        self._batch_tokens = batch_tokens
        self._chunk_tokens = chunk_tokens(sae.d_sae)

    @property
    def n_concepts(self) -> int:
        """Width of the dictionary: d_sae."""
        return self._spec.d_sae

    def read(self, example_ids: Sequence[str], texts: Sequence[str]) -> ConceptActivations:
        """Saliency of each text, in order: the mean activation over its counted tokens.

        a_c(x) = (1/|x|) Σ_t z_c(x_t). A text without a counted token, or longer than the
        reader has positions for, gets an empty row and n_tokens 0; it is never cut.

        Source: arXiv 2512.20638, saliency [given]; which tokens count is `Sae.token_mask`.

        Raises:
            ValueError: ids and texts differ in number, or the SAE gives activations below 0 or not finite.
        """
        return self._saliency(example_ids, [self._render(text) for text in texts])

    def read_answers(self, answer_ids: Sequence[str], turns: Sequence[tuple[str, str]]) -> ConceptActivations:
        """As `read`, of each answer after its question: over the answer's own tokens alone."""
        return self._saliency(answer_ids, [self._render_answer(*turn) for turn in turns])

    def describe(self, texts: Sequence[str]) -> list[Concept]:
        """An automatic label, rate and status for every concept, from one pass over the texts' content."""
        prompts = [self._render(text) for text in texts]
        starts = np.cumsum([0, *(int(prompt.content_mask.sum()) for prompt in prompts)])

        total = no_firings(self.n_concepts, _FIRINGS_KEPT, self._reader.device)

        def run(batch: list[int]) -> list[None]:
            nonlocal total
            numbers = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in batch])
            total = total.merged(self._firings([prompts[i] for i in batch], torch.from_numpy(numbers)))
            return [None] * len(batch)

        self._in_batches(run, prompts)
        return describe_dictionary(self._spec, self._reader, self._unit_directions(), total, texts, prompts)

    def fire(self, texts: Sequence[str], concept_ids: Sequence[int]) -> TokenFirings:
        """Activations of some concepts on every content token of the texts, in order."""
        prompts = [self._render(text) for text in texts]
        chosen = torch.tensor(sorted(set(concept_ids)), device=self._reader.device)

        def run(batch: list[int]) -> list[SparseTokens]:
            return self._chosen([prompts[i] for i in batch], chosen)

        return join_firings(prompts, self._in_batches(run, prompts), tuple(chosen.tolist()))

    def fit(self, texts: Sequence[str]) -> tuple[ReaderFit, FitArrays]:
        """How well the SAE fits its model on the texts, read as `read` does, and counts by latent.

        Raises:
            ValueError: the texts hold no token that counts.
        """
        prompts = [self._render(text) for text in texts]
        return measure_fit(self._spec, self._sae, self._reader, prompts, self._batch_tokens)

    def fire_each(self, texts: Sequence[str], concept_ids: Sequence[Sequence[int]]) -> TokenFirings:
        """Activations of each text's own concepts on its counted tokens, those that `read` pools, in order.

        A token that is not of the text itself, which other masks than `content` count, covers no character:
        it starts and ends at 0. Concepts of other texts are not looked at, wherever they fire.

        Args:
            texts: what is read.
            concept_ids: the concepts looked at in each of them.

        Raises:
            ValueError: there are not as many lists of concepts as texts, or an activation is below 0 or
                not finite.
        """
        if len(texts) != len(concept_ids):
            raise ValueError(
                f"{len(concept_ids)} lists of concepts for {len(texts)} texts; expected one each."
            )
        prompts = [self._render(text) for text in texts]
        union = sorted({concept for ids in concept_ids for concept in ids})
        looked_at = torch.tensor(union, dtype=torch.long, device=self._reader.device)

        def run(batch: list[int]) -> list[SparseTokens]:
            return self._own([prompts[i] for i in batch], [concept_ids[i] for i in batch], looked_at)

        found = self._in_batches(run, prompts)
        return join_firings(prompts, found, tuple(looked_at.tolist()), self._spec.token_mask)

    def directions(self) -> Float[np.ndarray, "n_concepts d_model"]:
        """Decoder directions of unit length; a latent whose direction is zero keeps it."""
        return self._unit_directions().cpu().numpy()

    def _saliency(self, names: Sequence[str], prompts: list[RenderedPrompt]) -> ConceptActivations:
        if len(names) != len(prompts):
            raise ValueError(f"{len(names)} ids for {len(prompts)} texts; expected one each.")

        def run(batch: list[int]) -> list[SparseRow]:
            return self._pooled([prompts[i] for i in batch])

        return join_rows(tuple(names), self._in_batches(run, prompts), self.n_concepts)

    def _in_batches(
        self, run: Callable[[list[int]], Sequence[R]], prompts: Sequence[RenderedPrompt]
    ) -> list[R]:
        """What `run` returns for each prompt; a batch large enough takes none that is much shorter."""
        lengths, device = [len(prompt.input_ids) for prompt in prompts], self._reader.device
        enough = enough_tokens(device) or _ENOUGH_ON_A_GPU
        return map_in_batches(run, lengths, self._batch_tokens, enough, memory_of(device))

    def _unit_directions(self) -> Float[Tensor, "d_sae d_model"]:
        return torch.nn.functional.normalize(self._sae.W_dec.detach().float(), dim=-1)

    def _render(self, text: str) -> RenderedPrompt:
        """The text as its model would be asked it."""
        return self._within_positions(render_prompt(self._reader.tokenizer, self._reader.spec, text))

    def _render_answer(self, question: str, answer: str) -> RenderedPrompt:
        """The answer as the model would have given it; without tokens when there is none to read."""
        prompt = render_answer(self._reader.tokenizer, self._reader.spec, question, answer)
        return self._within_positions(prompt) if prompt.content_mask.any() else prompt.without_tokens()

    def _within_positions(self, prompt: RenderedPrompt) -> RenderedPrompt:
        """The same, without tokens when the model has no positions for them."""
        name, positions = self._reader.spec.name, self._reader.n_positions
        if len(prompt.input_ids) <= positions:
            return prompt
        _log.warning(
            "Left out a text of %d tokens: %s has %d positions.", len(prompt.input_ids), name, positions
        )
        return prompt.without_tokens()

    def _pooled(self, prompts: list[RenderedPrompt]) -> list[SparseRow]:
        masks = [prompt.counted(self._spec.token_mask) for prompt in prompts]
        chunks = self._activations(prompts, masks)
        return pool_tokens(chunks, [int(mask.sum()) for mask in masks], self.n_concepts, self._reader.device)

    @torch.no_grad()
    def _chosen(self, prompts: list[RenderedPrompt], chosen: Tensor) -> list[SparseTokens]:
        masks = [prompt.content_mask for prompt in prompts]
        chunks = [chunk[:, chosen].float() for chunk in self._activations(prompts, masks)]
        return split_tokens(chunks, [int(mask.sum()) for mask in masks], len(chosen))

    @torch.no_grad()
    def _own(
        self, prompts: list[RenderedPrompt], wanted: list[Sequence[int]], looked_at: Tensor
    ) -> list[SparseTokens]:
        masks = [prompt.counted(self._spec.token_mask) for prompt in prompts]
        counts = [int(mask.sum()) for mask in masks]
        chunks = mask_unwanted(self._activations(prompts, masks), counts, wanted, looked_at)
        return split_tokens(chunks, counts, len(looked_at))

    @torch.no_grad()
    def _firings(self, prompts: list[RenderedPrompt], numbers: Tensor) -> Firings:
        total = no_firings(self.n_concepts, _FIRINGS_KEPT, self._reader.device)
        numbers = numbers.to(self._reader.device)
        for chunk in self._activations(prompts, [prompt.content_mask for prompt in prompts]):
            here, numbers = numbers[: len(chunk)], numbers[len(chunk) :]
            total = total.merged(firings_of(chunk.float(), here, _FIRINGS_KEPT))
        return total

    def _activations(
        self, prompts: list[RenderedPrompt], masks: list[np.ndarray]
    ) -> Iterator[Float[Tensor, "_ d_sae"]]:
        """Activations of the tokens under the masks, prompt after prompt, in pieces of bounded size."""
        if not any(mask.any() for mask in masks):
            return
        inputs = pad_right([prompt.input_ids for prompt in prompts], 0).to(self._reader.device)
        kept = filled([len(prompt.input_ids) for prompt in prompts]).long().to(self._reader.device)
        states = read_hidden_states(self._reader.module, self._spec.hookpoint, inputs, kept)
        wanted = pad_right([mask.astype(np.int64) for mask in masks], 0).bool().to(self._reader.device)
        if reads_whole_texts(self._sae):
            for row, mask in zip(states, wanted, strict=True):  # what is padded comes after it all
                yield self._sae.encode(row[None])[0][mask]
        else:
            for some in states[wanted].split(self._chunk_tokens):
                yield self._sae.encode(some)
