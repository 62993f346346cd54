"""Run a study from start to end in this process, through the same assets and instance as the UI.

Stages that are stored as the catalogue says are left alone, so that a second run does no
work; every other one is a Dagster run, with its logs, checks and lineage.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import dagster as dg

from cg_pipeline.defs.catalogue import BENCHMARKS
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.jobs import (
    CELL_JOB,
    COMPLETIONS_JOB,
    DICTIONARY_JOB,
    EXAMPLES_JOB,
    READER_JOB,
    REPORT_JOB,
    SUITE_JOB,
    Unit,
)
from cg_pipeline.defs.recovery import PID_TAG, keep_failing_orphaned_runs
from cg_pipeline.defs.retries import INTERRUPTIONS, forget_interruptions
from cg_pipeline.defs.trust import Trust
from cg_pipeline.models import MODELS
from cg_pipeline.specs import ServedModel, Study
from cg_pipeline.store.warehouse import Warehouse

_WRAPPERS = ("Dagster", "Failure", "RetryRequested")
"""Exceptions that only pass on another one; below the first other one the sentence is a library's."""

_FAILURE = "dagster._core.definitions.events.Failure: "
"""What stands before the sentence of an asset that said itself why it failed."""

_OF_A_CHECK = "DagsterAssetCheckFailedError"
"""What ends a run whose blocking check failed; the check itself has the sentence."""

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Dagster's own lines on the terminal: none, since the reason of a failure is told in a sentence."""


def units_of(study: Study) -> Iterator[Unit]:
    """Every run a study needs, in an order in which each finds its inputs."""
    for benchmark in study.benchmarks:
        yield Unit(EXAMPLES_JOB, {"benchmark": benchmark})
    yield Unit(SUITE_JOB, {})
    for model in study.models:
        yield Unit(READER_JOB, {"model": model})
    for reader in sorted({MODELS[name].reader for name in study.models}):
        yield Unit(DICTIONARY_JOB, {"sae": reader})
    for model in study.models:
        for benchmark in study.benchmarks:
            yield Unit(CELL_JOB, {"model": model, "benchmark": benchmark})
            if study.read_completions and BENCHMARKS[benchmark].response == "generation":
                yield Unit(COMPLETIONS_JOB, {"model": model, "benchmark": benchmark})
        yield Unit(REPORT_JOB, {"model": model})


def run_study(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    expected: Expected,
    report: Callable[[Unit, list[str]], None],
    warn: Callable[[str], None],
) -> None:
    """Bring every stage of the expected study up to date; `report` is told of each unit before it runs.

    `warn` is told of each check that failed without stopping anything.

    Raises:
        RuntimeError: a run failed; the sentence of the step that failed is in it.
        KeyboardInterrupt: a run was interrupted, by whatever signal.
        ValueError: the key of a model that is to be asked is not set; nothing was run.
    """
    forget_interruptions()
    trust = Trust(Warehouse(expected.layout), expected, instance)
    units = list(units_of(expected.study))
    if keyless := list(_without_key(trust, units)):
        raise ValueError("\n".join(keyless))

    def bring_up_to_date(unit: Unit) -> None:
        stale = [asset for asset in unit.job.assets if not trust.holds(asset, unit)]
        report(unit, stale)
        run(unit, stale)
        if stale and (shaken := _shaken(trust, unit, stale)):
            report(unit, shaken)
            run(unit, shaken)

    def run(unit: Unit, assets: list[str]) -> None:
        for warning in run_unit(definitions, unit, assets, instance) if assets else ():
            warn(warning)

    faults: list[str] = []
    with keep_failing_orphaned_runs(instance):
        for unit in (each for each in units if each.job is EXAMPLES_JOB):
            try:
                bring_up_to_date(unit)
            except (RuntimeError, ValueError, FileNotFoundError) as fault:
                faults.append(str(fault))  # the other benchmarks are looked at all the same
        if faults:
            raise RuntimeError("\n".join(faults))
        for unit in (each for each in units if each.job is not EXAMPLES_JOB):
            bring_up_to_date(unit)


def _without_key(trust: Trust, units: Iterable[Unit]) -> Iterator[str]:
    """Models behind a server that have something left to answer and whose key is not set."""
    for name in dict.fromkeys(unit.partition["model"] for unit in units if unit.job is CELL_JOB):
        cells = [unit for unit in units if unit.job is CELL_JOB and unit.partition["model"] == name]
        model = MODELS[name]
        if isinstance(model.weights, ServedModel) and not all(_answered(trust, cell) for cell in cells):
            from cg_pipeline.llm.served import key_of

            try:
                key_of(model, model.weights)
            except ValueError as fault:
                yield str(fault)


def _answered(trust: Trust, cell: Unit) -> bool:
    """Whether nothing of a cell is to be asked; where its benchmark cannot be read, that is told later."""
    try:
        return trust.holds("completions", cell)
    except (ValueError, OSError):
        return False


def _shaken(trust: Trust, unit: Unit, done: list[str]) -> list[str]:
    """Stages that held before others of the unit ran, and hold no longer: answers came that were missing."""
    return [asset for asset in unit.job.assets if asset not in done and not trust.holds(asset, unit)]


def run_unit(
    definitions: dg.Definitions,
    unit: Unit,
    assets: list[str],
    instance: dg.DagsterInstance,
    config: Mapping[str, Any] | None = None,
) -> list[str]:
    """Run some assets of a unit; returns what their checks found, where they found something.

    `config` is the run configuration of assets, by name.

    Raises:
        RuntimeError: the run failed; the sentence of the step that failed is in it.
    """
    configured = {asset: {"config": dict(values)} for asset, values in (config or {}).items()}
    outcome = definitions.resolve_job_def(unit.job.name).execute_in_process(
        partition_key=unit.key,
        asset_selection=[dg.AssetKey(asset) for asset in assets],
        instance=instance,
        tags={PID_TAG: str(os.getpid())},
        run_config={**_QUIET, "ops": configured},
        raise_on_error=False,
    )
    if not outcome.success:
        if was_interrupted(outcome):
            raise KeyboardInterrupt
        raise RuntimeError(f"{unit.title} failed: {reason_of(outcome)}")
    return _failed_checks(outcome)


def was_interrupted(outcome: dg.ExecuteInProcessResult) -> bool:
    """Whether a signal ended a step of the run."""
    names = {kind.__name__ for kind in INTERRUPTIONS}
    return any(name in names for raised in _raised(outcome) for name, _ in raised)


def reason_of(outcome: dg.ExecuteInProcessResult) -> str:
    """Why a run failed: the sentence of the step that failed, or of the checks that did."""
    for raised in _raised(outcome):
        own = [each for each in raised if not each[0].startswith(_WRAPPERS)]
        name, message = [*own, raised[-1]][0]
        if name != _OF_A_CHECK:
            return message.strip().removeprefix(_FAILURE)
    return "; ".join(_failed_checks(outcome)) or "no reason recorded"


def _raised(outcome: dg.ExecuteInProcessResult) -> Iterator[list[tuple[str, str]]]:
    """For each step that failed: name and message of what it raised, and of what that came from in turn."""
    for event in outcome.all_events:
        error, raised = event.step_failure_data.error if event.is_step_failure else None, []
        while error:
            raised.append((error.cls_name or "", error.message))
            error = error.cause
        if raised:
            yield raised


def _failed_checks(outcome: dg.ExecuteInProcessResult) -> list[str]:
    failed = [check for check in outcome.get_asset_check_evaluations() if not check.passed]
    return [f"check {c.check_name} of {c.asset_key.to_user_string()}: {c.description}" for c in failed]
