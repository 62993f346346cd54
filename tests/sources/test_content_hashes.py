"""A file is what is in it, wherever it lies; and what was read once is not read again."""

import json
import os
from pathlib import Path

import pytest

from cg_pipeline.sources.content_hashes import content_hash, file_hash


def kept(cache_dir: Path) -> list[Path]:
    return sorted((cache_dir / "hashes").glob("*"))


def test_the_place_does_not_count_and_the_content_does(tmp_path: Path):
    for name, text in (("here", "a"), ("there", "a"), ("other", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_text(text)
    here, there, other = (
        content_hash([tmp_path / name / "weights"], tmp_path / "cache") for name in ("here", "there", "other")
    )
    assert here == there != other


def test_the_names_count_and_the_order_does_not(tmp_path: Path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    (tmp_path / "c").write_text("b")
    a, b, c = (tmp_path / name for name in "abc")
    assert content_hash([a, b], tmp_path) == content_hash([b, a], tmp_path) != content_hash([a, c], tmp_path)


def test_the_same_file_is_read_once(tmp_path: Path):
    """What is kept is believed: a test that a lie is told on proves that nothing was read."""
    path = tmp_path / "weights"
    path.write_text("a")
    first = file_hash(path, tmp_path)
    [note] = kept(tmp_path)
    note.write_text(json.dumps({**json.loads(note.read_text()), "sha256": "kept"}))
    assert file_hash(path, tmp_path) == "kept" != first


@pytest.mark.parametrize("change", ["content", "time"])
def test_a_changed_file_is_read_again(tmp_path: Path, change: str):
    path = tmp_path / "weights"
    path.write_text("a")
    first = file_hash(path, tmp_path)
    before = path.stat()
    if change == "content":
        path.write_text("ab")
    else:
        path.write_text("b")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert file_hash(path, tmp_path) != first
    assert len(kept(tmp_path)) == 1


@pytest.mark.parametrize("spoiled", [b"", b"{", b"[]", b'"text"', b'{"sha256": 1}'])
def test_a_spoiled_note_is_made_again(tmp_path: Path, spoiled: bytes):
    path = tmp_path / "weights"
    path.write_text("a")
    first = file_hash(path, tmp_path)
    [note] = kept(tmp_path)
    note.write_bytes(spoiled)
    assert file_hash(path, tmp_path) == first


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        file_hash(tmp_path / "weights", tmp_path)
