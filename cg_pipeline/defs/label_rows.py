"""The labels of an SAE as files: the user's own, and those of others, found where they are or fetched once.

Shared by the assets that store them and by `freshness`, which asks what is there without fetching.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cg_pipeline.identity import reader_id
from cg_pipeline.label_records import GivenLabel, LlmLabel, StoredLabels
from cg_pipeline.sources.label_origins import LabelOrigin, bring_labels, day_of, label_origins
from cg_pipeline.sources.label_rows import LabelReading, read_labels, write_labels
from cg_pipeline.sources.sae_files import weights_hash
from cg_pipeline.specs import Sae
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.row_files import Kept, find_rows, keep_rows
from cg_pipeline.store.schema import TABLES
from cg_pipeline.store.warehouse import Warehouse


def bring_all(sae: Sae, layout: Layout) -> list[StoredLabels]:
    """What there is of an SAE's labels, source by source, after fetching what is not here."""
    return [_bring(origin, sae, layout) for origin in label_origins(sae, layout.data_dir)]


def content_of(sae: Sae, layout: Layout) -> dict[str, str] | None:
    """SHA-256 of each source's labels as the catalogue names them now; None while some must be fetched."""
    found: dict[str, str] = {}
    for origin in label_origins(sae, layout.data_dir):
        if origin.file:
            found[origin.source] = sha256(origin.file.read_bytes()).hexdigest()
        elif kept := find_rows(layout, _folder(sae), origin.fingerprint):
            found[origin.source] = kept.sha256
        else:
            return None
    return found


def read_stored(
    sae: Sae, stored: list[StoredLabels], layout: Layout
) -> list[tuple[StoredLabels, tuple[GivenLabel, ...]]]:
    """The labels of each stored source.

    Raises:
        FileNotFoundError: a file is gone.
        ValueError: a file has changed since it was stored, or holds no labels of this SAE.
    """
    return [(each, _read(sae, each, layout.data_dir / each.path).labels) for each in stored]


def label_checksums(stored: list[StoredLabels], layout: Layout) -> Mapping[str, str]:
    """SHA-256 of the files of stored labels that are there, by path."""
    paths = [each.path for each in stored if (layout.data_dir / each.path).is_file()]
    return {path: sha256((layout.data_dir / path).read_bytes()).hexdigest() for path in paths}


def labels_written(sae: Sae, warehouse: Warehouse) -> list[LlmLabel]:
    """Labels by language models that are stored; none if nobody ever asked for any."""
    partition = {"sae": sae.name}
    if warehouse.materialisation("llm_labels", partition) is None:
        return []
    rows: Any = warehouse.load(TABLES["llm_labels"], [partition])
    return list(rows)


def reader_hash(sae: Sae, layout: Layout) -> str:
    """Which concepts the SAE has now."""
    return reader_id(sae, weights_hash(sae, layout.data_dir, layout.cache))


def _read(sae: Sae, stored: StoredLabels, path: Path) -> LabelReading:
    try:
        payload = path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} is missing; expected the labels {stored.source!r} of {sae.name!r}. Restore it, or "
            "materialise label_files again."
        ) from None
    if (found := sha256(payload).hexdigest()) != stored.sha256:
        raise ValueError(
            f"{path} has SHA-256 {found}; expected {stored.sha256}, as when label_files of {sae.name!r} was "
            "materialised. Materialise it again."
        )
    return read_labels(str(path), payload, sae)


def _bring(origin: LabelOrigin, sae: Sae, layout: Layout) -> StoredLabels:
    if origin.file:
        payload = origin.file.read_bytes()
        reading = read_labels(str(origin.file), payload, sae)
        own = Kept(
            path=str(origin.file.relative_to(layout.data_dir)),
            sha256=sha256(payload).hexdigest(),
            n_rows=reading.n_rows,
        )
        return _described(origin, sae, reading, own, day_of(origin.file))
    kept = find_rows(layout, _folder(sae), origin.fingerprint)
    if kept is None:
        fetched = bring_labels(origin, sae, layout.cache / "labels")
        payload = write_labels(fetched)
        kept = keep_rows(layout, _folder(sae), origin.fingerprint, payload, fetched.reading.n_rows)
    reading = read_labels(kept.path, (layout.data_dir / kept.path).read_bytes(), sae)
    return _described(origin, sae, reading, kept, "")


def _described(
    origin: LabelOrigin, sae: Sae, reading: LabelReading, kept: Kept, changed: str
) -> StoredLabels:
    newest = max((label.made for label in reading.labels), default="")
    return StoredLabels(
        sae=sae.name,
        source=origin.source,
        kind=origin.kind,
        place=kept.path if origin.file else origin.place,
        revision=origin.revision,
        dated=newest or changed,
        fingerprint=origin.fingerprint,
        path=kept.path,
        sha256=kept.sha256,
        n_rows=kept.n_rows,
        n_labels=len(reading.labels),
        n_concepts=reading.n_concepts,
    )


def _folder(sae: Sae) -> str:
    """Under which fetched labels are kept among the rows of benchmarks."""
    return f"labels of {sae.name}"
