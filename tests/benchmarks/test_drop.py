"""Numbers, dates and spans as texts that are accepted."""

import pytest

from cg_pipeline.benchmarks.drop import from_normalised, to_item

NO_DATE = {"day": "", "month": "", "year": ""}
WHO = {"worker_id": "w", "hit_id": "h"}


def row(first: dict, *more: dict) -> dict:
    """A raw row with a first answer and what other annotators said."""
    empty = {"number": "", "date": NO_DATE, "spans": [], **WHO}
    full = [{**empty, **answer} for answer in more]
    return {
        "section_id": "s",
        "query_id": "q",
        "passage": "Ada and Bea swam in May 1950.",
        "question": "When?",
        "answer": {**empty, **first},
        "validated_answers": {name: [answer[name] for answer in full] for name in empty},
    }


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        ({"number": "3"}, "number", "3"),
        ({"number": "0"}, "number", "0"),
        ({"spans": ["Ada"]}, "span", "Ada"),
        ({"spans": ["Ada", "Bea"]}, "span", "Ada, Bea"),
        ({"date": {"day": "2", "month": "May", "year": "1950"}}, "date", "2 May 1950"),
        ({"date": {"day": "2", "month": "", "year": "1950"}}, "date", "2 1950"),
    ],
)
def test_an_answer_is_a_number_spans_or_a_date(answer: dict, kind: str, text: str):
    item = to_item(row(answer))
    assert (item.category, item.answers) == (kind, (text,))


def test_what_others_said_is_accepted_once_each():
    said = to_item(row({"number": "2"}, {"number": "2"}, {"spans": ["two swimmers"]}, {}))
    assert said.answers == ("2", "two swimmers")


@pytest.mark.parametrize(
    ("kind", "written", "text"),
    [
        ("number", "12.5", "12.5"),
        ("date", "{'day': '', 'month': 'May', 'year': '1950'}", "May 1950"),
        ("span", "['Ada', \"Bea's\"]", "Ada, Bea's"),
    ],
)
def test_normalised_answers_are_read_back_from_python(kind: str, written: str, text: str):
    fields = {"question": "When?", "context": "In May.", "category": kind, "answer": [written]}
    assert from_normalised(fields).answers == (text,)


def test_both_ways_give_one_item():
    raw = row({"date": {"day": "", "month": "May", "year": "1950"}})
    fields = {
        "question": "When?",
        "context": raw["passage"],
        "category": "date",
        "answer": ["{'day': '', 'month': 'May', 'year': '1950'}"],
    }
    assert from_normalised(fields) == to_item(raw)


def test_a_row_without_any_answer_is_refused():
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        to_item(row({}))
    assert str(error.value) == "answers are ['']; expected a number, a date or a span. Add one."
