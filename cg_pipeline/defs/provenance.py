"""Where a result comes from, in plain values: versions, specs, and the runs that made each part."""

import platform
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version

from cg_pipeline.defs.bills import bills_of
from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.identity import STAGES
from cg_pipeline.saes import SAES
from cg_pipeline.specs import Model, Study
from cg_pipeline.store.materialisations import Materialisation

_RECORDED = (
    "cg-pipeline", "torch", "transformers", "sae-lens", "numpy", "scipy", "pandas", "duckdb", "dagster",
)  # fmt: skip


@lru_cache
def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that results depend on."""
    return {"python": platform.python_version(), **{name: version(name) for name in _RECORDED}}


def report_provenance(
    run_id: str, model: Model, study: Study, made: Sequence[Materialisation]
) -> dict[str, object]:
    """What a report says of its origins: its run, the specs' fingerprints, and each stored part's."""
    parts = {
        _part(note): f"{note.fingerprint} by run {note.run_id[:8]}"
        for note in made
        if note.asset != "gap_report" and _belongs(note, model, study)
    }
    paid = bills_of((note for note in made if _belongs(note, model, study)), model.name)
    return {
        "run": run_id,
        "specs": {
            f"model {model.name}": fingerprint(model),
            f"sae {model.reader}": fingerprint(SAES[model.reader]),
            f"study {study.name}": fingerprint(study),
        },
        "seed": study.seed,
        "stage versions": {stage: str(number) for stage, number in STAGES.items()},
        "packages": package_versions(),
        **({"paid for answers, all runs": paid} if paid else {}),
        "parts": parts,
    }


def _part(note: Materialisation) -> str:
    return f"{note.asset} of {note.benchmark}" if note.benchmark else note.asset


def _belongs(note: Materialisation, model: Model, study: Study) -> bool:
    return (
        note.model in (None, model.name)
        and note.benchmark in (None, *study.benchmarks)
        and note.sae in (None, model.reader)
    )
