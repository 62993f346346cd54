"""The corpus a reader SAE is trained on: passages of broad English, in a fixed shuffled order.

A passage is a run of consecutive paragraphs of one file, of a length drawn at random, since
benchmarks ask in one line what a book says in a page. Passages of a benchmark are never
among them: the sources are packages and folders, not the data directory's suite.
"""

import hashlib
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from cg_pipeline.sources.debian_sources import DEBIAN_TEXTS
from cg_pipeline.sources.debian_text import DebianText, fetch_package, read_paragraphs

MIN_PASSAGE_CHARS = 60
MAX_PASSAGE_CHARS = 1200


def read_debian_corpus(
    cache_dir: Path, *, seed: int, sources: Iterable[DebianText] = DEBIAN_TEXTS
) -> list[tuple[str, str]]:
    """(source name, passage) pairs of all sources within their limits, deduplicated and shuffled.

    Raises:
        FileNotFoundError: a package is not in the cache and apt cannot fetch it.
        ValueError: a package's file has the wrong hash.
    """
    chosen = []
    seen: set[bytes] = set()
    for source in sources:
        folders = [fetch_package(package, cache_dir) for package in source.packages]
        rng = random.Random(f"{seed} {source.name}")
        passages = list(_passages_of(read_paragraphs(source, folders), seen, rng))
        rng.shuffle(passages)
        chosen += [(source.name, passage) for passage in _within(passages, source.max_chars)]
    random.Random(seed).shuffle(chosen)
    return chosen


def read_prompts(folder: Path) -> list[str]:
    """Chat prompts, one per line, of every .txt file of a folder, in the files' alphabetical order.

    Raises:
        FileNotFoundError: the folder holds no prompt.
    """
    texts = (path.read_text("utf-8") for path in sorted(folder.glob("*.txt")))
    lines = (line.strip() for text in texts for line in text.splitlines())
    prompts = list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))
    if not prompts:
        raise FileNotFoundError(f"{folder} holds no prompt; expected .txt files with one prompt per line.")
    return prompts


def _passages_of(files: Iterable[list[str]], seen: set[bytes], rng: random.Random) -> Iterator[str]:
    for paragraphs in files:
        yield from join_passages((text for text in paragraphs if _is_new(text, seen)), rng)


def _is_new(paragraph: str, seen: set[bytes]) -> bool:
    """Whether its letters were not met before; remembers them."""
    letters = "".join(filter(str.isalpha, paragraph.lower()))
    key = hashlib.blake2b(letters.encode(), digest_size=8).digest()
    known = key in seen
    seen.add(key)
    return not known


def join_passages(paragraphs: Iterable[str], rng: random.Random) -> Iterator[str]:
    """Consecutive paragraphs up to a length drawn log-uniformly; a longer paragraph is cut at a sentence."""
    parts: list[str] = []
    limit = _draw_length(rng)
    for paragraph in paragraphs:
        if parts and sum(map(len, parts)) + len(paragraph) > limit:
            yield "\n\n".join(parts)
            parts, limit = [], _draw_length(rng)
        *pieces, last = _cut(paragraph)
        yield from pieces
        parts.append(last)
    if parts:
        yield "\n\n".join(parts)


def _draw_length(rng: random.Random) -> int:
    return round(MIN_PASSAGE_CHARS * (MAX_PASSAGE_CHARS / MIN_PASSAGE_CHARS) ** rng.random())


def _cut(paragraph: str) -> list[str]:
    pieces = []
    while len(paragraph) > MAX_PASSAGE_CHARS:
        sentence, word = (paragraph.rfind(mark, 0, MAX_PASSAGE_CHARS) + 1 for mark in (". ", " "))
        end = sentence or word or MAX_PASSAGE_CHARS
        pieces.append(paragraph[:end].strip())
        paragraph = paragraph[end:].strip()
    return [*pieces, paragraph]


def _within(passages: Iterable[str], max_chars: int) -> Iterator[str]:
    total = 0
    for passage in passages:
        total += len(passage)
        if total > max_chars:
            return
        yield passage
