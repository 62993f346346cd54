"""`cg`: the command line. Thin: it prints what the pipeline says and opens what it stored."""

import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from cg_pipeline.defs.resources import Store
    from cg_pipeline.records import StoredReport
    from cg_pipeline.specs import Study

T = TypeVar("T")

CHECKOUT = Path(__file__).parents[1]


def prepare_environment() -> None:
    """Keep everything that libraries write below the data directory, and their progress bars out of files.

    Raises:
        ValueError: the data directory or Dagster's home cannot be used; the message says why.
    """
    from cg_pipeline.defs.resources import data_directory

    data = Path(data_directory())
    if not data.is_dir():
        raise ValueError(
            f"CG_DATA_DIR is {str(data)!r}, which is not a directory; expected one with the benchmark files "
            f"in it. Copy {CHECKOUT / 'data'} there, or correct the name."
        )
    if os.environ.get("CG_DATA_DIR"):
        os.environ["CG_DATA_DIR"] = str(data)  # whoever is started elsewhere means the same place
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
    _make_dagster_home(home)


def _make_dagster_home(ours: Path) -> None:
    from cg_pipeline.store.files import write_whole

    for name in ("DAGSTER_HOME", "CG_DAGSTER_STORAGE"):
        place = Path(os.environ[name])
        remedy = "Set CG_DATA_DIR to another" if place == ours else f"Set {name} to another, or unset it"
        if not place.is_absolute() or set(str(place)) & set("?%#") or not str(place).isprintable():
            raise ValueError(
                f"{name} is {str(place)!a}; expected an absolute path without ?, %, # and control "
                f"characters, which Dagster's databases cannot be opened at. {remedy}."
            )
        try:
            place.mkdir(parents=True, exist_ok=True)
            if name == "DAGSTER_HOME" and place == ours:
                write_whole(ours / "dagster.yaml", (CHECKOUT / "dagster.yaml").read_bytes())
        except OSError as error:
            raise ValueError(
                f"{name} is {place}, which cannot be written ({error.strerror}); expected a directory that "
                f"may be changed. {remedy}, or change its permissions."
            ) from error


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


@contextmanager
def _dagster() -> Iterator["DagsterInstance"]:
    """Dagster's history of runs, below DAGSTER_HOME."""
    import dagster
    import sqlalchemy.exc

    try:
        with dagster.DagsterInstance.get() as instance:
            yield instance
    except sqlalchemy.exc.DatabaseError as error:
        raise ValueError(
            f"Dagster's history in {os.environ['CG_DAGSTER_STORAGE']} cannot be used ({error.orig}); "
            "expected its databases. If they are damaged, delete that folder: it holds no results."
        ) from error


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


@click.group(cls=_Sentences, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Competency Gaps: which concepts benchmarks leave out, and which ones a model fails."""
    prepare_environment()


@cli.command()
@click.option("--study", "name", default="embedded", show_default=True, help="Study of the catalogue to run.")
def demo(name: str) -> None:
    """Run a study from start to end and print its gaps."""
    from cg_pipeline.definitions import assemble
    from cg_pipeline.defs.resources import Namer, Store, StudyChoice, data_directory
    from cg_pipeline.defs.runs import Unit, run_study
    from cg_pipeline.store.schema import TABLES
    from cg_pipeline.studies import STUDIES

    started = time.monotonic()
    _named("study", name, STUDIES)
    choice, store = StudyChoice(name=name), Store(data_dir=data_directory())
    study = choice.study

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
    with _dagster() as instance:
        definitions = assemble(store.data_dir, study_choice=choice)
        run_study(definitions, instance, study, store.layout, Namer(store=store).source, report, warn)
    for row in store.warehouse.load(TABLES["gap_report"], [{"model": model} for model in study.models]):
        click.echo("\n" + "\n".join(row.headline))
        click.echo(f"\nReport:    {store.layout.data_dir / row.html_path}")
        click.echo(f"Markdown:  {store.layout.data_dir / row.markdown_path}")
    click.echo(f"Tables:    {store.layout.published} (any DuckDB client)")
    click.echo(f"Took {time.monotonic() - started:.0f} s.")


@cli.command()
@click.option("--port", default=3000, show_default=True)
def ui(port: int) -> None:
    """Serve Dagster's UI on this machine, with its daemon, until interrupted."""
    from cg_pipeline.defs.recovery import fail_orphaned_runs
    from cg_pipeline.defs.resources import Store, data_directory

    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise ValueError(f"Port {port} is in use; expected a free one. Stop its server, or give --port.")
    Store(data_dir=data_directory()).warehouse.publish()
    with _dagster() as instance:
        fail_orphaned_runs(instance)
    serve = ["dagster", "dev", "--workspace", "workspace.yaml", "--host", "127.0.0.1", "--port", str(port)]
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", *serve])


@cli.command("train-sae")
@click.argument("name")
@click.option("--text-dir", default="", help="Directory of .txt files to read, instead of Debian packages.")
@click.option("--device", default="auto", show_default=True, help="auto, cuda, mps or cpu.")
def train_sae(name: str, text_dir: str, device: str) -> None:
    """Train the SAE called NAME and publish it, if it passes the gate of its spec."""
    from cg_pipeline.defs.resources import Store, data_directory
    from cg_pipeline.defs.training_assets import place_of, train_reader
    from cg_pipeline.saes import SAES

    sae = _named("SAE", name, SAES)
    layout = Store(data_dir=data_directory()).layout
    figures = train_reader(sae, layout, device, text_dir, out_dir=layout.declared(place_of(sae)))
    for measured_on, found in figures.items():
        click.echo(f"{measured_on}: " + ", ".join(f"{key} {value}" for key, value in found.items()))


@cli.command()
def recover() -> None:
    """Mark runs whose process died with the machine as failed, so that they can be retried."""
    from cg_pipeline.defs.recovery import fail_orphaned_runs

    with _dagster() as instance:
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
