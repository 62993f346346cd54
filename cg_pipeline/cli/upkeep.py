"""`cg recover` and `cg publish`: after a crash."""

import click

from cg_pipeline.cli.group import cli
from cg_pipeline.environment import dagster_history, data_directory


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
