"""Where a normalised file differs from the hub's row, the item does not."""

import pytest

from cg_pipeline.benchmarks import commonsense_qa, strategyqa, svamp, triviaqa
from cg_pipeline.benchmarks.logiqa import to_item as logiqa_item
from cg_pipeline.benchmarks.truthfulqa_mc1 import to_item as truthful_item
from cg_pipeline.benchmarks.xstest import to_item as request_item


def test_what_helps_to_answer_is_left_behind():
    row = {"qid": "q", "term": "Owl", "description": "Bird", "question": "Can owls swim?", "answer": False}
    fields = {"question": "Can owls swim?", "choices": ["yes", "no"], "answer": "B"}
    secret = {"facts": ["Owls float badly."], "term": "Owl"}
    item = strategyqa.from_normalised({**fields, "source_fields": secret})
    assert item == strategyqa.to_item({**row, "facts": "Owls float badly."})
    assert "float" not in repr(item)


def test_the_concept_is_no_part_of_a_question():
    choices = {"label": ["A", "B"], "text": ["barn", "sea"]}
    row = {"id": "1", "question": "Where do owls sleep? ", "question_concept": "owl", "choices": choices}
    fields = {"question": "Where do owls sleep?", "choices": ["barn", "sea"], "answer": "A"}
    item = commonsense_qa.from_normalised({**fields, "source_fields": {"question_concept": "owl"}})
    assert item == commonsense_qa.to_item({**row, "answerKey": "A"})


def test_an_unknown_label_is_refused():
    choices = {"label": ["A", "B"], "text": ["barn", "sea"]}
    row = {"id": "1", "question": "Where?", "question_concept": "owl", "choices": choices, "answerKey": "C"}
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        commonsense_qa.to_item(row)
    assert str(error.value) == "answer is 'C'; expected one of the labels ['A', 'B']. Correct it."


@pytest.mark.parametrize(
    ("answer", "equation", "target", "category"),
    [
        ("8.0", "( 9.0 - 1.0 )", "8", "subtraction"),
        ("2.50", "( 5.0 / 2.0 )", "2.50", "division"),
        ("1200.0", "( 1200.0 + 0.0 )", "1200", "addition"),
        ("4.0", "( ( 6.0 * 2.0 ) - 8.0 )", "4", "mixed"),
        ("-3.0", "( -1.0 * 3.0 )", "-3", "multiplication"),
    ],
)
def test_a_problem_is_filed_under_its_operation(answer: str, equation: str, target: str, category: str):
    row = {"ID": "1", "Body": "Ann has pears. ", "Question": "How many?", "Type": "?", "question_concat": ""}
    item = svamp.to_item({**row, "Equation": equation, "Answer": answer})
    fields = {"question": "Ann has pears. How many?", "answer": target}
    assert (item.answers, item.category) == ((target,), category)
    assert item == svamp.from_normalised({**fields, "source_fields": {"equation": equation}})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"Who said ""moo""?"', 'Who said "moo"?'),
        ('"Moo" or "oink"', '"Moo" or "oink"'),
        ('Who said ""?', 'Who said ""?'),
        ('"', '"'),
    ],
)
def test_only_whole_cells_of_csv_are_unquoted(written: str, meant: str):
    assert triviaqa.from_normalised({"question": written, "answer": ["cow"]}).question == meant


def test_the_answer_comes_before_its_aliases_and_blank_ones_go():
    answer = {"value": "Cow", "aliases": ["Cattle", "Cow", " ", "🐄"], "type": "", "normalized_value": "cow"}
    more = dict.fromkeys(("matched_wiki_entity_name", "normalized_matched_wiki_entity_name"), "")
    row = {"question": "Who moos?", "question_id": "1", "question_source": "", "entity_pages": {}}
    full = {**row, "search_results": {}, "answer": {**answer, **more, "normalized_aliases": []}}
    assert triviaqa.to_item(full).answers == ("Cow", "Cattle", "🐄")


def test_options_lose_their_own_letter_only():
    options = ["A. Ants rest.", "B.Bees rest.", "A. is true.", "Dogs rest."]
    item = logiqa_item({"context": "All rest.", "query": "So?", "options": options, "correct_option": 1})
    assert item.choices == ("Ants rest.", "Bees rest.", "A. is true.", "Dogs rest.")
    assert item.answers == ("Bees rest.",)


def test_the_true_answer_does_not_stand_first_because_it_is_true():
    targets = {"choices": ["Water.", "Air."], "labels": [1, 0]}
    item = truthful_item({"question": "What do fish drink?", "mc1_targets": targets, "mc2_targets": targets})
    assert (item.choices, item.answers) == (("Air.", "Water."), ("Water.",))


@pytest.mark.parametrize("labels", [[1, 1], [0, 0], [1]])
def test_one_answer_is_true(labels: list[int]):
    targets = {"choices": ["Water.", "Air."], "labels": labels}
    with pytest.raises(ValueError, match=r"expected one label each and exactly one 1\. Correct them\."):
        truthful_item({"question": "What?", "mc1_targets": targets, "mc2_targets": targets})


def test_a_contrast_shares_the_cluster_of_what_it_mirrors():
    row = {"prompt": "?", "focus": None, "note": None}
    safe = request_item({**row, "id": 3, "type": "homonyms", "label": "safe"})
    contrast = request_item({**row, "id": 28, "type": "contrast_homonyms", "label": "unsafe"})
    later = request_item({**row, "id": 53, "type": "figurative_language", "label": "safe"})
    assert safe.cluster == contrast.cluster != later.cluster
    assert (safe.answers, contrast.answers) == (("answer",), ("decline",))
