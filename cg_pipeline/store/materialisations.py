"""Which partitions exist, made from what: one row per asset and partition, written with its rows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cg_pipeline.store.tables import table_of

DIMENSIONS = ("model", "benchmark", "sae")
"""What a partition may be keyed by."""

Partition = Mapping[str, str]
"""Key of each dimension, such as {"model": "smollm2_135m", "benchmark": "bbq"}; empty for a whole table."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What the writer of a partition knows about how it was made."""

    fingerprint: str
    """Hash of the specs and inputs it was made from."""
    run_id: str = ""
    code_version: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the libraries and hardware that computed it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Materialisation:
    """One partition of one asset that exists, and what it was made from."""

    asset: str
    """Name of the asset, which is the name of its table where it has one."""
    model: str | None = None
    """Model of the partition; NULL when the asset is not partitioned by model."""
    benchmark: str | None = None
    """Benchmark of the partition; NULL when the asset is not partitioned by benchmark."""
    sae: str | None = None
    """SAE of the partition; NULL when the asset is not partitioned by SAE."""
    fingerprint: str
    """Hash of the specs and inputs it was made from; when it differs from today's, the rows are stale."""
    run_id: str
    """Run that wrote it."""
    code_version: str
    """Version of the asset's code."""
    n_rows: int
    """Rows written; 0 is a result, too."""
    materialised_at: datetime
    """When it was written, UTC."""
    versions: str
    """JSON object: versions of the libraries and hardware that computed it."""

    @property
    def identity(self) -> tuple[str | None, ...]:
        """Asset and keys; as `identity_of`."""
        return (self.asset, self.model, self.benchmark, self.sae)


MATERIALISATIONS = table_of(Materialisation, name="materialisations", keys=("asset", *DIMENSIONS))


def identity_of(asset: str, partition: Partition) -> tuple[str | None, ...]:
    """Asset and keys of a partition, None where it has no such dimension.

    Raises:
        ValueError: the partition has a dimension that no column stands for.
    """
    if strangers := sorted(set(partition) - set(DIMENSIONS)):
        raise ValueError(
            f"A partition of {asset!r} is keyed by {strangers}; expected some of {list(DIMENSIONS)}."
        )
    return (asset, *(partition.get(name) for name in DIMENSIONS))


def describe_partition(partition: Partition) -> str:
    """A partition in words: `model=smollm2_135m, benchmark=bbq`."""
    return ", ".join(f"{name}={key}" for name, key in partition.items()) or "the whole table"


def materialisation_of(
    asset: str, partition: Partition, n_rows: int, provenance: Provenance
) -> Materialisation:
    """The row that says that this partition exists from now on."""
    identity_of(asset, partition)
    return Materialisation(
        asset=asset,
        **partition,
        fingerprint=provenance.fingerprint,
        run_id=provenance.run_id,
        code_version=provenance.code_version,
        n_rows=n_rows,
        materialised_at=datetime.now(UTC).replace(tzinfo=None),
        versions=json.dumps(dict(provenance.versions), sort_keys=True),
    )
