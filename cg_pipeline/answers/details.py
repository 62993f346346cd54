"""What an example carries for its scoring policy."""

import json
from typing import Any, cast

from cg_pipeline.records import Example


def details_of(example: Example) -> dict[str, Any]:
    """The example's details as a dictionary, empty when it has none.

    Raises:
        ValueError: they are no JSON object.
    """
    if not example.details:
        return {}
    try:
        found = json.loads(example.details)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(
            f"details of example {example.example_id} are {example.details[:80]!r}; "
            "expected a JSON object. Correct them."
        )
    return cast("dict[str, Any]", found)
