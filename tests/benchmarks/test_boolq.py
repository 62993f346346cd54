"""Yes/no questions with and without their question mark."""

from cg_pipeline.benchmarks.boolq import BENCHMARK, from_normalised, to_item

ROW = {"question": "is cork light", "answer": False, "passage": "Cork is a bark."}
FIELDS = {"question": "is cork light?", "choices": ["no", "yes"], "answer": "A", "context": "Cork is a bark."}


def test_the_prompt_adds_one_question_mark():
    prompt = BENCHMARK.prompt(to_item(ROW)).text
    assert prompt == "Cork is a bark.\nQuestion: is cork light?\nAnswer:"
    assert BENCHMARK.prompt(from_normalised(FIELDS)).text == prompt


def test_choices_stand_in_one_order_wherever_rows_come_from():
    turned = {**FIELDS, "choices": ["yes", "no"], "answer": "B"}
    assert to_item(ROW) == from_normalised(FIELDS) == from_normalised(turned)
    assert to_item(ROW).choices == ("no", "yes")
    assert to_item({**ROW, "answer": True}).answers == ("yes",)


def test_questions_about_one_passage_share_a_cluster():
    other = to_item({**ROW, "question": "is cork heavy"})
    assert other.cluster == to_item(ROW).cluster != to_item({**ROW, "passage": "Tin."}).cluster
