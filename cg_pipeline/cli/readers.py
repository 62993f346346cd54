"""`cg train-sae` and `cg label`: make a reader, and words for its concepts."""

import click

from cg_pipeline.cli.group import cli, named
from cg_pipeline.environment import benchmarks_directory, dagster_history, data_directory


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

    sae = named("SAE", name, SAES)
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

    named("SAE", name, SAES)
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
