"""What an SAE's result depends on beside its spec: the content of its weights, and of its model's.

Why by content also on the hub: sae-lens reads the newest commit of a release and takes no other, so
release and id do not say which weights were read. The hub names a file's content by its hash, and so
does the copy in its cache.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

from cg_pipeline.sources.content_hashes import content_hash
from cg_pipeline.sources.model_files import model_hash
from cg_pipeline.specs import Sae, SaeDirectory, SaeRelease

WEIGHTS, SETTINGS = "sae_weights.safetensors", "cfg.json"
"""sae-lens's names for the two files of an SAE on disk."""

_PIECE = 2**20


def weights_hash(sae: Sae, data_dir: Path, cache_dir: Path) -> str:
    """Hash of the weights of an SAE and, where they are local files, of its model.

    Args:
        sae: which SAE.
        data_dir: what its directory is relative to.
        cache_dir: where hashes of large files are kept.

    Raises:
        FileNotFoundError: files on disk are not there.
    """
    own = (
        _of_directory(sae, data_dir / sae.weights.path)
        if isinstance(sae.weights, SaeDirectory)
        else _of_release(sae.weights, cache_dir)
    )
    model = model_hash(sae.model, data_dir, cache_dir)
    return f"{own}+{model}" if model else own


def is_fetched(sae: Sae) -> bool:
    """Whether an SAE's weights are on this machine, so that their hash says which they are."""
    return isinstance(sae.weights, SaeDirectory) or _cached(sae.weights) is not None


def _of_directory(sae: Sae, directory: Path) -> str:
    stamps = []
    for path in (directory / name for name in (WEIGHTS, SETTINGS)):
        try:
            found = path.stat()
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path} is missing; expected the files of SAE {sae.name!r}. Restore it, or train it anew."
            ) from None
        stamps.append((path, found.st_size, found.st_mtime_ns))
    return _joined(tuple(stamps))


@lru_cache(maxsize=32)
def _joined(stamps: tuple[tuple[Path, int, int], ...]) -> str:
    """Of the files one after another; sizes and times are there to tell when one was replaced."""
    digest = hashlib.sha256()
    for path, _size, _mtime_ns in stamps:
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
    return digest.hexdigest()


def _of_release(release: SaeRelease, cache_dir: Path) -> str:
    """Of the newest commit that was fetched; empty before the first time, when nothing can depend on it."""
    path = _cached(release)
    if path is None:
        return ""
    files = [file for file in (path, path.with_name(SETTINGS)) if file.exists()]
    if all(file.is_symlink() for file in files):  # to a file that the hub's client names by its content
        return "+".join(file.resolve().name for file in files)
    return content_hash(files, cache_dir)


def _cached(release: SaeRelease) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    owner, repository, path = release.file.split("/", 2)
    found = try_to_load_from_cache(f"{owner}/{repository}", path)
    return Path(found) if isinstance(found, str) else None
