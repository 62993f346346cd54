"""A row of the hub and its normalised form, one letter for an answer, give one item."""

from typing import Any

import pytest

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.pipeline import pose

PLAIN: dict[str, Any] = {"choices": None, "context": None, "category": None, "source_fields": {}}
SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gsm8k": (
        {"question": "2 + 2 * 600?", "answer": "2 * 600 = 1200\n#### 1,202"},
        {"question": "2 + 2 * 600?", "answer": "1,202", "source_fields": {"solution": "2 * 600 = 1200"}},
    ),
    "agieval": (
        {
            "config": "sat-en",
            "passage": "Owls hunt.",
            "question": "Who hunts?",
            "options": ["(A) Hens", "(B)Owls (A)"],
            "label": "B",
        },
        {
            "question": "Who hunts?",
            "choices": ["Hens", "Owls (A)"],
            "answer": "B",
            "context": "Owls hunt.",
            "category": "sat-en",
        },
    ),
    "logicbench_bqa": (
        {"type": "t", "axiom": "modus_tollens", "id": 3, "context": "C.", "question": "Q?", "answer": "No"},
        {
            "question": "Q?",
            "choices": ["yes", "no"],
            "answer": "B",
            "context": "C.",
            "category": "modus_tollens",
            "source_fields": {"sample_id": 3},
        },
    ),
    "logicbench_mcqa": (
        {
            "type": "t",
            "axiom": "commutation",
            "id": 3,
            "context": "C.",
            "question": "Q?",
            "choices": {"choice_2": "b", "choice_1": "a"},
            "answer": "choice_2",
        },
        {"question": "Q?", "choices": ["a", "b"], "answer": "B", "context": "C.", "category": "commutation"},
    ),
    "social_iqa": (
        {"context": "C.", "question": "Q?", "answerA": "a", "answerB": "b", "answerC": "a", "label": "2"},
        {"question": "Q?", "choices": ["a", "b", "a"], "answer": "B", "context": "C."},
    ),
    "winogrande": (
        {"sentence": "An owl saw a hen, but the _ hid.", "option1": "owl", "option2": "hen", "answer": "2"},
        {"question": "An owl saw a hen, but the _ hid.", "choices": ["owl", "hen"], "answer": "B"},
    ),
    "crows_pairs": (
        {
            "sent_more": "Owls lie.",
            "sent_less": "Hens lie.",
            "stereo_antistereo": "stereo",
            "bias_type": "age",
        },
        {
            "question": "Which of these is likelier?",
            "choices": ["Hens lie.", "Owls lie."],
            "answer": None,
            "category": "age",
            "source_fields": {
                "sent_more": "Owls lie.",
                "sent_less": "Hens lie.",
                "stereo_antistereo": "stereo",
                "more_stereotypical_choice": "B",
            },
        },
    ),
    "mmlu": (
        {"question": "Q?", "subject": "anatomy", "choices": ["a", "b", "c", "d"], "answer": 3},
        {"question": "Q?", "choices": ["a", "b", "c", "d"], "answer": "D", "category": "anatomy"},
    ),
    "arena_hard_v01": (
        {"question_id": "1", "category": "all", "cluster": "Owls", "turns": [{"content": "Draw an owl."}]},
        {"question": "Draw an owl.", "answer": None, "category": "Owls", "source_fields": {"uid": "1"}},
    ),
    "arena_hard_v2": (
        {"uid": "1", "category": "hard_prompt", "subcategory": "math", "prompt": "Count owls."},
        {"question": "Count owls.", "answer": None, "category": "math", "source_fields": {"uid": "1"}},
    ),
    "mt_bench": (
        {"prompt": ["Count.", "Again."], "prompt_id": 1, "category": "math", "reference": ["1", "2"]},
        {
            "question": "Count.",
            "answer": None,
            "category": "math",
            "source_fields": {"turns": ["Count.", "Again."], "reference": ["1", "2"]},
        },
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_hub_and_directory_give_one_item(name: str):
    (row, fields), benchmark = SAME[name], BENCHMARKS[name]
    assert benchmark.from_normalised is not None
    item = benchmark.to_item(row)
    assert benchmark.from_normalised({**PLAIN, **fields}) == item
    assert pose(benchmark, item).targets == item.answers


LETTERED = [
    "agieval", "boolq", "commonsense_qa", "hellaswag", "logicbench_bqa", "logicbench_mcqa", "mmlu",
    "social_iqa", "strategyqa", "winogrande",
]  # fmt: skip
PLAINEST = {"question": "Is tin a metal?", "choices": ["no", "yes"], "answer": "B", "context": "Tin rusts."}


@pytest.mark.parametrize("name", LETTERED)
@pytest.mark.parametrize("answer", ["", "AB", "b", "B ", None, ["B"]])
def test_an_answer_that_is_no_letter_is_refused(name: str, answer: Any):
    """A text without a letter, or with two, has a place in the alphabet for `str.index`."""
    row = {"item_id": "x-0", **PLAIN, **(SAME[name][1] if name in SAME else PLAINEST)}
    read = BENCHMARKS[name].from_normalised
    assert read is not None
    assert read(row).answers
    with pytest.raises(ValueError, match=r"answer is .*; expected one letter"):
        read({**row, "answer": answer})
