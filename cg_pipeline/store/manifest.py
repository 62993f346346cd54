"""The manifest of a set of shards: written last, it says which files make up the complete set.

It carries a checksum of itself, so that a manifest that was damaged or edited is no manifest.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cg_pipeline.store.files import write_whole

MANIFEST = "manifest.json"
_SEAL = "sha256"


def write_manifest(directory: Path, content: Mapping[str, Any]) -> Path:
    """Write the manifest of a set, sealed."""
    plain = json.loads(json.dumps(content))  # as it will be read: every key a text
    sealed = {**plain, _SEAL: _checksum(plain)}
    write_whole(directory / MANIFEST, json.dumps(sealed, indent=1, sort_keys=True).encode())
    return directory / MANIFEST


def read_manifest(directory: Path) -> dict[str, Any] | None:
    """The manifest of the set in a directory; None when there is none, or a damaged or foreign one.

    A set's directory is named by its fingerprint.
    """
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
        seal = manifest.pop(_SEAL)
    except (OSError, KeyError, TypeError, AttributeError, ValueError):
        return None
    whole = seal == _checksum(manifest) and manifest.get("fingerprint") == directory.name
    return manifest if whole else None


def absences(directory: Path, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Files the manifest lists that are not there as it says, and how; their content is not read."""
    for entry in manifest["shards"]:
        path = directory / entry["file"]
        n_bytes = path.stat().st_size if path.exists() else None
        if n_bytes is None:
            yield entry["file"], "it is listed in the manifest, but has vanished"
        elif n_bytes != entry["n_bytes"]:
            yield entry["file"], f"it has {n_bytes} bytes, the manifest says {entry['n_bytes']}"


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
