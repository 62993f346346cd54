"""Rows changed at random: what leaves a reader is answers, or a ValueError that names file and place."""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cg_pipeline.sources.eval_logs.harness import read_harness
from cg_pipeline.sources.eval_logs.inspect_log import read_inspect
from cg_pipeline.sources.eval_logs.lighteval import read_lighteval
from cg_pipeline.sources.eval_logs.matching import match
from tests.sources.eval_logs.logs import BARKS, COLD, harness_choice, harness_generation, lighteval_row
from tests.sources.eval_logs.test_inspect_log import sample

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.just(10**400),
    st.just("9" * 5000),
    st.text(max_size=3),
    st.lists(st.one_of(st.none(), st.text(max_size=2), st.floats()), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)
ROWS = {
    "choice": harness_choice("Which animal barks at night?", ["cat", "dog"], 1, [-2.0, -1.0]),
    "generation": harness_generation("Which animal barks at night?", "dog", 1.0),
    "old": {"doc": {"q": "a"}, "arguments": [["p", " a"]], "resps": [[[-0.5, False]]], "acc": 1.0},
    "details": lighteval_row("Which is cold?", ["ice", "fire"], 0, logprobs=[-0.5, -1.5]),
    "flat": {
        "example": "Which?",
        "full_prompt": "Which?",
        "predictions": "[[-0.5, 0], [-1.5, 0]]",
        "choices": "['ice', 'fire']",
        "gold_index": "[0]",
        "metrics": {"acc": 1},
    },
}
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a nested value, the whole left out."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(*path, key), *places(value[key], (*path, key))]]


@st.composite
def changed(draw: Any, row: dict[str, Any]) -> dict[str, Any]:
    """The row with one place replaced, or taken out."""
    whole: Any = copy.deepcopy(row)
    *above, last = draw(st.sampled_from(places(row)))
    inner = whole
    for key in above:
        inner = inner[key]
    if draw(st.booleans()):
        inner[last] = draw(ODD)
    else:
        del inner[last]
    return whole


def survives(read: Callable[[], list[Any]], name: str) -> None:
    said = name
    try:
        match([BARKS, COLD], read())
    except ValueError as error:
        said = str(error)
    assert said.startswith(name)


@pytest.mark.parametrize("name", ["choice", "generation", "old"])
@quick
@given(data=st.data())
def test_harness(tmp_path: Path, name: str, data: Any):
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(data.draw(changed(ROWS[name]))) + "\n", errors="replace")
    survives(lambda: read_harness([path], scoring="likelihood"), "samples.jsonl:1")


@pytest.mark.parametrize("name", ["details", "flat"])
@quick
@given(data=st.data())
def test_lighteval(tmp_path: Path, name: str, data: Any):
    path = tmp_path / "details.parquet"
    try:
        pd.DataFrame([data.draw(changed(ROWS[name]))]).to_parquet(path)
    except (ValueError, TypeError, OverflowError, NotImplementedError):
        return  # Parquet cannot hold it
    survives(lambda: read_lighteval([path]), "details.parquet")


@quick
@given(field=st.sampled_from(sorted(vars(sample()))), value=ODD)
def test_inspect(tmp_path: Path, field: str, value: Any):
    module = ModuleType("inspect_ai.log")
    one = sample()
    setattr(one, field, value)
    module.read_eval_log = lambda path, resolve_attachments: SimpleNamespace(samples=[one])
    (tmp_path / "a.eval").write_bytes(b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "inspect_ai", ModuleType("inspect_ai"))
        patch.setitem(sys.modules, "inspect_ai.log", module)
        survives(lambda: read_inspect([tmp_path / "a.eval"]), "a.eval")


@pytest.mark.parametrize("read", [read_harness, read_lighteval])
@quick
@given(content=st.binary(min_size=1, max_size=200))
def test_binary_garbage(tmp_path: Path, read: Callable[..., Any], content: bytes):
    (tmp_path / "garbage.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=r"^garbage\.jsonl"):
        read([tmp_path / "garbage.jsonl"])
