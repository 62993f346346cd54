"""Tests write where the product writes: nothing lands in the home directory."""

from cg_pipeline.cli import prepare_environment

prepare_environment()
