"""`cg demo` and `cg ui`: run a study, and look at it in Dagster."""

import os
import socket
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from cg_pipeline.cli.group import cli, named
from cg_pipeline.environment import CHECKOUT, benchmarks_directory, dagster_history, data_directory

if TYPE_CHECKING:
    from cg_pipeline.defs.resources import Store
    from cg_pipeline.records import StoredReport
    from cg_pipeline.specs import Study


_PATIENCE_S = 5.0
"""How long a study waits for another one that is just ending."""


def _reports_of_other_studies(store: "Store", study: "Study") -> "list[StoredReport]":
    from cg_pipeline.store.schema import TABLES

    made = {note.model for note in store.warehouse.materialisations("gap_report")}
    known = [{"model": model} for model in study.models if model in made]
    rows = store.warehouse.load(TABLES["gap_report"], known) if known else []
    return [row for row in rows if row.study != study.name]


@cli.command()
@click.option("--study", "name", default="embedded", show_default=True, help="Study of the catalogue to run.")
@click.option("--benchmark", "benchmarks", multiple=True, help="Benchmark to run instead of the study's own.")
@click.option("--limit", type=click.IntRange(min=1), help="Examples of each benchmark, at most.")
def demo(name: str, benchmarks: tuple[str, ...], limit: int | None) -> None:
    """Run a study from start to end and print its gaps.

    One at a time in a data directory: another study would put its own examples under this one's feet.
    """
    from cg_pipeline.definitions import assemble
    from cg_pipeline.defs.bills import bill_lines
    from cg_pipeline.defs.catalogue import BENCHMARKS, StudyChoice
    from cg_pipeline.defs.freshness import expected_of
    from cg_pipeline.defs.resources import Namer, Store
    from cg_pipeline.defs.runs import Unit, run_study
    from cg_pipeline.defs.settings import configured
    from cg_pipeline.progress import bars_on_the_terminal
    from cg_pipeline.store.locks import hold
    from cg_pipeline.store.schema import TABLES
    from cg_pipeline.studies import STUDIES

    started, began = time.monotonic(), datetime.now(UTC).replace(tzinfo=None)
    named("study", name, STUDIES)
    for benchmark in benchmarks:
        named("benchmark", benchmark, BENCHMARKS)
    choice = StudyChoice(name=name, benchmarks=list(dict.fromkeys(benchmarks)), limit=limit)
    study, store = choice.study, Store(data_dir=data_directory(), benchmarks_dir=benchmarks_directory())

    def report(unit: Unit, stale: list[str]) -> None:
        what = f"running {', '.join(stale)}" if stale else "up to date"
        click.echo(f"[{time.monotonic() - started:6.1f} s] {unit.title}: {what}")

    def warn(sentence: str) -> None:
        click.echo(f"           {sentence}")

    click.echo(f"{study.title}: {len(study.models)} model(s) × {len(study.benchmarks)} benchmarks")
    store.warehouse.publish()
    for other in _reports_of_other_studies(store, study):
        click.echo(
            f"The report and suite tables of {other.model} hold study {other.study!r}; replacing them."
        )
    alone = hold(store.layout.data_dir / ".study.lock", exclusive=True, timeout_s=_PATIENCE_S)
    with alone, dagster_history() as instance, bars_on_the_terminal():
        definitions = assemble(store.data_dir, study_choice=choice)
        settings = configured(store)
        deciders = (settings["judging"], settings["code_sandbox"], settings["gpu"])
        expected = expected_of(store, study, Namer(store=store), *deciders)
        run_study(definitions, instance, expected, report, warn)
    for row in store.warehouse.load(TABLES["gap_report"], [{"model": model} for model in study.models]):
        click.echo("\n" + "\n".join(row.headline))
        click.echo(f"\nReport:    {store.layout.data_dir / row.html_path}")
        click.echo(f"Markdown:  {store.layout.data_dir / row.markdown_path}")
    for line in bill_lines(store.warehouse.materialisations("completions"), study.models, began):
        click.echo(line)
    click.echo(f"Tables:    {store.layout.published} (any DuckDB client)")
    click.echo(f"Took {time.monotonic() - started:.0f} s.")


@cli.command()
@click.option("--port", default=3000, show_default=True)
def ui(port: int) -> None:
    """Serve Dagster's UI on this machine, with its daemon, until interrupted."""
    from cg_pipeline.defs.recovery import fail_orphaned_runs
    from cg_pipeline.defs.resources import Store

    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise ValueError(f"Port {port} is in use; expected a free one. Stop its server, or give --port.")
    Store(data_dir=data_directory()).warehouse.publish()
    with dagster_history() as instance:
        fail_orphaned_runs(instance)
    serve = ["dagster", "dev", "--workspace", "workspace.yaml", "--host", "127.0.0.1", "--port", str(port)]
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", *serve])
