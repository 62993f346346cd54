"""Which faults are worth another try.

A device or a disk that is full for now, a lock that is held: waiting may cure it. Wrong
input or a missing package will be as wrong in ten seconds, so it fails at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

RETRIES = dg.RetryPolicy(max_retries=2, delay=5, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)

_LASTING = (
    ValueError, TypeError, LookupError, ImportError, NotImplementedError,
    FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError,
)  # fmt: skip


@contextmanager
def lasting_faults_end_the_run() -> Iterator[None]:
    """Turn a fault that time does not cure into a failure without retries; its sentence stays."""
    try:
        yield
    except _LASTING as fault:
        sentence = str(fault.args[0]) if isinstance(fault, KeyError) and fault.args else str(fault)
        raise dg.Failure(sentence, allow_retries=False) from fault
