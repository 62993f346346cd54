"""The manifest of a set of shards: written last, it says which files make up the complete set."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


def read_manifest(directory: Path) -> dict[str, Any] | None:
    """The manifest of a set; None when there is none, or none that can be read."""
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
        complete = len(manifest["shards"]) == manifest["n_shards"] and manifest["fingerprint"]
        return manifest if complete else None
    except (FileNotFoundError, KeyError, TypeError, ValueError):
        return None


def absences(directory: Path, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Files the manifest lists that are not there as it says, and how; their content is not read."""
    for entry in manifest["shards"]:
        path = directory / entry["file"]
        n_bytes = path.stat().st_size if path.exists() else None
        if n_bytes is None:
            yield entry["file"], "it is listed in the manifest, but has vanished"
        elif n_bytes != entry["n_bytes"]:
            yield entry["file"], f"it has {n_bytes} bytes, the manifest says {entry['n_bytes']}"
