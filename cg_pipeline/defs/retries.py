"""Which faults are worth another try.

A device or a disk that is full for now, a lock that is held: waiting may cure it. Wrong
input or a missing package will be as wrong in ten seconds, so it fails at once.

Who interrupts a run wants no other try either. Dagster would make one: where an asset has a retry
policy, it takes a signal for one more fault.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

RETRIES = dg.RetryPolicy(max_retries=2, delay=5, backoff=dg.Backoff.EXPONENTIAL, jitter=dg.Jitter.PLUS_MINUS)

_LASTING = (
    ValueError, TypeError, LookupError, ImportError, NotImplementedError,
    FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError,
)  # fmt: skip


INTERRUPTIONS = (KeyboardInterrupt, dg.DagsterExecutionInterruptedError)
_told_to_end = threading.Event()


def forget_interruptions() -> None:
    """Steps may begin again: whoever calls this runs something new."""
    _told_to_end.clear()


@contextmanager
def lasting_faults_end_the_run() -> Iterator[None]:
    """Turn a fault that time does not cure into a failure without retries; its sentence stays.

    An interruption is such a fault, and no later step of this process begins any more.
    """
    if _told_to_end.is_set():
        raise dg.Failure(
            "The run was interrupted before this step.", allow_retries=False
        ) from KeyboardInterrupt()
    try:
        yield
    except INTERRUPTIONS as signal:
        _told_to_end.set()
        raise dg.Failure("The run was interrupted.", allow_retries=False) from signal
    except _LASTING as fault:
        sentence = str(fault.args[0]) if isinstance(fault, KeyError) and fault.args else str(fault)
        raise dg.Failure(sentence, allow_retries=False) from fault
