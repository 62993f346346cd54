"""A stream goes on from any position as if it had never stopped, and what is held out is never trained on."""

from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cg_pipeline.inference.reading_plan import TokenSequence, transcript_sequence
from cg_pipeline.inference.token_stream import StreamPosition, TokenStream
from cg_pipeline.specs import SaeTraining
from tests.fakes import tiny_loaded_model

TINY = tiny_loaded_model()
TRAINING = SaeTraining(
    k=8,
    n_tokens=600,
    n_epochs=2,
    context_tokens=32,
    chat_share=0.5,
    learning_rate=1e-3,
    batch_tokens=64,
    seed=0,
    buffer_tokens=256,
)
N_DOCUMENTS = 90


def documents(start: int) -> Iterator[list[str]]:
    for number in range(start, N_DOCUMENTS):
        yield [f"The cat number {number} sat on the mat.", f"A dog ran to {number} parks and reads."][
            : number % 3
        ]


def stream(training: SaeTraining = TRAINING, transcripts: tuple[TokenSequence, ...] = ()) -> TokenStream:
    return TokenStream(TINY, documents, transcripts, training)


def ids(sequences: list[TokenSequence]) -> list[list[int]]:
    return [sequence.input_ids[sequence.counts].tolist() for sequence in sequences]


def numbers(sequences: list[TokenSequence]) -> set[int]:
    """Numbers of the documents that are read."""
    words = " ".join(str(TINY.tokenizer.decode(each)) for each in ids(sequences)).split()
    return {int(word) for word in words if word.isdigit()}


def said() -> tuple[TokenSequence, ...]:
    pairs = (("Is it five?", "Yes."), ("Is it six?", "No."), ("Is it?", "It is."))
    return tuple(transcript_sequence(TINY, *pair, 32) for pair in pairs)


@settings(deadline=None, max_examples=25)
@given(n_before=st.integers(1, 1190), n_after=st.integers(1, 400))
def test_from_a_position_it_goes_on_the_same(n_before: int, n_after: int) -> None:
    first, second = stream(transcripts=said()), stream(transcripts=said())
    first.hold_out(50)
    first.take(n_before)
    second.seek(StreamPosition(**asdict(first.position)))
    assert ids(first.take(n_after)) == ids(second.take(n_after))
    assert first.position == second.position


def test_it_gives_as_many_tokens_as_are_asked_for_and_ends_after_all_epochs() -> None:
    whole = stream()
    taken = whole.take(1000)
    assert sum(each.n_counted for each in taken) == 1000
    assert not whole.is_over
    assert sum(each.n_counted for each in whole.take(1000)) == 200
    assert whole.is_over
    assert whole.take(1000) == []


def test_every_epoch_reads_the_same_text() -> None:
    raw = stream(replace(TRAINING, chat_share=0.0))
    first, second = raw.take(600), raw.take(600)
    assert ids(first) == ids(second)


def test_what_is_held_out_is_not_trained_on() -> None:
    """Every document has a number of its own, and no document lies on both sides."""
    whole = stream(replace(TRAINING, chat_share=1.0, n_epochs=1))
    held, trained = numbers(whole.hold_out(100)), numbers(whole.take(600))
    assert held
    assert trained
    assert not held & trained


def test_transcripts_are_spread_over_an_epoch() -> None:
    whole = stream(replace(TRAINING, n_epochs=1), said())
    found = [tuple(each) for each in ids(whole.take(600))]
    places = [found.index(tuple(each)) / len(found) for each in ids(list(said()))]
    assert places == sorted(places)
    assert np.allclose(places, [0.25, 0.5, 0.75], atol=0.12)


def test_too_little_text_is_refused() -> None:
    short = stream(replace(TRAINING, n_tokens=10**6))
    with pytest.raises(
        ValueError, match=r"ends after 90 documents, [\d,]+ tokens behind .*asks for 1,000,000"
    ):
        short.take(10**6)
