"""The kinds of answer that the 27 tasks want."""

from typing import Any

import pytest

from cg_pipeline.benchmarks.bbh import BENCHMARK, accepted, kind_of, to_item
from cg_pipeline.inference.stop_texts import cut_before
from cg_pipeline.scoring import POLICIES
from tests.scoring.cases import completion, example

ASKED = "Which is a fruit?\nOptions:\n(A) a pear\n(B) ten (10) trees \n(C) (A) or (B)"


@pytest.mark.parametrize(
    ("question", "target", "answers"),
    [
        (ASKED, "(A)", ("(A)", "A", "(A) a pear", "a pear")),
        (ASKED, "(B)", ("(B)", "B", "(B) ten (10) trees", "ten (10) trees")),
        (ASKED, "(C)", ("(C)", "C", "(C) (A) or (B)", "(A) or (B)")),
        ("Go back?\nOptions:\n- Yes\n- No", "No", ("No",)),
        ("not ( True ) is", "False", ("False",)),
        ("Valid?\nOptions:\n- valid \n- invalid", "invalid", ("invalid",)),
        ("How many pears are (A) here?", "7", ("7",)),
        ("Close: [ (", ") ]", (") ]",)),
        ("Close them. Input: [ (", ") ]", (") ]", "[ ( ) ]")),
        ("Ruin the name 'sand'", "hand", ("hand",)),
    ],
)
def test_a_letter_is_accepted_with_its_option(question: str, target: str, answers: tuple[str, ...]):
    assert accepted(question, target) == answers


def test_the_task_is_the_category_and_blanks_around_a_target_go():
    item = to_item({"config": "formal_fallacies", "input": "Valid?", "target": "valid "})
    assert (item.category, item.answers) == ("formal_fallacies", ("valid",))


def test_options_stay_part_of_the_question():
    item = to_item({"config": "t", "input": ASKED, "target": "(A)"})
    assert BENCHMARK.prompt(item).text == f"Q: {ASKED}\nA:"
    assert item.choices == ()


@pytest.mark.parametrize(
    ("question", "target", "details"),
    [
        (ASKED, "(A)", {"kind": "option", "options": ["a pear", "ten (10) trees", "(A) or (B)"]}),
        ("Go back?\nOptions:\n- Yes\n- No", "No", {"kind": "yes_no"}),
        ("not ( True ) is", "False", {"kind": "word", "words": ["True", "False"]}),
        ("Valid?", "invalid", {"kind": "word", "words": ["valid", "invalid"]}),
        ("How many?", "7", {"kind": "number"}),
        ("(1 - 8) =", "-7", {"kind": "number"}),
        ("Close. Input: [ (", ") ]", {"kind": "brackets"}),
        ("Sort. List: pear fig", "fig pear", {"kind": "order", "items": ["fig", "pear"]}),
        ("Ruin the name 'sand'", "hand", {"kind": "text"}),
    ],
)
def test_each_kind_of_answer_is_told_to_its_scoring(question: str, target: str, details: dict[str, Any]):
    assert kind_of(question, target) == details


@pytest.mark.parametrize(
    "text",
    [
        "Let's think step by step.\n\nIt rains.\n\nSo the answer is (B).",
        "The answer is (B), because pears are no trees.",
        "(B) ten (10) trees is the correct answer.",
    ],
)
def test_a_reasoned_answer_is_heard_to_its_end(text: str):
    item = to_item({"config": "t", "input": ASKED, "target": "(B)"})
    asked = example(*item.answers, details=item.details)
    said = cut_before(f"{text}\n\nQ: And which is none?\nA: (C)", BENCHMARK.stop)
    assert POLICIES[BENCHMARK.scoring].score(asked, completion(said)).value == 1.0
