"""`python -m cg_pipeline.cli`: the same as `cg`."""

from cg_pipeline.cli import cli

if __name__ == "__main__":
    cli()
