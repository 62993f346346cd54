"""Completions and examples in one line, and texts meant to break a reader."""

import json
from collections.abc import Mapping
from typing import Any

from cg_pipeline.records import Completion, Example

HUGE = 4_000

BOMBS = [
    text
    for unit in (
        "a",
        "B",
        "1",
        "9,999",
        "1 1/",
        "1.",
        "-",
        " ",
        "\n",
        "\t\n",
        "$",
        "$x",
        "\\(",
        "\\[",
        "{",
        "}",
        "\\",
        "\\boxed{",
        "\\frac{",
        "\\text{",
        "(",
        ")",
        "[",
        "*",
        "**",
        "_",
        "`",
        "```\n",
        "#",
        "####",
        "answer is ",
        "Answer: ",
        "answer",
        "not ",
        "not A ",
        "A and ",
        "B, ",
        "A. x\n",
        "B) ",
        "yes ",
        "no, ",
        "so, ",
        "<think>",
        "</think>",
        "<<",
        ">>",
        "Question: ",
        "\nQuestion: x\nAnswer: ",
        "…",
        "١",
        "½",
        "é",
        "\u202e",
        "\u200b",
        "10^",
        "1e",
        "x 10^",
        "= ",
        "the ",
        "Paris ",
        "isn't ",
        "'",
        '"',
        "Mr. ",
        ".",
        "!? ",
        "def f():\n",
        "\x00",
    )
    for repeated in [unit * (HUGE // len(unit))]
    for text in (repeated + "x", f"x\n{repeated}")
]


def example(
    *targets: str,
    choices: tuple[str, ...] = (),
    prompt: str = "What?",
    details: Mapping[str, Any] | None = None,
) -> Example:
    return Example(
        benchmark="b",
        category="c",
        cluster="",
        prompt=prompt,
        choices=choices,
        targets=targets,
        details=json.dumps(details) if details else "",
    )


def completion(text: str = "", stop: Any = "end", sample: int = 0, **fields: Any) -> Completion:
    return Completion(
        model="m",
        benchmark="b",
        example_id="x",
        sample=sample,
        text=text,
        stop=stop,
        n_prompt_tokens=3,
        n_completion_tokens=2,
        **fields,
    )


def chosen(*logprobs: float, **fields: Any) -> Completion:
    return completion(stop="choice", choice_logprobs=logprobs, **fields)
