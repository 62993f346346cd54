import os
from pathlib import Path

import pytest

from cg_pipeline.store.files import copy_whole, write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "sub" / "file"
    write_whole(target, b"old")
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "file"
    write_whole(target, b"old")

    def no_space(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, b"new")
    with pytest.raises(OSError, match="No space left"):
        copy_whole(target, tmp_path / "copy", mode=0o444)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert target.read_bytes() == b"old"


def test_a_copy_keeps_the_time_and_an_open_reader_keeps_the_old_one(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"one")
    copy_whole(source, target, mode=0o444)
    with target.open("rb") as reader:
        source.write_bytes(b"two")
        copy_whole(source, target, mode=0o444)
        assert reader.read() == b"one"
    assert target.read_bytes() == b"two"
    assert target.stat().st_mtime_ns == source.stat().st_mtime_ns
    assert target.stat().st_mode & 0o777 == 0o444


def test_what_a_killed_copy_left_behind_is_overwritten(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"whole")
    (tmp_path / ".tmp-target").write_bytes(b"half of something much longer")
    copy_whole(source, target, mode=0o444)
    assert target.read_bytes() == b"whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "target"]
