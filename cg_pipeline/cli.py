"""`cg`: the command line. Thin: it prints what the pipeline says and opens what it stored."""

import os
import sys
import time
from pathlib import Path

import click

CHECKOUT = Path(__file__).parents[1]


def prepare_environment() -> None:
    """Keep everything that libraries write below the data directory, and their progress bars out of files."""
    from cg_pipeline.defs.resources import data_directory

    data = Path(data_directory())
    defaults = {
        "DAGSTER_HOME": CHECKOUT,
        "CG_DAGSTER_STORAGE": data / "dagster",
        "HF_HOME": data / "cache" / "huggingface",
        "MPLCONFIGDIR": data / "cache" / "matplotlib",
        "WANDB_MODE": "disabled",
        **({} if sys.stderr.isatty() else {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}),
        "TOKENIZERS_PARALLELISM": "false",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, str(value))
    Path(os.environ["CG_DAGSTER_STORAGE"]).mkdir(parents=True, exist_ok=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Competency Gaps: which concepts benchmarks leave out, and which ones a model fails."""
    prepare_environment()


@cli.command()
@click.option("--study", "name", default="embedded", show_default=True, help="Study of the catalogue to run.")
def demo(name: str) -> None:
    """Run a study from start to end and print its gaps."""
    import dagster

    from cg_pipeline.catalog import lookup
    from cg_pipeline.definitions import assemble
    from cg_pipeline.defs.recovery import fail_orphaned_runs
    from cg_pipeline.defs.resources import CodeSandbox, Judging, Namer, Store, data_directory
    from cg_pipeline.defs.runs import Unit, run_study
    from cg_pipeline.store.schema import TABLES
    from cg_pipeline.studies import STUDIES

    started = time.monotonic()
    try:
        study = lookup("study", name, STUDIES)
    except KeyError as error:
        raise click.BadParameter(error.args[0], param_hint="--study") from None
    store = Store(data_dir=data_directory())

    def report(unit: Unit, stale: list[str]) -> None:
        what = f"running {', '.join(stale)}" if stale else "up to date"
        click.echo(f"[{time.monotonic() - started:6.1f} s] {unit.title}: {what}")

    click.echo(f"{study.title}: {len(study.models)} model(s) × {len(study.benchmarks)} benchmarks")
    try:
        with dagster.DagsterInstance.get() as instance:
            fail_orphaned_runs(instance)  # a killed run would hold its place in the queue for ever
            run_study(
                assemble(store.data_dir),
                instance,
                study,
                store.layout,
                Namer(store=store).source,
                report,
                Judging(store=store).source,
                CodeSandbox().source,
            )
    except (RuntimeError, TimeoutError, ValueError, FileNotFoundError) as error:
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

    from cg_pipeline.defs.recovery import fail_orphaned_runs

    with dagster.DagsterInstance.get() as instance:
        fail_orphaned_runs(instance)  # a killed run would hold its place in the queue for ever
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
    from cg_pipeline.defs.training_assets import train_reader
    from cg_pipeline.saes import SAES

    try:
        figures = train_reader(
            lookup("SAE", name, SAES), Store(data_dir=data_directory()).layout, device, text_dir
        )
    except KeyError as error:
        raise click.BadParameter(error.args[0], param_hint="NAME") from None
    for measured_on, found in figures.items():
        click.echo(f"{measured_on}: " + ", ".join(f"{key} {value}" for key, value in found.items()))


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
