"""Logs as other tools write them, about toy examples: shapes taken from real runs, words from here."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from cg_pipeline.records import Example

BARKS = Example(
    benchmark="toy",
    category="c",
    cluster="",
    prompt="Question: Which animal barks at night?\nAnswer:",
    choices=("cat", "dog"),
    targets=("dog",),
)
COLD = Example(
    benchmark="toy",
    category="c",
    cluster="",
    prompt="Question: Which of these is cold?\nAnswer:",
    choices=("ice", "fire", "steam"),
    targets=("ice",),
)
PENS = Example(
    benchmark="toy",
    category="c",
    cluster="",
    prompt="A pen costs 2 euros. What do three cost?",
    targets=("6",),
)
SUM = Example(benchmark="toy", category="c", cluster="", prompt="What is two plus two?", targets=("4",))


def harness_choice(
    question: str, choices: list[str], answer: int, logprobs: list[float], *, shots: str = "", **fields: Any
) -> dict[str, Any]:
    """One line of lm-evaluation-harness about a multiple-choice document."""
    prompt = f"{shots}Question: {question}\nAnswer:"
    best = logprobs.index(max(logprobs))
    return {
        "doc_id": 0,
        "doc": {"question": question, "choices": choices, "answer": answer},
        "target": str(answer),
        "arguments": {
            f"gen_args_{i}": {"arg_0": prompt, "arg_1": f" {choice}"} for i, choice in enumerate(choices)
        },
        "resps": [[[str(value), "False"]] for value in logprobs],
        "filtered_resps": [[str(value), "False"] for value in logprobs],
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "doc_hash": "0" * 64,
        "acc": float(best == answer),
        "acc_norm": 0.0,
        **fields,
    }


def harness_generation(question: str, said: str, score: Any, *, name: str = "strict", **fields: Any) -> dict:
    """One line of lm-evaluation-harness about a generated answer."""
    return {
        "doc_id": 0,
        "doc": {"question": question, "answer": "some work #### 6"},
        "target": "some work #### 6",
        "arguments": {"gen_args_0": {"arg_0": f"Q: {question}\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [[said]],
        "filtered_resps": ["6"],
        "filter": name,
        "metrics": ["exact_match"],
        "exact_match": score,
        **fields,
    }


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lighteval_row(query: str, choices: list[str], gold: int, **response: Any) -> dict[str, Any]:
    """One row of lighteval's details, as saved since 0.10."""
    return {
        "doc": {"query": query, "choices": choices, "gold_index": [gold], "original_query": None, "id": "0"},
        "model_response": {
            "input": query,
            "text": [],
            "logprobs": [],
            "unconditioned_logprobs": None,
            **response,
        },
        "metric": {"acc": 1.0},
    }


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pd.DataFrame(rows).to_parquet(path)
    return path
