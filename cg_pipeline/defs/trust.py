"""Whether a stored partition may be built upon: made from what the catalogue says, whole, and checked.

A fingerprint says what a partition was made from. It does not say that the process lived
to check it, that the checks passed, or that the files beside the rows are still there.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg
from dagster._core.event_api import PartitionKeyFilter

from cg_pipeline.defs.asset_checks import ASSET_CHECKS
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.jobs import Unit
from cg_pipeline.store.presence import files_are_there
from cg_pipeline.store.warehouse import Warehouse

_LOOKED_BACK = 100
"""Evaluations of one check on one partition."""


@dataclass(frozen=True)
class Trust:
    """Looks at the warehouse, the files and the history of runs."""

    warehouse: Warehouse
    expected: Expected
    instance: dg.DagsterInstance

    def holds(self, asset: str, unit: Unit) -> bool:
        """Whether this partition needs no new run."""
        note = self.warehouse.materialisation(asset, unit.partition)
        return (
            note is not None
            and note.fingerprint == self.expected.of(asset, unit.partition)
            and self._passed_its_checks(asset, unit.key, note.run_id)
            and files_are_there(self.warehouse, asset, unit.partition)
        )

    def _passed_its_checks(self, asset: str, partition: str | None, run_id: str) -> bool:
        """Whether each check of the asset last looked at what this run wrote, and found nothing wrong.

        What was written by a run that the history no longer holds is believed: somebody has
        deleted the history, and with it what the checks said.
        """
        if not self.instance.has_run(run_id):
            return True
        keys = [key for check in ASSET_CHECKS for key in check.check_keys if key.asset_key.path[-1] == asset]
        latest = (next(self._evaluations(key, partition, run_id), None) for key in keys)
        return all(
            found and (found.passed or found.severity is dg.AssetCheckSeverity.WARN) for found in latest
        )

    def _evaluations(
        self, check: dg.AssetCheckKey, partition: str | None, run_id: str
    ) -> Iterator[dg.AssetCheckEvaluation]:
        """What a check said of the rows that a run wrote, the latest first."""
        history = self.instance.event_log_storage.get_asset_check_execution_history(
            check, limit=_LOOKED_BACK, partition_filter=PartitionKeyFilter(key=partition)
        )
        for record in history:
            found = record.event and record.event.get_dagster_event().event_specific_data
            if isinstance(found, dg.AssetCheckEvaluation):  # neither planned only nor still at work
                looked_at = found.target_materialization_data
                if looked_at and looked_at.run_id == run_id:
                    yield found
