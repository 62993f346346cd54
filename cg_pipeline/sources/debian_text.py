"""Broad English text out of Debian packages: pinned, fetched with apt, checked, unpacked.

Why Debian packages: they are versioned, hashed and freely licensed, and everyone who has
apt can fetch the very same bytes, which no scraped corpus offers.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cg_pipeline.sources import text_readers as readers
from cg_pipeline.sources.text_readers import Reader


@dataclass(frozen=True, kw_only=True)
class DebianPackage:
    """One version of one package, by the hash of its file."""

    name: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """What `apt-get download` calls the file of an architecture-independent package."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_all.deb"


@dataclass(frozen=True, kw_only=True)
class DebianText:
    """Text of one kind, in one or more packages that share a format."""

    name: str
    kind: str
    """What sort of English it is, in a few words."""
    licence: str
    packages: tuple[DebianPackage, ...]
    files: tuple[str, ...]
    """Glob patterns below the unpacked package."""
    read: Reader
    skip: tuple[str, ...] = ()
    """Names of files to leave out."""
    max_chars: int
    """Upper bound of what it gives to the corpus, so that no source dominates."""


def fetch_package(package: DebianPackage, cache_dir: Path) -> Path:
    """Directory of the unpacked package; downloaded with apt unless it is there already.

    Raises:
        FileNotFoundError: apt is absent, or offers no such version.
        ValueError: the downloaded file has another hash.
    """
    unpacked = cache_dir / "packages" / f"{package.name}_{package.version.replace(':', '%3a')}"
    if unpacked.is_dir():
        return unpacked
    archive = _downloaded(package, cache_dir / "archives")
    partial = unpacked.with_name(unpacked.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    subprocess.run(["dpkg-deb", "-x", str(archive), str(partial)], check=True)
    partial.rename(unpacked)
    return unpacked


def _downloaded(package: DebianPackage, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / package.file_name
    if not archive.exists():
        _download(package, folder)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != package.sha256:
        raise ValueError(
            f"{archive} has sha256 {found}; expected {package.sha256} for version {package.version}. "
            "Delete it and retry."
        )
    return archive


def _download(package: DebianPackage, folder: Path) -> None:
    wanted = f"{package.name}={package.version}"
    remedy = "give a directory of .txt files as training text instead"
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise FileNotFoundError(
            f"Training text {wanted} needs apt-get and dpkg-deb, and they are not here; {remedy}."
        )
    done = subprocess.run(
        ["apt-get", "download", "-q", wanted], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode or not (folder / package.file_name).exists():
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise FileNotFoundError(
            f"apt-get download {wanted} failed ({reason}); run apt-get update on Debian 12, or {remedy}."
        )


def read_paragraphs(source: DebianText, folders: Sequence[Path]) -> Iterator[list[str]]:
    """The prose paragraphs of each file of a source, in the order of the file."""
    for folder in folders:
        for path in _files_of(source, folder):
            paragraphs = [text for text in source.read(readers.decode_file(path)) if readers.is_prose(text)]
            if paragraphs:
                yield paragraphs


def _files_of(source: DebianText, folder: Path) -> list[Path]:
    found = {path for pattern in source.files for path in folder.glob(pattern) if path.is_file()}
    return sorted(path for path in found if path.name not in source.skip)
