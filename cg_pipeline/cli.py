"""`cg`: the command line. Thin: it prints what the pipeline says and opens what it stored."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from cg_pipeline.defs.resources import Store

CHECKOUT = Path(__file__).parents[1]


def prepare_environment() -> None:
    """Keep everything that libraries write below the data directory, and their progress bars out of files."""
    from cg_pipeline.defs.resources import data_directory
    from cg_pipeline.store.files import write_whole

    data = Path(data_directory())
    home = data / "dagster"
    defaults = {
        "DAGSTER_HOME": home,
        "CG_DAGSTER_STORAGE": home,
        "HF_HOME": data / "cache" / "huggingface",
        "MPLCONFIGDIR": data / "cache" / "matplotlib",
        "WANDB_MODE": "disabled",
        **({} if sys.stderr.isatty() else {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}),
        "TOKENIZERS_PARALLELISM": "false",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, str(value))
    for name in ("DAGSTER_HOME", "CG_DAGSTER_STORAGE"):
        Path(os.environ[name]).mkdir(parents=True, exist_ok=True)
    if os.environ["DAGSTER_HOME"] == str(home):
        write_whole(home / "dagster.yaml", (CHECKOUT / "dagster.yaml").read_bytes())


def _mend_after_kills(instance: "DagsterInstance", store: "Store") -> None:
    """Free the place in the queue that a killed run holds for ever; publish what a kill left unpublished."""
    from cg_pipeline.defs.recovery import fail_orphaned_runs

    fail_orphaned_runs(instance)
    store.warehouse.publish()


@contextmanager
def declarations_explained() -> Iterator[None]:
    """Say what is wrong with declared benchmarks, which are read with the catalogue, and leave."""
    try:
        yield
    except ValueError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Competency Gaps: which concepts benchmarks leave out, and which ones a model fails."""
    prepare_environment()


@cli.command()
@click.option("--study", "name", default="embedded", show_default=True, help="Study of the catalogue to run.")
@click.option("--benchmark", "benchmarks", multiple=True, help="Benchmark to run instead of the study's own.")
@click.option("--limit", type=click.IntRange(min=1), help="Examples of each benchmark, at most.")
def demo(name: str, benchmarks: tuple[str, ...], limit: int | None) -> None:
    """Run a study from start to end and print its gaps."""
    import dagster

    from cg_pipeline.catalog import lookup
    from cg_pipeline.defs.resources import (
        CodeSandbox,
        Judging,
        Namer,
        Store,
        StudyChoice,
        benchmarks_directory,
        data_directory,
    )
    from cg_pipeline.store.schema import TABLES
    from cg_pipeline.studies import STUDIES

    with declarations_explained():
        from cg_pipeline.definitions import assemble
        from cg_pipeline.defs.catalogue import BENCHMARKS
        from cg_pipeline.defs.freshness import expected_of
        from cg_pipeline.defs.runs import Unit, run_study

    started = time.monotonic()
    for noun, wanted, known in (("study", (name,), STUDIES), ("benchmark", benchmarks, BENCHMARKS)):
        try:
            for each in wanted:
                lookup(noun, each, known)
        except KeyError as error:
            raise click.BadParameter(error.args[0], param_hint=f"--{noun}") from None
    choice = StudyChoice(name=name, benchmarks=list(dict.fromkeys(benchmarks)), limit=limit)
    study, store = choice.study, Store(data_dir=data_directory(), benchmarks_dir=benchmarks_directory())

    def report(unit: Unit, stale: list[str]) -> None:
        what = f"running {', '.join(stale)}" if stale else "up to date"
        click.echo(f"[{time.monotonic() - started:6.1f} s] {unit.title}: {what}")

    click.echo(f"{study.title}: {len(study.models)} model(s) × {len(study.benchmarks)} benchmarks")
    try:
        with dagster.DagsterInstance.get() as instance:
            _mend_after_kills(instance, store)
            definitions = assemble(store.data_dir, study_choice=choice)
            expected = expected_of(store, study, Namer(store=store), Judging(store=store), CodeSandbox())
            run_study(definitions, instance, expected, report)
    except (RuntimeError, ValueError, OSError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    for row in store.warehouse.load(TABLES["gap_report"], [{"model": model} for model in study.models]):
        click.echo("\n" + "\n".join(row.headline))
        click.echo(f"\nReport:    {store.layout.data_dir / row.html_path}")
    click.echo(f"Tables:    {store.layout.published} (any DuckDB client)")
    click.echo(f"Took {time.monotonic() - started:.0f} s.")


@cli.command()
@click.option("--port", default=3000, show_default=True)
def ui(port: int) -> None:
    """Serve Dagster's UI on this machine, with its daemon, until interrupted."""
    import dagster

    from cg_pipeline.defs.resources import Store, data_directory

    with dagster.DagsterInstance.get() as instance:
        _mend_after_kills(instance, Store(data_dir=data_directory()))
    serve = ["dagster", "dev", "--workspace", "workspace.yaml", "--host", "127.0.0.1", "--port", str(port)]
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", *serve])


@cli.command("train-sae")
@click.argument("name")
@click.option("--text-dir", default="", help="Directory of .txt files to read, instead of Debian packages.")
@click.option("--device", default="auto", show_default=True, help="auto, cuda, mps or cpu.")
def train_sae(name: str, text_dir: str, device: str) -> None:
    """Train the SAE called NAME and publish it, if it passes the gate of its spec."""
    from cg_pipeline.catalog import lookup
    from cg_pipeline.defs.resources import Store, data_directory
    from cg_pipeline.saes import SAES

    with declarations_explained():
        from cg_pipeline.defs.training_assets import place_of, train_reader

    try:
        sae = lookup("SAE", name, SAES)
    except KeyError as error:
        raise click.BadParameter(error.args[0], param_hint="NAME") from None
    layout = Store(data_dir=data_directory()).layout
    try:
        figures = train_reader(sae, layout, device, text_dir, out_dir=layout.declared(place_of(sae)))
    except (RuntimeError, ValueError, OSError, ImportError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    for measured_on, found in figures.items():
        click.echo(f"{measured_on}: " + ", ".join(f"{key} {value}" for key, value in found.items()))


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
    import dagster

    from cg_pipeline.defs.resources import Store, data_directory

    with declarations_explained():
        from cg_pipeline.defs.imports import read_results, store_results

    store = Store(data_dir=data_directory())
    cell = {"model": model, "benchmark": benchmark}
    try:
        found = read_results(log_format, paths, store, **cell, metric=metric, filtered_by=filtered_by)
    except KeyError as error:
        raise click.BadParameter(error.args[0]) from None
    except (LookupError, ValueError, OSError, ModuleNotFoundError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)
    click.echo("\n".join(found.report()))
    if found.share < at_least:
        click.echo(
            f"Error: {found.share:.1%} of the examples of {benchmark!r} are in the log; expected at least "
            f"{at_least:.1%}. Is it the same benchmark and split? Lower --at-least to import it anyway.",
            err=True,
        )
        sys.exit(1)
    if dry_run:
        click.echo("Nothing was written (--dry-run).")
        return
    with dagster.DagsterInstance.get() as instance:
        store_results(found, store, instance, **cell)
    click.echo(f"Imported completions and scores of {model} on {benchmark}.")


@cli.command()
def recover() -> None:
    """Mark runs whose process died with the machine as failed, so that they can be retried."""
    import dagster

    from cg_pipeline.defs.recovery import fail_orphaned_runs

    with dagster.DagsterInstance.get() as instance:
        failed = fail_orphaned_runs(instance)
    click.echo(f"{len(failed)} run(s) left behind" + (f": {', '.join(failed)}" if failed else ""))


@cli.command()
def publish() -> None:
    """Bring the published warehouse up to date, should a crash have left it behind."""
    from cg_pipeline.defs.resources import Store, data_directory

    store = Store(data_dir=data_directory())
    changed = store.warehouse.publish()
    click.echo(f"{store.layout.published} {'published' if changed else 'is up to date'}")


if __name__ == "__main__":
    cli()
