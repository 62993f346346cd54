"""`cg import`: results of another tool."""

from pathlib import Path

import click

from cg_pipeline.cli.group import cli
from cg_pipeline.environment import dagster_history, data_directory


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
