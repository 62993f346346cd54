"""Documents become passages of many lengths, the same from wherever a run goes on."""

from pathlib import Path

import pytest

from cg_pipeline.sources import reader_text
from cg_pipeline.sources.reader_text import open_text
from cg_pipeline.sources.training_text import MAX_PASSAGE_CHARS
from cg_pipeline.training_specs import HubText, TextFolder

SENTENCE = "Sentence number {} tells of grey geese that crossed the wide river. "
HUB = HubText(repo="org/text", revision="a" * 40)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(
            "\n\n".join(name + SENTENCE.format(n) * (1 + n % 5) for n in range(300)), "utf-8"
        )
    return tmp_path


def test_a_directory_becomes_passages_of_many_lengths(folder: Path) -> None:
    text = open_text(TextFolder(path=str(folder)), seed=0, data_dir=folder, cache_dir=folder)
    passages = [passage for document in text.documents(0) for passage in document]
    lengths = [len(passage) for passage in passages]
    assert len(set(lengths)) > 5
    assert max(lengths) <= MAX_PASSAGE_CHARS + 5 * len(SENTENCE)
    assert sum(passage.count("Sentence number") for passage in passages) == 2 * sum(
        1 + n % 5 for n in range(300)
    )


@pytest.mark.parametrize("start", [0, 1, 3])
def test_it_goes_on_with_the_same_passages(folder: Path, start: int) -> None:
    text = open_text(TextFolder(path="."), seed=0, data_dir=folder, cache_dir=folder)
    assert list(text.documents(start)) == list(text.documents(0))[start:]


def test_the_hub_is_asked_from_where_it_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[HubText, int]] = []

    def documents(pin: HubText, start: int):
        asked.append((pin, start))
        return iter(["One paragraph.\n\nAnother.", "", "A third."][start:])

    monkeypatch.setattr(reader_text, "hub_documents", documents)
    text = open_text(HUB, seed=0, data_dir=tmp_path, cache_dir=tmp_path)
    whole = list(text.documents(0))
    assert [" ".join(passages).split() for passages in whole] == [
        ["One", "paragraph.", "Another."],
        [],
        ["A", "third."],
    ]
    assert list(text.documents(1)) == whole[1:]
    assert asked == [(HUB, 0), (HUB, 1)]


def test_another_text_has_another_identity(folder: Path, tmp_path: Path) -> None:
    def identity(text: HubText | TextFolder) -> str:
        return open_text(text, seed=0, data_dir=folder, cache_dir=tmp_path).identity

    different = (
        HUB,
        HubText(repo="org/text", revision="b" * 40),
        HubText(repo="org/text", revision="a" * 40, field="body"),
        TextFolder(path="."),
        TextFolder(path=".", field="body"),
    )
    assert len({identity(text) for text in different}) == 5
    gated = HubText(repo="org/text", revision="a" * 40, gated="terms")
    assert identity(gated) == identity(HUB)
