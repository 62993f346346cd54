"""How an asset hands on its result: the value, its fingerprint, and what a person wants to see of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

import dagster as dg

from cg_pipeline.checks import Finding
from cg_pipeline.specs import Study
from cg_pipeline.store.resume import Filled
from cg_pipeline.store.schema import TABLES

_PREVIEW_ROWS = 8
_PREVIEW_CHARACTERS = 90


def declared(table_name: str) -> dict[str, Any]:
    """Metadata of an asset's definition: its columns and where its rows are."""
    table = TABLES[table_name]
    columns = [dg.TableColumn(name=c.name, type=c.type, description=c.description) for c in table.columns]
    return {"dagster/column_schema": dg.TableSchema(columns=columns), "dagster/table_name": table.name}


NOTED = "noted"
"""Metadata that is kept in the warehouse, too, with the versions that computed a partition."""


def result(
    value: Any, fingerprint: str, metadata: Mapping[str, Any], noted: Mapping[str, str] | None = None
) -> dg.MaterializeResult:
    """A stage's value with its fingerprint as data version, metadata for the UI, and what is kept of it."""
    kept = {NOTED: dg.MetadataValue.json(dict(noted))} if noted else {}
    return dg.MaterializeResult(
        value=value,
        data_version=dg.DataVersion(fingerprint),
        metadata={"fingerprint": fingerprint, **metadata, **kept},
    )


def reported(finding: Finding, severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR) -> Any:
    """What a check found, as Dagster wants it."""
    return dg.AssetCheckResult(
        passed=finding.passed, description=finding.sentence, metadata=dict(finding.numbers), severity=severity
    )


def effort(filled: Filled, n_tokens: int) -> dict[str, Any]:
    """What computing a partition's shards took; no rate when some were there already."""
    rate = filled.rate(n_tokens)
    return {
        "seconds": filled.seconds,
        "shards_computed": filled.n_computed,
        "shards_reused": filled.n_reused,
        **({} if rate is None else {"tokens_per_s": rate}),
    }


def require(study: Study, table: str, model: str, found: Collection[str]) -> None:
    """Refuse to go on when a benchmark of the study has not been materialised."""
    if absent := [name for name in study.benchmarks if name not in found]:
        raise dg.Failure(
            f"Study {study.name!r} needs {table} of {model!r} on {', '.join(absent)}, not materialised yet. "
            "Run `cg demo`, or materialise those cells, first.",
            allow_retries=False,
        )


def refuse_change(what: str, before: object, after: object) -> None:
    """Refuse a result made of something that was edited meanwhile: of which version is it?"""
    if before != after:
        raise dg.Failure(f"{what} changed while it was read; expected it to stay. Run again.")


def preview(rows: Sequence[Any]) -> dg.MetadataValue:
    """The first rows of a list of records, as a table of short texts."""
    shown = rows[:_PREVIEW_ROWS]
    names = [field.name for field in fields(shown[0])] if shown else ["empty"]
    return _texts(names, [{name: getattr(row, name) for name in names} for row in shown])


def preview_table(table: Any) -> dg.MetadataValue:
    """The first rows of a data frame, as a table of short texts."""
    return _texts(list(table.columns), table.head(_PREVIEW_ROWS).to_dict("records"))


def links(context: dg.AssetExecutionContext, inputs: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Where the inputs were made: for each asset, the runs that wrote the partitions read."""
    return {f"made_by_{asset}": _runs_of(context, asset, keys) for asset, keys in inputs.items()}


def _runs_of(context: dg.AssetExecutionContext, asset: str, keys: Sequence[str]) -> dg.MetadataValue:
    lines = []
    for key in keys:
        records = context.instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[key]), limit=1
        ).records
        run = records[0].run_id if records else None
        lines.append(f"- {key}: " + (f"[run {run[:8]}](/runs/{run})" if run else "not materialised by a run"))
    return dg.MetadataValue.md("\n".join(lines))


def _texts(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dg.MetadataValue:
    records = [dg.TableRecord({name: _short(row[name]) for name in names}) for row in rows]
    columns = [dg.TableColumn(name=name, type="string") for name in names]
    return dg.MetadataValue.table(records=records, schema=dg.TableSchema(columns=columns))


def _short(value: object) -> str:
    parts = value if isinstance(value, tuple) else ["NULL" if value is None else value]
    text = " · ".join(map(str, parts))
    return text if len(text) <= _PREVIEW_CHARACTERS else text[: _PREVIEW_CHARACTERS - 1] + "…"
