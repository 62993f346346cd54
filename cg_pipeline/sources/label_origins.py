"""Where an SAE's labels come from, decided without touching the network, and how each is brought here.

The user's files lie in `data/labels/<sae>/`, one source each, known by their content; published
ones are named by the SAE's spec, known by their pin, and fetched once.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.label_specs import HubLabels, LabelColumns, LabelKind, NeuronpediaExport
from cg_pipeline.records import content_id
from cg_pipeline.sources.hub_labels import fetch_hub_labels
from cg_pipeline.sources.label_files import ENDINGS, is_label_file
from cg_pipeline.sources.label_rows import Fetched
from cg_pipeline.sources.neuronpedia import fetch_export
from cg_pipeline.specs import Sae

FOLDER = "labels"
"""Below the data directory: a folder for each SAE."""

_NOT_LABELS = ("README", "README.md", "README.txt")


@dataclass(frozen=True, kw_only=True)
class LabelOrigin:
    """Where labels are, and what tells them from others."""

    source: str
    kind: LabelKind
    place: str
    """For people: the file, or repository, files and commit, or the export."""
    fingerprint: str
    """Hash of the file's content, or of the pin."""
    revision: str = ""
    file: Path | None = None
    """The user's file; None for what has to be fetched."""
    pin: HubLabels | NeuronpediaExport | None = None
    columns: LabelColumns = field(default_factory=LabelColumns)


def label_origins(sae: Sae, data_dir: Path) -> list[LabelOrigin]:
    """The user's files, by name, then what the spec names, in its order.

    Raises:
        ValueError: a file in the SAE's folder is no label file.
    """
    return [*map(_own, _own_files(sae, data_dir)), *map(_published, sae.labels.sources)]


def bring_labels(origin: LabelOrigin, sae: Sae, cache_dir: Path) -> Fetched:
    """The labels of a published source, fetched; raises as `fetch_hub_labels` and `fetch_export` do."""
    if isinstance(origin.pin, HubLabels):
        return fetch_hub_labels(origin.pin, sae, cache_dir)
    if isinstance(origin.pin, NeuronpediaExport):
        return fetch_export(origin.pin, sae)
    raise ValueError(f"Labels {origin.source!r} are a file of the user's; expected what has to be fetched.")


def day_of(path: Path) -> str:
    """Day on which a file was last changed, in UTC."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()


def _own_files(sae: Sae, data_dir: Path) -> list[Path]:
    folder = data_dir / FOLDER / sae.name
    if not folder.is_dir():
        return []
    named = (path for path in folder.iterdir() if path.name not in _NOT_LABELS and path.name[0] != ".")
    found = sorted(path for path in named if path.is_file() or is_label_file(path.name))
    for path in found:
        if not path.is_file():
            raise ValueError(f"{path} is no file that can be read; expected labels. Restore or remove it.")
        if not is_label_file(path.name):
            raise ValueError(
                f"{path} is no label file; expected names that end in {', '.join(ENDINGS)}, gzipped or not. "
                "Convert it, or put it elsewhere."
            )
    return found


def _own(path: Path) -> LabelOrigin:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return LabelOrigin(
        source=f"own:{path.name}", kind="own", place=str(path), fingerprint=digest[:16], file=path
    )


def _published(pin: HubLabels | NeuronpediaExport) -> LabelOrigin:
    """What only lets a person in (`gated`) tells no labels from others."""
    hub = isinstance(pin, HubLabels)
    if hub:
        parts = (pin.repo, pin.repo_type, pin.revision, pin.files, fingerprint(pin.columns))
        place = f"{pin.repo} ({', '.join(pin.files)}), {pin.revision[:12]}"
    else:
        parts = (pin.model_id, pin.source_id, pin.folder, pin.as_of)
        place = f"{pin.model_id}/{pin.source_id}/{pin.folder}, as of {pin.as_of}"
    return LabelOrigin(
        source=pin.source,
        kind="hub" if hub else "neuronpedia",
        place=place,
        fingerprint=content_id(pin.source, *parts),
        revision=pin.revision if hub else pin.as_of,
        pin=pin,
    )
