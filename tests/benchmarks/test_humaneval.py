"""A problem is a program in three parts."""

import json

import pytest

from cg_pipeline.benchmarks.humaneval import BENCHMARK
from cg_pipeline.families.humaneval import to_item
from cg_pipeline.pipeline import pose
from cg_pipeline.processes.sandbox import Limits, Sandbox
from cg_pipeline.scoring.code_tests import POLICY
from tests.scoring.cases import completion

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


@pytest.mark.parametrize(
    "reply",
    [
        "    return n / 2\n",
        "    return n / 2\n\n\ndef halve(n):\n    return n",
        "Here it is:\n\n```python\ndef halve(n: float) -> float:\n    return n / 2\n```\n\nIt halves.",
        "```python\nimport math\n\n# Half of n.\ndef halve(n):\n    return n / 2\n\nprint(halve(3))\n```",
        "# Solution\n\ndef halve(n):\n    return n / 2\n\nif __name__ == '__main__':\n    print(halve(3))\n",
    ],
)
def test_a_right_reply_of_a_base_or_chat_model_passes_after_its_stop_texts(reply: str):
    said = completion(min((reply.partition(stop)[0] for stop in BENCHMARK.stop), key=len, default=reply))
    score = POLICY.score(pose(BENCHMARK, to_item(ROW)), said, Sandbox(Limits(cpu_s=2)))
    assert (score.value, score.answer) == (1.0, "passed")
