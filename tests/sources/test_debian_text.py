"""Packages are fetched once, checked by hash, and their absence is explained in one sentence."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from cg_pipeline.sources import debian_text
from cg_pipeline.sources.debian_sources import DEBIAN_TEXTS
from cg_pipeline.sources.debian_text import (
    DebianPackage,
    DebianText,
    fetch_package,
    read_paragraphs,
)
from cg_pipeline.sources.text_readers import read_plain


def _package(sha256: str = "0" * 64) -> DebianPackage:
    return DebianPackage(name="prose", version="1:2.0-1", sha256=sha256)


def _archive(folder: Path) -> Path:
    archive = folder / "archives" / "prose_1%3a2.0-1_all.deb"
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"not really a package")
    return archive


def test_a_cached_package_needs_no_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked = tmp_path / "packages" / "prose_1%3a2.0-1"
    unpacked.mkdir(parents=True)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert fetch_package(_package(), tmp_path) == unpacked


def test_without_apt_a_directory_is_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(
        FileNotFoundError, match=r"prose=1:2\.0-1 needs apt-get and dpkg-deb.*a directory of \.txt files"
    ):
        fetch_package(_package(), tmp_path)


def test_a_refused_download_gives_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 100, "", "E: Version not found")

    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(debian_text.subprocess, "run", refuse)
    with pytest.raises(FileNotFoundError, match=r"failed \(E: Version not found\); run apt-get update"):
        fetch_package(_package(), tmp_path)


def test_another_hash_is_refused(tmp_path: Path) -> None:
    archive = _archive(tmp_path)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    with pytest.raises(ValueError, match=f"has sha256 {found}; expected 0000"):
        fetch_package(_package(), tmp_path)
    assert not (tmp_path / "packages").exists()


def test_an_interrupted_unpacking_leaves_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = _archive(tmp_path)

    def fail(command: list[str], **options: object) -> None:
        raise subprocess.CalledProcessError(2, command)

    monkeypatch.setattr(debian_text.subprocess, "run", fail)
    package = _package(hashlib.sha256(archive.read_bytes()).hexdigest())
    with pytest.raises(subprocess.CalledProcessError):
        fetch_package(package, tmp_path)
    assert not (tmp_path / "packages" / "prose_1%3a2.0-1").exists()


def test_paragraphs_come_file_by_file_without_skipped_files(tmp_path: Path) -> None:
    prose = "This is a sentence with quite enough words in it."
    for name, text in {
        "b.txt": prose,
        "a.txt": f"{prose}\n\nshort",
        "ascii-art": prose,
        "c.txt": "x",
    }.items():
        (tmp_path / name).write_text(text)
    source = DebianText(
        name="prose",
        kind="",
        licence="",
        packages=(),
        files=("*",),
        read=read_plain,
        skip=("ascii-art",),
        max_chars=1,
    )
    assert list(read_paragraphs(source, [tmp_path])) == [[prose], [prose]]


def test_no_source_dominates() -> None:
    total = sum(source.max_chars for source in DEBIAN_TEXTS)
    assert max(source.max_chars for source in DEBIAN_TEXTS) < 0.2 * total
    assert len({source.name for source in DEBIAN_TEXTS}) == len(DEBIAN_TEXTS)
    assert all(len(package.sha256) == 64 for source in DEBIAN_TEXTS for package in source.packages)
