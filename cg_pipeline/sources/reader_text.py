"""The text that a spec names for the training of a reader: Debian packages, a directory, or the hub.

Every document becomes passages of lengths drawn at random, as benchmarks ask in one line what a book says in
a page. The draw depends on the seed and the document's number alone, so that a run goes on with the very
text it would have read.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cg_pipeline.records import content_id
from cg_pipeline.sources.hub_text import hub_documents
from cg_pipeline.sources.text_folder import folder_documents, folder_identity
from cg_pipeline.sources.text_readers import read_plain
from cg_pipeline.sources.training_text import join_passages, read_debian_corpus
from cg_pipeline.training_specs import HubText, TextFolder


@dataclass(frozen=True)
class ReaderText:
    """A text, and what tells it from others."""

    documents: Callable[[int], Iterator[Sequence[str]]]
    """The passages of each document from the n-th on; the same ones every time."""
    identity: str


def open_text(text: HubText | TextFolder | None, *, seed: int, data_dir: Path, cache_dir: Path) -> ReaderText:
    """The text of a training, opened where it is read, so that nothing of it need fit into memory.

    The Debian packages of the embedded SAE (None) are read whole, without repetitions and shuffled.

    Args:
        text: where it is.
        seed: for lengths and order.
        data_dir: what a relative directory is relative to.
        cache_dir: where Debian packages are kept.

    Raises:
        FileNotFoundError: the directory holds no text, or a package cannot be fetched.
    """
    if text is None:
        passages = [passage for _, passage in read_debian_corpus(cache_dir / "training_text", seed=seed)]
        return ReaderText(lambda start: ([each] for each in passages[start:]), content_id(passages))
    if isinstance(text, HubText):
        pin = (text.repo, text.revision, text.config, text.split, text.field)
        return ReaderText(
            lambda start: _passages(hub_documents(text, start), start, seed), content_id("hub", pin)
        )
    folder = data_dir / Path(text.path).expanduser()
    identity = content_id("folder", folder_identity(folder), text.field)
    return ReaderText(
        lambda start: _passages(folder_documents(folder, text.field, seed=seed, start=start), start, seed),
        identity,
    )


def _passages(documents: Iterator[str], start: int, seed: int) -> Iterator[list[str]]:
    for number, document in enumerate(documents, start=start):
        paragraphs = filter(None, read_plain(document))
        yield list(join_passages(paragraphs, random.Random(f"{seed} {number}")))
