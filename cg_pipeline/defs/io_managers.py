"""How assets are kept: tables in the DuckDB warehouse, activations as shards with a row that points to them.

One partition is replaced as a whole or not at all. A stage that reads one partition gets
exactly that one, or a sentence saying that it was never materialised; a stage that reads
across benchmarks gets what is there of the study's and says itself what it cannot do without.
Others stay unread: neither their size nor their faults are of this study.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.provenance import package_versions
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import NOTED
from cg_pipeline.defs.retries import lasting_faults_end_the_run
from cg_pipeline.records import ConceptActivations
from cg_pipeline.store.activations import load_activations
from cg_pipeline.store.evidence import StoredShelf
from cg_pipeline.store.materialisations import Provenance, identity_of
from cg_pipeline.store.resume import read_or_heal
from cg_pipeline.store.schema import TABLES
from cg_pipeline.store.tables import Table


class WarehouseIOManager(dg.ConfigurableIOManager):
    """Tables in the warehouse: lists of records or data frames, one table per asset."""

    store: dg.ResourceDependency[Store]
    study_choice: dg.ResourceDependency[StudyChoice]

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Replace the partition's rows in one transaction and publish the replica."""
        table = _table(context)
        partition = _partition(table, context.partition_key) if context.has_partition_key else {}
        n = self.store.warehouse.replace(table, partition, obj, _provenance(context))
        context.add_output_metadata(
            {
                "dagster/partition_row_count": n,
                "dagster/table_name": table.name,
                "dagster/uri": str(self.store.layout.published),
            }
        )

    def load_input(self, context: dg.InputContext) -> Any:
        """Rows of the partitions asked for."""
        table = _table(context)
        with lasting_faults_end_the_run():
            return self.store.warehouse.load(table, self._wanted(table, context))

    def _wanted(self, table: Table, context: dg.InputContext) -> Sequence[dict[str, str]] | None:
        if not context.has_asset_partitions:
            return None
        partitions = [_partition(table, key) for key in context.asset_partition_keys]
        if len(partitions) == 1:
            return partitions
        made = {note.identity for note in self.store.warehouse.materialisations(table.name)}
        of_study = self.study_choice.study.benchmarks
        return [
            partition
            for partition in partitions
            if identity_of(table.name, partition) in made
            and ("benchmark" not in partition or partition["benchmark"] in of_study)
        ]


class ActivationIOManager(WarehouseIOManager):
    """The tensor I/O manager: what is stored is a row that points to complete shards."""

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Store the row, after a look at every shard it points to."""
        load_activations(self.store.layout.declared(obj.path))
        super().handle_output(context, [obj])

    def load_input(self, context: dg.InputContext) -> ConceptActivations | dict[str, ConceptActivations]:
        """One cell's activations; or, across benchmarks, those of each by its name."""
        rows = super().load_input(context)
        with lasting_faults_end_the_run():
            found = {row.benchmark: _load(self.store.layout.declared(row.path)) for row in rows}
        of_a_cell = isinstance(context.partition_key, dg.MultiPartitionKey)
        return next(iter(found.values())) if of_a_cell else found


class EvidenceIOManager(WarehouseIOManager):
    """What is stored is a row that points to complete shards; concepts are looked up in them when needed."""

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Store the row, after a look at every shard it points to."""
        StoredShelf(self.store.layout.declared(obj.path)).whole()
        super().handle_output(context, [obj])

    def load_input(self, context: dg.InputContext) -> StoredShelf | dict[str, StoredShelf]:
        """One cell's evidence; or, across benchmarks, that of each by its name."""
        rows = super().load_input(context)
        found = {row.benchmark: StoredShelf(self.store.layout.declared(row.path)) for row in rows}
        of_a_cell = isinstance(context.partition_key, dg.MultiPartitionKey)
        return next(iter(found.values())) if of_a_cell else found


def _load(directory: Path) -> ConceptActivations:
    return read_or_heal(directory, lambda: load_activations(directory))


def _table(context: dg.OutputContext | dg.InputContext) -> Table:
    return TABLES[context.asset_key.path[-1]]


def _partition(table: Table, key: str) -> dict[str, str]:
    if isinstance(key, dg.MultiPartitionKey):
        return dict(key.keys_by_dimension)
    return {table.keys[0]: key}


def _provenance(context: dg.OutputContext) -> Provenance:
    stated = context.output_metadata["fingerprint"]
    noted: Any = context.output_metadata[NOTED].value if NOTED in context.output_metadata else {}
    return Provenance(
        fingerprint=str(stated.value),
        run_id=context.run_id,
        code_version=str(context.version or ""),
        versions={**package_versions(), **noted},
    )
