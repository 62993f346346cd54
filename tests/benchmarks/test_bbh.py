"""The kinds of answer that the 27 tasks want."""

import pytest

from cg_pipeline.benchmarks.bbh import BENCHMARK, accepted, to_item

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
