"""Every faulty line of a file is named, with what was found and what to do; other files are not affected."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cg_pipeline.formats import plain
from cg_pipeline.items import ChoiceRow, Item, choice_item
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.specs import Benchmark, LocalRows

QUIZ = Benchmark(
    name="quiz",
    title="Quiz",
    scope="Questions.",
    licence="Apache-2.0",
    source=LocalRows(path="quiz.jsonl"),
    row=ChoiceRow,
    to_item=choice_item,
    prompt=plain,
    response="choice",
    scoring="likelihood",
)

GOOD = {"category": "sums", "question": "2 + 2?", "choices": ["3", "4"], "answer": 1}
Write = Callable[..., Path]


def line(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes quiz.jsonl from lines or bytes and returns its folder."""

    def write(*lines: str, raw: bytes | None = None, name: str = "quiz.jsonl") -> Path:
        (tmp_path / name).write_bytes(raw if raw is not None else "\n".join(lines).encode())
        return tmp_path

    return write


def complaint(folder: Path, benchmark: Benchmark = QUIZ) -> str:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        read_examples(benchmark, folder)
    return str(error.value).replace(str(folder) + "/", "")


def test_examples_come_in_the_order_of_the_file(write):
    folder = write(line(question="b?"), line(question="a?"), line(question="c?", answer=0))
    examples = read_examples(QUIZ, folder)
    assert [example.prompt for example in examples] == ["b?", "a?", "c?"]
    assert [example.targets for example in examples] == [("4",), ("4",), ("3",)]


FIELDS = "category, question, choices, answer"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            json.dumps({key: value for key, value in GOOD.items() if key != "answer"}),
            f"field 'answer' is missing; expected all of {FIELDS}. Add it.",
        ),
        (line(answer="1"), "field 'answer' is '1'; expected a valid integer. Correct it."),
        (line(answer=1.0), "field 'answer' is 1.0; expected a valid integer. Correct it."),
        (line(answer=True), "field 'answer' is True; expected a valid integer. Correct it."),
        (line(answer=None), "field 'answer' is None; expected a valid integer. Correct it."),
        (line(question=7), "field 'question' is 7; expected a valid string. Correct it."),
        (line(choices="3"), "field 'choices' is '3'; expected a valid list. Correct it."),
        (line(choices=["3", 4]), "field 'choices.1' is 4; expected a valid string. Correct it."),
        (
            line(colour="red"),
            f"field 'colour', with 'red', is unknown; expected only {FIELDS}. "
            "Remove it, or correct its name.",
        ),
        (line(answer=2), "answer is 2; expected an index from 0 to 1. Correct it."),
        (line(answer=-1), "answer is -1; expected an index from 0 to 1. Correct it."),
        (line(choices=[]), "choices are []; expected two or more texts. Add them."),
        (line(choices=["4"], answer=0), "choices are ('4',); expected two different ones or more. Add one."),
        (line(choices=["4", "4"]), "choices are ('4', '4'); expected two different ones or more. Add one."),
        (line(question=" "), "prompt is ' '; expected text. Write the question."),
        (line(category=""), "category is ''; expected a name. Write what it is about."),
        ("[1]", "got [1]; expected a JSON object with the benchmark's fields. Correct it."),
        (
            line()[:-1],
            'got \'{"category": "sums", "quest...es": ["3", "4"], "answer": 1\', not JSON at column 78 '
            "(Expecting ',' delimiter); expected one object per line. Correct it.",
        ),
        (
            line(answer=10**400),
            "field 'answer' is inf; expected a number of at most 9,223,372,036,854,775,807 in size. "
            "Correct it.",
        ),
    ],
)
def test_a_faulty_line(write, text, sentence):
    folder = write(line(question="good?"), text)
    assert complaint(folder) == f"Benchmark 'quiz' has 1 faulty line:\nquiz.jsonl:2: {sentence}"


def test_the_whole_path_is_named(write):
    folder = write("{}")
    with pytest.raises(ValueError, match="faulty line") as error:
        read_examples(QUIZ, folder)
    assert f"\n{folder / 'quiz.jsonl'}:1: field 'category' is missing" in str(error.value)


def test_questions_that_differ_in_indentation_or_a_joined_letter_are_two(write):
    program, other = "for x in y:\n    a()\nb()", "for x in y:\n    a()\n    b()"
    joined, apart = "\u0646\u0645\u06cc\u200c\u062e", "\u0646\u0645\u06cc\u062e"
    folder = write(*(line(question=text) for text in (program, other, joined, apart)))
    assert len(read_examples(QUIZ, folder)) == 4


@pytest.mark.parametrize(
    "again",
    ["Qui\u0301 est la\u0300 ?", "Quí  est là\u00a0? ", "Quí\u200b est là ?", "Qui\u200b\u0301 est là ?"],
)
def test_a_question_that_looks_the_same_is_the_same(write, again: str):
    folder = write(line(question="Quí est là ?"), line(question=again))
    assert "repeats line 1; expected each question once" in complaint(folder)


def test_faults_of_one_line_hide_neither_each_other_nor_the_next(write):
    folder = write(line(question=1, answer="x"), "", line(), "nonsense", line(), line(answer=5))
    assert complaint(folder).splitlines() == [
        "Benchmark 'quiz' has 4 faulty lines:",
        "quiz.jsonl:1: field 'question' is 1; expected a valid string. Correct it.",
        "quiz.jsonl:1: field 'answer' is 'x'; expected a valid integer. Correct it.",
        "quiz.jsonl:4: got 'nonsense', not JSON at column 1 (Expecting value); "
        "expected one object per line. Correct it.",
        "quiz.jsonl:5: example '2 + 2?', answer '4', repeats line 3; "
        "expected each question once. Remove one of the two.",
        "quiz.jsonl:6: answer is 5; expected an index from 0 to 1. Correct it.",
    ]


@pytest.mark.parametrize(
    ("again", "kind"),
    [
        (line(), "'4', repeats line 1"),
        (line(category="other"), "'4', repeats line 1"),
        (line(choices=["4", "3"], answer=0), "'4', repeats line 1"),
        (line(answer=0), "'3', contradicts (answer '4') line 1"),
        (line(choices=["4", "3"], answer=1), "'3', contradicts (answer '4') line 1"),
    ],
)
def test_a_question_stands_once(write, again, kind):
    """Fault F37: duplicate rows weigh double, and contradictory ones make the score arbitrary."""
    assert complaint(write(line(), again)) == (
        f"Benchmark 'quiz' has 1 faulty line:\nquiz.jsonl:2: example '2 + 2?', answer {kind}; "
        "expected each question once. Remove one of the two."
    )


def test_other_choices_make_another_question(write):
    assert len(read_examples(QUIZ, write(line(), line(choices=["4", "5"], answer=0)))) == 2


@pytest.mark.parametrize("content", [b"", b"\n\r\n \t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_an_empty_file(write, content):
    assert complaint(write(raw=content)) == (
        "quiz.jsonl holds no row; expected one question per row. Add rows or remove the benchmark."
    )


@pytest.mark.parametrize(
    ("place", "kind"), [("nowhere.jsonl", ""), (".", " but a folder"), ("quiz.jsonl/inner.jsonl", "")]
)
def test_a_missing_file(write, place, kind):
    folder = write(line())
    benchmark = replace(QUIZ, source=LocalRows(path=place))
    for read in (read_examples,):
        with pytest.raises(FileNotFoundError) as error:
            read(benchmark, folder)
        assert str(error.value) == (
            f"{folder / place} is not a file{kind}; expected rows (.jsonl, .csv, .parquet). "
            "Put them there or correct the benchmark's source."
        )


def test_a_faulty_file_leaves_others_alone(write):
    other = replace(QUIZ, name="other", source=LocalRows(path="other.jsonl"))
    write("garbage", line())
    folder = write(line(), name="other.jsonl")
    assert complaint(folder).startswith("Benchmark 'quiz' has 1 faulty line")
    assert [example.prompt for example in read_examples(other, folder)] == ["2 + 2?"]


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r", b"\n\n"])
def test_line_ends_may_be_mixed(write, bom, end):
    lines = [line(question=f"{i}?").encode() for i in range(4)]
    folder = write(raw=bom + lines[0] + b"\r\n" + lines[1] + b"\r" + lines[2] + b"\n" + lines[3] + end)
    assert [example.prompt for example in read_examples(QUIZ, folder)] == ["0?", "1?", "2?", "3?"]


def test_lines_are_counted_whatever_ends_them(write):
    folder = write(raw=line().encode() + b"\r\n\r\rx\r\n\n\ny")
    assert [fault.split(": ")[0] for fault in complaint(folder).splitlines()[1:]] == [
        "quiz.jsonl:4",
        "quiz.jsonl:7",
    ]


def test_separators_inside_a_text_end_no_line(write):
    question = "one\u2028two\u2029three\x85four\x0bfive\x0csix\x1c?"
    folder = write(json.dumps({**GOOD, "question": question}, ensure_ascii=True))
    assert read_examples(QUIZ, folder)[0].prompt == question
    folder = write(json.dumps({**GOOD, "question": "one\u2028two\x85?"}, ensure_ascii=False))
    assert read_examples(QUIZ, folder)[0].prompt == "one\u2028two\x85?"


def test_a_byte_order_mark_counts_at_the_start_only(write):
    folder = write(raw=line().encode() + b"\n\xef\xbb\xbf" + line(question="b?").encode())
    assert "quiz.jsonl:2: got '\\ufeff{" in complaint(folder)


def test_ten_of_very_many_faults_are_shown(write):
    folder = write(*["x"] * 2_000)
    lines = complaint(folder).splitlines()
    assert lines[0] == "Benchmark 'quiz' has 2,000 faulty lines:"
    assert len(lines) == 12
    assert lines[-1] == "… and 1,990 more."


def test_one_line_with_very_many_faults_stays_readable(write):
    folder = write(line(choices=[1] * 5_000), line(**{f"f{i}": "x" * 1000 for i in range(200)}))
    text = complaint(folder)
    assert text.splitlines()[0] == "Benchmark 'quiz' has 2 faulty lines:"
    assert text.splitlines()[-1] == "… and 5,190 more."
    assert len(text) < 3000


def test_a_long_sentence_is_cut(write):
    text = complaint(write(line(choices=["x" * 50_000, "x" * 50_000])))
    assert text.splitlines()[1].startswith("quiz.jsonl:1: choices are ('xxx")
    assert text.endswith("xxx …")
    assert len(text) < 700


def test_the_row_type_is_not_touched(write):
    before = dict(vars(ChoiceRow))
    read_examples(QUIZ, write(line()))
    assert dict(vars(ChoiceRow)) == before


class Loose(TypedDict):
    question: str
    answer: Literal["yes", "no"]
    weight: float
    note: NotRequired[str | None]


def loose_item(row: Loose) -> Item:
    return Item(category="c", question=row["question"], answers=(row["answer"],))


LOOSE = replace(QUIZ, name="loose", row=Loose, to_item=loose_item, response="generation", max_new_tokens=8)


def test_optional_fields_and_whole_numbers_for_fractions(write):
    folder = write(
        '{"question": "a?", "answer": "yes", "weight": 1}',
        '{"question": "b?", "answer": "no", "weight": 0.5, "note": null}',
    )
    assert len(read_examples(LOOSE, folder)) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '{"question": "a?", "answer": "maybe", "weight": 1}',
            "field 'answer' is 'maybe'; expected 'yes' or 'no'. Correct it.",
        ),
        (
            '{"question": "a?", "answer": "no", "weight": "1"}',
            "field 'weight' is '1'; expected a valid number. Correct it.",
        ),
        (
            '{"question": "a?", "answer": "no", "weight": 1, "note": 3}',
            "field 'note' is 3; expected a valid string. Correct it.",
        ),
    ],
)
def test_other_kinds_of_fields(write, text, sentence):
    assert complaint(write(text), LOOSE) == f"Benchmark 'loose' has 1 faulty line:\nquiz.jsonl:1: {sentence}"


def broken(row: ChoiceRow) -> Item:
    raise KeyError(row["question"])


def test_a_bug_in_the_reader_is_not_blamed_on_the_file(write):
    with pytest.raises(KeyError, match="2 \\+ 2"):
        read_examples(replace(QUIZ, to_item=broken), write(line()))


MUTATED_FIELDS = st.dictionaries(
    st.sampled_from([*GOOD, "extra"]),
    st.none() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=2), max_size=3),
    max_size=3,
)
LINES = st.binary(max_size=30) | MUTATED_FIELDS.map(lambda changes: line(**changes).encode())
FILES = st.tuples(st.sampled_from([b"\n", b"\r", b"\r\n"]), st.lists(LINES, max_size=5)).map(
    lambda parts: parts[0].join(parts[1])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILES)
def test_any_file_is_read_or_explained(write, content):
    folder = write(raw=content)
    try:
        found = read_examples(QUIZ, folder)
    except ValueError as error:
        found = error
    if isinstance(found, list):
        assert len({example.example_id for example in found}) == len(found) > 0
    else:
        assert type(found) is ValueError
        assert all(part.isprintable() for part in str(found).split("\n"))
        assert len(str(found)) < 8000
