"""What a training run reads: token sequences with the tokens that count marked.

Three kinds: passages packed end to end outside any template and passages inside the chat
template exactly as a benchmark's prompt is, mixed in one seeded order; and chat transcripts
with question and answer. Tokens of the template, BOS and special tokens never count.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import plain_ids, render_prompt, special_ids
from cg_pipeline.specs import SaeTraining


@dataclass(frozen=True)
class TokenSequence:
    """One sequence to read."""

    input_ids: Int[np.ndarray, " seq"]
    counts: Bool[np.ndarray, " seq"]
    """Tokens whose hidden state is kept."""

    @property
    def n_counted(self) -> int:
        """Number of tokens kept."""
        return int(self.counts.sum())


def plan_passages(loaded: LoadedModel, passages: Iterable[str], training: SaeTraining) -> list[TokenSequence]:
    """Sequences with just over the training's and the held-out tokens together, shuffled.

    Each passage goes through the chat template with probability `chat_share`.

    Raises:
        ValueError: the text holds fewer tokens than the training asks for.
    """
    wanted = training.n_tokens + training.held_out_tokens
    rng = random.Random(training.seed)
    sequences: list[TokenSequence] = []
    found = 0
    for sequence in _passage_sequences(loaded, passages, training, rng):
        sequences.append(sequence)
        found += sequence.n_counted
        if found >= wanted:
            break
    if found < wanted:
        raise ValueError(
            f"The text holds {found:,} content tokens; the training asks for {wanted:,}. "
            "Add text, or lower n_tokens."
        )
    rng.shuffle(sequences)
    return sequences


def _passage_sequences(
    loaded: LoadedModel, passages: Iterable[str], training: SaeTraining, rng: random.Random
) -> Iterator[TokenSequence]:
    packer = Packer(loaded, training.context_tokens)
    for passage in passages:
        if rng.random() < training.chat_share:
            yield prompt_sequence(loaded, passage, training.context_tokens)
        else:
            yield from packer.add(passage)


def prompt_sequence(loaded: LoadedModel, text: str, max_tokens: int | None = None) -> TokenSequence:
    """A text as a benchmark's prompt is read, its end cut off at `max_tokens`."""
    prompt = render_prompt(loaded.tokenizer, loaded.spec, text)
    return TokenSequence(prompt.input_ids[:max_tokens], prompt.content_mask[:max_tokens])


def transcript_sequence(loaded: LoadedModel, prompt: str, answer: str, max_tokens: int) -> TokenSequence:
    """A question and its answer; the tokens of both count."""
    question = render_prompt(loaded.tokenizer, loaded.spec, prompt)
    answer_ids = plain_ids(loaded.tokenizer, answer)
    ids = np.concatenate([question.input_ids, answer_ids])
    counts = np.concatenate([question.content_mask, np.ones(len(answer_ids), bool)])
    return TokenSequence(ids[:max_tokens], counts[:max_tokens])


_SINK_POSITIONS = 2
"""First positions of a packed sequence, whose states never count.

Attention sinks settle there: on SmolLM2, position 0 always and position 1 in one sequence of
30 has a norm a hundred times the rest, and one such token outweighs thousands in the loss.
"""


class Packer:
    """Joins passages into sequences of one length, each opening with the tokenizer's BOS."""

    def __init__(self, loaded: LoadedModel, context_tokens: int, waiting: Sequence[int] = ()) -> None:
        """`waiting` are tokens of passages before, that have not filled a sequence."""
        self._loaded = loaded
        self._length = context_tokens
        bos = loaded.tokenizer.bos_token_id
        self._opening = [loaded.tokenizer.eos_token_id if bos is None else bos]
        self._special = np.asarray(sorted(special_ids(loaded.tokenizer)))
        self._waiting = list(waiting)

    @property
    def waiting(self) -> list[int]:
        """Tokens that have not filled a sequence yet."""
        return list(self._waiting)

    def add(self, passage: str) -> Iterator[TokenSequence]:
        """The sequences that the passage fills up."""
        self._waiting += plain_ids(self._loaded.tokenizer, passage + "\n\n").tolist()
        room = self._length - 1
        while len(self._waiting) >= room:
            ids = np.asarray(self._opening + self._waiting[:room], np.int64)
            self._waiting = self._waiting[room:]
            counts = ~np.isin(ids, self._special)
            counts[:_SINK_POSITIONS] = False
            yield TokenSequence(ids, counts)
