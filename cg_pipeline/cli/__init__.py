"""`cg`: the command line. Thin: it prints what the pipeline says and opens what it stored."""

from cg_pipeline.cli import readers, results, studying, upkeep
from cg_pipeline.cli.group import cli

__all__ = ["cli", "readers", "results", "studying", "upkeep"]
