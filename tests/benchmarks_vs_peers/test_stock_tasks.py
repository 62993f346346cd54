"""What is measured beside lm-evaluation-harness is what the catalogue asks."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.items import normalised_item
from cg_pipeline.pipeline import pose


def _module() -> Any:
    path = Path(__file__).parents[2] / "benchmarks_vs_peers" / "stock_tasks.py"
    spec = importlib.util.spec_from_file_location("stock_tasks", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STOCK = _module()
GROUPS = [["owl", "old"], ["hen", "nonOld"], ["Not known", "unknown"]]
ROW: dict[str, Any] = {
    "item_id": "1",
    "question": "The owl saw the hen, but _ was asleep.",
    "choices": ["The owl", "The hen", "Not known"],
    "answer": "C",
    "context": "An owl met a hen.",
    "category": "Age",
    "source_fields": {
        "answer_info": GROUPS,
        "stereotyped_groups": ["old"],
        "question_index": 1,
        "context_condition": "ambig",
        "question_polarity": "neg",
        "solution": "Three. #### 3",
    },
}
CHANGED: dict[str, dict[str, Any]] = {
    "piqa": {"choices": ["a", "b"], "answer": "B"},
    "winogrande": {"choices": ["owl", "hen"], "answer": "B"},
    "boolq": {"choices": ["no", "yes"], "answer": "B"},
    "gsm8k": {"choices": None, "answer": "3"},
}


@pytest.mark.parametrize("task", [*STOCK.TASKS, STOCK.GENERATION], ids=lambda task: task.name)
def test_the_catalogue_is_asked(task):
    row, benchmark = {**ROW, **CHANGED.get(task.name, {})}, BENCHMARKS[task.name]
    wanted = pose(benchmark, (benchmark.from_normalised or normalised_item)(row))
    example = task.example(row)
    assert replace(example, choices=wanted.choices) == wanted
    assert (example.choices == wanted.choices) == (task.name not in STOCK.OTHER_FORMAT)
    assert task.columns(row)


def test_one_format_is_the_stock_tasks():
    assert {"bbq"} == STOCK.OTHER_FORMAT
    [task] = [task for task in STOCK.TASKS if task.name == "bbq"]
    example = task.example(ROW)
    assert example.choices == ("The owl", "The hen", *STOCK.UNKNOWN)
    assert example.targets == ("Not known",)
