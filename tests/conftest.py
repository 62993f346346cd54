"""Tests write where the product writes, and take the time a busy machine needs."""

from hypothesis import HealthCheck, settings

from cg_pipeline.cli import prepare_environment

prepare_environment()  # nothing lands in the home directory

# How quickly inputs are drawn says something about the machine only; what tests find stays reproducible.
settings.register_profile("product", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("product")
