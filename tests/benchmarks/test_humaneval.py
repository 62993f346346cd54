"""A problem is a program in three parts."""

import json

from cg_pipeline.benchmarks.humaneval import BENCHMARK, to_item
from cg_pipeline.pipeline import pose

ROW = {
    "task_id": "Sample/1",
    "entry_point": "halve",
    "prompt": 'def halve(n: float) -> float:\n    """Return n / 2."""\n',
    "canonical_solution": "    return n / 2\n",
    "test": "def check(candidate):\n    assert candidate(3) == 1.5\n",
}


def test_prompt_solution_and_tests_make_a_program_that_passes():
    example = pose(BENCHMARK, to_item(ROW))
    details = json.loads(example.details)
    program = f"{example.prompt}{example.targets[0]}\n{details['test']}\ncheck({details['entry_point']})"
    exec(program, {})


def test_the_tests_are_never_shown():
    assert pose(BENCHMARK, to_item(ROW)).prompt == ROW["prompt"]
