"""Stores what other tools computed as a cell of the graph, and tells Dagster where it comes from.

An imported cell is current as long as the benchmark's examples are the ones it was matched with
(`identity.imported_id`); later stages take it like a computed one. Materialising `completions`
replaces it; materialising `scores` alone scores the imported answers by our own policy.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dagster as dg

from cg_pipeline.catalog import lookup
from cg_pipeline.defs.catalogue import BENCHMARKS
from cg_pipeline.defs.partitions import cell_key
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import preview
from cg_pipeline.gaps.headline import mean_score
from cg_pipeline.identity import STAGES, imported_id
from cg_pipeline.models import MODELS
from cg_pipeline.records import Example
from cg_pipeline.sources.eval_logs.importing import Imported, import_results
from cg_pipeline.store.materialisations import Provenance
from cg_pipeline.store.schema import TABLES

RUN_ID = "import"
"""What stands for the run in the provenance of an imported partition."""

_DATA_VERSION = "dagster/data_version"


def read_results(
    log_format: str,
    paths: Sequence[Path],
    store: Store,
    *,
    model: str,
    benchmark: str,
    metric: str = "",
    filtered_by: str = "",
) -> Imported:
    """One cell out of the logs of another tool, matched with the stored examples; nothing is written.

    Raises:
        KeyError: the model or the benchmark is not in the catalogue.
        LookupError: the benchmark's examples are not materialised.
        ValueError: a log cannot be read or does not say which score is meant.
    """
    lookup("model", model, MODELS)
    spec = lookup("benchmark", benchmark, BENCHMARKS)
    examples: list[Example] = list(store.warehouse.load(TABLES["examples"], [{"benchmark": benchmark}]))  # pyright: ignore[reportArgumentType]
    return import_results(
        log_format,
        paths,
        examples=examples,
        benchmark=spec,
        model=model,
        metric=metric,
        filtered_by=filtered_by,
        drawn=_drawn(store, benchmark),
    )


def _drawn(store: Store, benchmark: str) -> str:
    """Which examples are stored: those that one study's limit left, which another's may not be."""
    note = store.warehouse.materialisation("examples", {"benchmark": benchmark})
    told = json.loads(note.versions) if note else {}
    by = (
        f"drawn from {told['rows']} rows by study {told['study']!r}, limit {told['limit']}"
        if {"rows", "study", "limit"} <= set(told)
        else "as they are stored; their study was not noted"
    )
    return (
        f" of {benchmark!r}: {by}. If others are meant, materialise `examples` with their study and limit "
        "first (cg demo --study … --limit …)."
    )


def store_results(
    found: Imported, store: Store, instance: dg.DagsterInstance, *, model: str, benchmark: str
) -> None:
    """Write an imported cell's completions and scores, each with an event in Dagster's history."""
    cell = {"model": model, "benchmark": benchmark}
    examples = store.warehouse.fingerprint_of("examples", {"benchmark": benchmark})
    for asset, rows in (("completions", found.completions), ("scores", found.scores)):
        fingerprint = imported_id(asset, examples, sorted(found.source.items()))
        provenance = Provenance(
            fingerprint=fingerprint,
            run_id=RUN_ID,
            code_version=str(STAGES[asset]),
            versions=_versions(found.source),
        )
        store.warehouse.replace(TABLES[asset], cell, rows, provenance)
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key=asset,
                partition=cell_key(**cell),
                metadata={**_metadata(found), "fingerprint": fingerprint, "preview": preview(rows)},
                tags={_DATA_VERSION: fingerprint},
            )
        )


def _versions(source: Mapping[str, str]) -> dict[str, str]:
    own = {"python": platform.python_version(), "cg-pipeline": version("cg-pipeline")}
    return {**own, **{f"imported {name}": value for name, value in source.items()}}


def _metadata(found: Imported) -> dict[str, Any]:
    return {
        "imported": dg.MetadataValue.json(dict(found.source)),
        "n_matched": len(found.matching.matches),
        "n_logged_without_example": len(found.matching.strays),
        "n_examples_not_in_the_log": len(found.matching.absent),
        "accuracy": mean_score(found.scores),
        "report": dg.MetadataValue.md("\n".join(f"    {line}" for line in found.report())),
    }
