"""Faults of the hub are told apart by its answer, each with its remedy."""

from types import SimpleNamespace
from typing import Any

import pytest

from cg_pipeline.inference.hub_errors import explained


class ConnectError(Exception):
    """As the HTTP client's."""


def answered(status: int) -> OSError:
    """An error of a library around an answer of the hub."""
    inner: Any = OSError("inner")
    inner.response = SimpleNamespace(status_code=status)
    outer = OSError("We had a problem.\nSecond line.")
    outer.__cause__ = inner
    return outer


def unreachable() -> OSError:
    outer = OSError("We couldn't connect to the hub.")
    outer.__context__ = ConnectError("Name or service not known")
    return outer


@pytest.mark.parametrize(
    ("error", "kind", "sentence"),
    [
        (
            unreachable(),
            FileNotFoundError,
            "Model 'm': the hub cannot be reached for a/b at 000000000000 (Name or service not known); "
            "expected a connection, once, or the files in the hub's cache. Connect and run again.",
        ),
        (
            answered(403),
            PermissionError,
            "Model 'm': the hub does not give out a/b at 000000000000 (HTTP 403); expected a token in "
            "HF_TOKEN of an account that has accepted its terms. Accept at https://huggingface.co/a/b and "
            "set HF_TOKEN.",
        ),
        (
            answered(404),
            LookupError,
            "Model 'm': the hub has no a/b at 000000000000, or not all its files (HTTP 404); expected "
            "safetensors weights there. Correct what its spec names.",
        ),
        (
            OSError(28, "No space left on device"),
            OSError,
            "[Errno 28] Model 'm': no room on the disk for a/b at 000000000000 ([Errno 28] No space left on "
            "device). Free some, and run again.",
        ),
        (
            answered(500),
            ConnectionError,
            "Model 'm': cannot read a/b at 000000000000 from the hub (We had a problem); expected "
            "safetensors weights. Check the network, HF_TOKEN and what files the repository holds.",
        ),
    ],
)
def test_each_fault_is_one_sentence(error: OSError, kind: type[Exception], sentence: str) -> None:
    found = explained(error, "Model 'm'", "a/b", "0" * 40, "its terms")
    assert type(found) is kind
    assert str(found) == sentence


def test_a_chain_that_goes_round_ends() -> None:
    error = OSError("round")
    error.__context__ = error
    assert isinstance(explained(error, "Model 'm'", "a/b", "main"), ConnectionError)
