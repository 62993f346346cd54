"""The corpus is balanced, free of repeats, and the same for the same seed."""

import random
from pathlib import Path

import pytest

from cg_pipeline.sources.debian_text import DebianPackage, DebianText
from cg_pipeline.sources.text_readers import read_plain
from cg_pipeline.sources.training_text import (
    MAX_PASSAGE_CHARS,
    join_passages,
    read_debian_corpus,
    read_prompts,
)

SENTENCE = "Sentence number {} tells of {} grey geese that crossed the wide river."
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def _write_prose(path: Path, n: int = 144) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs = [(a, b) for a in WORDS for b in WORDS][:n]
    path.write_text("\n\n".join(SENTENCE.format(a, b) for a, b in pairs), "utf-8")


def _source(cache: Path, name: str, max_chars: int) -> DebianText:
    package = DebianPackage(name=name, version="1", sha256="0" * 64)
    _write_prose(cache / "packages" / f"{name}_1" / "book.txt")
    return DebianText(
        name=name,
        kind="",
        licence="",
        packages=(package,),
        files=("*.txt",),
        read=read_plain,
        max_chars=max_chars,
    )


def test_same_seed_same_corpus(tmp_path: Path) -> None:
    source = _source(tmp_path, "geese", 10**6)
    first, again, other = (read_debian_corpus(tmp_path, seed=seed, sources=[source]) for seed in (0, 0, 1))
    assert first == again != other
    assert {name for name, _ in first} == {"geese"}


def test_a_source_stays_within_its_limit(tmp_path: Path) -> None:
    corpus = read_debian_corpus(tmp_path, seed=0, sources=[_source(tmp_path, "geese", 3000)])
    assert 0 < sum(len(passage) for _, passage in corpus) <= 3000


def test_repeats_across_sources_are_dropped(tmp_path: Path) -> None:
    sources = [_source(tmp_path, name, 10**6) for name in ("first", "second")]
    corpus = read_debian_corpus(tmp_path, seed=0, sources=sources)
    assert {name for name, _ in corpus} == {"first"}
    lines = [line for _, passage in corpus for line in passage.split("\n\n")]
    assert len(lines) == len(set(lines)) == 144


def test_passages_have_many_lengths_and_long_paragraphs_are_cut_at_a_sentence() -> None:
    short = [SENTENCE.format(a, b) for a in WORDS for b in WORDS]
    long = " ".join(SENTENCE.format(a, b) for a in WORDS for b in reversed(WORDS))
    passages = list(join_passages([*short, long], random.Random(0)))
    lengths = [len(passage) for passage in passages]
    assert max(lengths) <= MAX_PASSAGE_CHARS + 2 * len(SENTENCE)
    assert len(set(lengths)) > 5
    assert all(passage.endswith(".") for passage in passages)


def test_prompts_are_lines_without_comments_and_repeats(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("# note\nWhat is up?\n\n", "utf-8")
    (tmp_path / "a.txt").write_text("Hello there!\nWhat is up?\n", "utf-8")
    assert read_prompts(tmp_path) == ["Hello there!", "What is up?"]


def test_a_folder_without_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"holds no prompt; expected \.txt files with one prompt per line"
    ):
        read_prompts(tmp_path)
