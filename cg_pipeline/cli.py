"""`cg`: the command line. Thin: it prints what the pipeline says and opens what it stored."""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cg_pipeline.environment import (
    CHECKOUT,
    benchmarks_directory,
    dagster_history,
    data_directory,
    prepare_environment,
)

if TYPE_CHECKING:
    from cg_pipeline.defs.resources import Store
    from cg_pipeline.records import StoredReport
    from cg_pipeline.specs import Study

T = TypeVar("T")


def _named(noun: str, name: str, known: Mapping[str, T]) -> T:
    """The catalogue's entry of this name, or a usage error that suggests one."""
    from cg_pipeline.catalog import lookup

    try:
        return lookup(noun, name, known)
    except KeyError as error:
        raise click.BadParameter(error.args[0]) from None


def _reports_of_other_studies(store: "Store", study: "Study") -> "list[StoredReport]":
    from cg_pipeline.store.schema import TABLES

    made = {note.model for note in store.warehouse.materialisations("gap_report")}
    known = [{"model": model} for model in study.models if model in made]
    rows = store.warehouse.load(TABLES["gap_report"], known) if known else []
    return [row for row in rows if row.study != study.name]


class _Sentences(click.Group):
    """Tells what is wrong in one sentence: who types a command is not helped by our stack."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except (RuntimeError, ValueError, OSError, ImportError, LookupError) as error:
            if os.environ.get("CG_TRACEBACK") or isinstance(error, (KeyError, IndexError)):
                raise  # for who develops this project
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            raise _Interrupted from None


class _Interrupted(click.ClickException):
    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Interrupted. What is finished is kept; the same command goes on from there.")


@click.group(cls=_Sentences, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Competency Gaps: which concepts benchmarks leave out, and which ones a model fails."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to end, as by Ctrl-C
    prepare_environment()


@cli.command()
@click.option("--study", "name", default="embedded", show_default=True, help="Study of the catalogue to run.")
@click.option("--benchmark", "benchmarks", multiple=True, help="Benchmark to run instead of the study's own.")
@click.option("--limit", type=click.IntRange(min=1), help="Examples of each benchmark, at most.")
def demo(name: str, benchmarks: tuple[str, ...], limit: int | None) -> None:
    """Run a study from start to end and print its gaps."""
    from cg_pipeline.definitions import assemble
    from cg_pipeline.defs.bills import bill_lines
    from cg_pipeline.defs.catalogue import BENCHMARKS, StudyChoice
    from cg_pipeline.defs.freshness import expected_of
    from cg_pipeline.defs.resources import Namer, Store
    from cg_pipeline.defs.runs import Unit, run_study
    from cg_pipeline.defs.settings import configured
    from cg_pipeline.progress import bars_on_the_terminal
    from cg_pipeline.store.schema import TABLES
    from cg_pipeline.studies import STUDIES

    started, began = time.monotonic(), datetime.now(UTC).replace(tzinfo=None)
    _named("study", name, STUDIES)
    for benchmark in benchmarks:
        _named("benchmark", benchmark, BENCHMARKS)
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
    with dagster_history() as instance, bars_on_the_terminal():
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


@cli.command("train-sae")
@click.argument("name")
@click.option("--text-dir", default="", help="Directory of .txt, .jsonl or .parquet files to read instead.")
@click.option("--device", default="auto", show_default=True, help="auto, cuda, mps or cpu.")
def train_sae(name: str, text_dir: str, device: str) -> None:
    """Train the SAE called NAME and publish it, if it passes the gate of its spec.

    Reads the text that the spec names. Says first what it will take; goes on where it was, if it was killed.
    """
    from cg_pipeline.defs.resources import Store
    from cg_pipeline.defs.training_assets import place_of, train_reader
    from cg_pipeline.saes import SAES

    sae = _named("SAE", name, SAES)
    layout = Store(data_dir=data_directory()).layout
    out_dir = layout.declared(place_of(sae))
    trained = train_reader(sae, layout, device, text_dir, out_dir=out_dir, report=click.echo)
    for measured_on, found in trained.figures.items():
        click.echo(f"{measured_on}: " + ", ".join(f"{key} {value}" for key, value in found.items()))


@cli.command("label")
@click.argument("name", metavar="SAE")
@click.option("--concept", "concepts", multiple=True, type=int, help="Concept to label, by its id.")
@click.option("--top", default=100, show_default=True, help="The most firing concepts; 0 for all alive.")
@click.option("--limit", default=500, show_default=True, help="Most concepts that may be chosen.")
@click.option("--yes", is_flag=True, help="Do not ask whether the estimated cost is right.")
def label(name: str, concepts: tuple[int, ...], top: int, limit: int, yes: bool) -> None:
    """Let a language model (CG_LLM_*) label concepts of an SAE, and test its labels."""
    from cg_pipeline.definitions import assemble
    from cg_pipeline.defs.label_runs import label_sae
    from cg_pipeline.defs.labelling import ConceptChoice, Labeller
    from cg_pipeline.defs.resources import Store
    from cg_pipeline.saes import SAES

    _named("SAE", name, SAES)
    store = Store(data_dir=data_directory(), benchmarks_dir=benchmarks_directory())
    with dagster_history() as instance:
        label_sae(
            assemble(store.data_dir),
            instance,
            Labeller(store=store),
            name,
            ConceptChoice(concepts=list(concepts), top=top, limit=limit),
            agree=lambda sentence: yes or click.confirm(f"{sentence}. Ask?"),
            report=click.echo,
        )


@cli.command("import")
@click.argument("log_format", metavar="FORMAT", type=click.Choice(["lm-eval", "inspect", "lighteval"]))
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", required=True, help="Model of the catalogue that gave the answers.")
@click.option("--benchmark", required=True, help="Benchmark of the catalogue that was asked.")
@click.option("--metric", default="", help="Which logged score to take, where there are several.")
@click.option("--filter", "filtered_by", default="", help="lm-eval: which of the task's filters.")
@click.option("--at-least", default=0.9, show_default=True, help="Share of examples that must be in the log.")
@click.option("--dry-run", is_flag=True, help="Report what would be matched, and write nothing.")
def import_logs(
    log_format: str,
    paths: tuple[Path, ...],
    model: str,
    benchmark: str,
    metric: str,
    filtered_by: str,
    at_least: float,
    dry_run: bool,
) -> None:
    """Take over results of another tool: FORMAT is lm-eval (--log_samples), inspect or lighteval."""
    from cg_pipeline.defs.imports import read_results, store_results
    from cg_pipeline.defs.resources import Store

    store = Store(data_dir=data_directory())
    cell = {"model": model, "benchmark": benchmark}
    try:
        found = read_results(log_format, paths, store, **cell, metric=metric, filtered_by=filtered_by)
    except KeyError as error:
        raise click.BadParameter(error.args[0]) from None
    click.echo("\n".join(found.report()))
    if found.share < at_least:
        raise ValueError(
            f"{found.share:.1%} of the examples of {benchmark!r} are in the log; expected at least "
            f"{at_least:.1%}. Is it the same benchmark and split? Lower --at-least to import it anyway."
        )
    if dry_run:
        click.echo("Nothing was written (--dry-run).")
        return
    with dagster_history() as instance:
        store_results(found, store, instance, **cell)
    click.echo(f"Imported completions and scores of {model} on {benchmark}.")


@cli.command()
def recover() -> None:
    """Mark runs whose process died with the machine as failed, so that they can be retried."""
    from cg_pipeline.defs.recovery import fail_orphaned_runs

    with dagster_history() as instance:
        failed = fail_orphaned_runs(instance)
    click.echo(f"{len(failed)} run(s) left behind" + (f": {', '.join(failed)}" if failed else ""))


@cli.command()
def publish() -> None:
    """Bring the published warehouse up to date, should a crash have left it behind."""
    from cg_pipeline.defs.resources import Store

    store = Store(data_dir=data_directory())
    changed = store.warehouse.publish()
    click.echo(f"{store.layout.published} {'published' if changed else 'is up to date'}")


if __name__ == "__main__":
    cli()
