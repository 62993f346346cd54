"""A text without end in sight as token sequences, at a position that can be written down and found again.

The same sequences as `reading_plan` makes: packed passages, passages in the chat template, and between
them, evenly spread, transcripts of the model's own answers. What a document gives depends on the seed and
its number alone, so a position is a handful of numbers and the tokens that wait to be packed.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.reading_plan import Packer, TokenSequence, prompt_sequence
from cg_pipeline.specs import SaeTraining

Documents = Callable[[int], Iterator[Sequence[str]]]
"""The passages of each document of a text from the n-th on; the same ones every time it is asked."""


@dataclass
class StreamPosition:
    """Where a stream is."""

    epoch: int = 0
    document: int = 0
    """Number of the document being read."""
    n_used: int = 0
    """Sequences of it that were taken."""
    waiting: list[int] = field(default_factory=list[int])
    """Token ids of documents before it that wait to be packed."""
    n_taken: int = 0
    """Counted tokens taken in this epoch."""
    n_transcripts: int = 0
    """Transcripts taken in this epoch."""
    first_document: int = 0
    """Where each epoch begins: behind what is held out."""


class TokenStream:
    """Sequences of a text, `n_epochs` times `n_tokens` counted tokens of it."""

    def __init__(
        self,
        loaded: LoadedModel,
        documents: Documents,
        transcripts: Sequence[TokenSequence],
        training: SaeTraining,
    ) -> None:
        """Nothing is read before something is taken."""
        self._loaded, self._documents, self._training = loaded, documents, training
        self._transcripts = transcripts
        self.position = StreamPosition()
        self._reading: Iterator[TokenSequence] | None = None

    def seek(self, position: StreamPosition) -> None:
        """Go on from there."""
        self.position, self._reading = position, None

    def hold_out(self, n_tokens: int) -> list[TokenSequence]:
        """The first `n_tokens` counted tokens of the text; training begins with the document after them.

        Raises:
            ValueError: the text holds fewer.
        """
        taken: list[TokenSequence] = []
        while (missing := n_tokens - sum(each.n_counted for each in taken)) > 0:
            taken.append(_cut(self._next(), missing))
        begin = self.position.document + 1
        self.seek(StreamPosition(document=begin, first_document=begin))
        return taken

    @property
    def is_over(self) -> bool:
        """Whether every epoch was read."""
        last = self._training.n_epochs - 1
        return self.position.epoch >= last and self.position.n_taken >= self._training.n_tokens

    def take(self, n_tokens: int) -> list[TokenSequence]:
        """The next sequences, with `n_tokens` counted tokens, or fewer if the stream is over after them.

        Raises:
            ValueError: the text holds fewer tokens than the training asks for.
        """
        taken: list[TokenSequence] = []
        missing = n_tokens
        while missing > 0 and not self.is_over:
            if self.position.n_taken >= self._training.n_tokens:
                self._begin_again()
            rest = self._training.n_tokens - self.position.n_taken
            sequence = _cut(self._next_or_transcript(), min(missing, rest))
            taken.append(sequence)
            missing -= sequence.n_counted
            self.position.n_taken += sequence.n_counted
        return taken

    def _begin_again(self) -> None:
        first = self.position.first_document
        self.seek(StreamPosition(epoch=self.position.epoch + 1, document=first, first_document=first))

    def _next_or_transcript(self) -> TokenSequence:
        said, all_of_them = self.position.n_transcripts, len(self._transcripts)
        due = (said + 1) * self._training.n_tokens / (all_of_them + 1)
        if said < all_of_them and self.position.n_taken >= due:
            self.position.n_transcripts += 1
            return self._transcripts[said]
        return self._next()

    def _next(self) -> TokenSequence:
        if self._reading is None:
            self._reading = self._read()
        try:
            return next(self._reading)
        except StopIteration:
            raise ValueError(
                f"The text ends after {self.position.document:,} documents, {self.position.n_taken:,} tokens "
                f"behind what is held out; the training asks for {self._training.n_tokens:,}. "
                "Add text, or lower n_tokens."
            ) from None

    def _read(self) -> Iterator[TokenSequence]:
        """Sequences from the position on, which is moved before each is handed out."""
        packer = Packer(self._loaded, self._training.context_tokens, self.position.waiting)
        for passages in self._documents(self.position.document):
            sequences = self._sequences(packer, passages)
            while self.position.n_used < len(sequences):
                self.position.n_used += 1
                yield sequences[self.position.n_used - 1]
            self.position.document += 1
            self.position.n_used = 0
            self.position.waiting = packer.waiting

    def _sequences(self, packer: Packer, passages: Sequence[str]) -> list[TokenSequence]:
        place = self.position
        rng = random.Random(f"{self._training.seed} {place.epoch} {place.document}")
        found: list[TokenSequence] = []
        for passage in passages:
            if rng.random() < self._training.chat_share:
                found.append(prompt_sequence(self._loaded, passage, self._training.context_tokens))
            else:
                found += packer.add(passage)
        return found


def _cut(sequence: TokenSequence, n_tokens: int) -> TokenSequence:
    """The same with at most its first `n_tokens` counted tokens counted."""
    if sequence.n_counted <= n_tokens:
        return sequence
    return TokenSequence(sequence.input_ids, sequence.counts & (np.cumsum(sequence.counts) <= n_tokens))
