"""Whether a stored partition may be built upon: made from what the catalogue says, whole, and checked.

A fingerprint says what a partition was made from. It does not say that the process lived
to check it, that the checks passed, or that the files beside the rows are still there.
"""

from dataclasses import dataclass

import dagster as dg

from cg_pipeline.defs.asset_checks import ASSET_CHECKS
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.store.presence import files_are_there
from cg_pipeline.store.warehouse import Warehouse


@dataclass(frozen=True)
class Trust:
    """Looks at the warehouse, the files and the history of runs."""

    warehouse: Warehouse
    expected: Expected
    instance: dg.DagsterInstance

    def holds(self, asset: str, partition: dict[str, str]) -> bool:
        """Whether this partition needs no new run."""
        note = self.warehouse.materialisation(asset, partition)
        return (
            note is not None
            and note.fingerprint == self.expected.of(asset, partition)
            and self._passed_its_checks(asset, note.run_id)
            and files_are_there(self.warehouse, asset, partition)
        )

    def _passed_its_checks(self, asset: str, run_id: str) -> bool:
        """Whether every check of the asset ran in the run that wrote it, and none failed.

        A run that the history no longer holds is believed: its record was deleted by somebody.
        """
        if not self.instance.has_run(run_id):
            return True
        records = self.instance.get_records_for_run(
            run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION, limit=1000
        ).records
        events = [record.event_log_entry.dagster_event for record in records]
        passed = {
            found.check_name
            for found in (event.asset_check_evaluation_data for event in events if event)
            if found.asset_key.path[-1] == asset and (found.passed or found.severity is _WARN)
        }
        return passed >= _CHECKS[asset]


_WARN = dg.AssetCheckSeverity.WARN
_KEYS = [key for check in ASSET_CHECKS for key in check.check_keys]
_CHECKS = {
    key.asset_key.path[-1]: {other.name for other in _KEYS if other.asset_key == key.asset_key}
    for key in _KEYS
}
"""Names of each asset's checks."""
