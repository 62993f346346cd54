"""Tests write where the product writes, and take the time a busy machine needs."""

import gc
import os

from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:  # the workers share the cores: a thread pool each would fight
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

from cg_pipeline.environment import prepare_environment

prepare_environment()  # nothing lands in the home directory

# How quickly inputs are drawn says something about the machine only; what tests find stays reproducible.
settings.register_profile(
    "product", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50
)
settings.register_profile("thorough", settings.get_profile("product"), max_examples=1000)
settings.load_profile("product")  # pytest --hypothesis-profile=thorough for the other

gc.disable()  # importing makes a million objects, and hardly one of them is garbage


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
