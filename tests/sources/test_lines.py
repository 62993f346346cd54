"""A file of rows is taken apart into numbered lines, or refused in a sentence."""

import io
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.sources.lines import Line, read_bytes, read_lines

CSV = b'question,a,b,right\n"Tin, or ""ice""?",yes,no,A\r\n\nsalt?,yes,,B\n'


def parquet(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(columns).to_parquet(buffer)
    return buffer.getvalue()


def test_csv_has_texts_and_nothing_for_what_is_empty():
    assert list(read_lines("q.csv", b"\xef\xbb\xbf" + CSV)) == [
        Line(2, {"question": 'Tin, or "ice"?', "a": "yes", "b": "no", "right": "A"}),
        Line(4, {"question": "salt?", "a": "yes", "b": None, "right": "B"}),
    ]


def test_a_quoted_text_may_span_lines():
    [line] = read_lines("q.CSV", b'q,n\n"one\ntwo",3\n')
    assert line == Line(3, {"q": "one\ntwo", "n": "3"})


@pytest.mark.parametrize(
    ("payload", "sentence"),
    [
        (b"q,q\n1,2\n", "q.csv:1: column 'q' is blank or repeated; expected distinct names. Rename it."),
        (b"q, \n1,2\n", "q.csv:1: column ' ' is blank or repeated; expected distinct names. Rename it."),
        (b"q\n\xff\n", "q.csv: byte 3 is ff, not UTF-8; expected text. Save the file as UTF-8."),
        (
            b'q,a\n"one"x,2\n',
            "q.csv:2: ',' expected after '\"'; expected comma-separated values, quoted by \". Correct it.",
        ),
    ],
)
def test_no_csv(payload, sentence):
    with pytest.raises(ValueError, match="expected") as error:
        list(read_lines("q.csv", payload))
    assert str(error.value) == sentence


def test_a_ragged_line_is_a_fault_of_its_own():
    found = list(read_lines("q.csv", b"q,a\none\ntwo,2\n"))
    assert found[0] == Line(
        2,
        fault="got 1 values, ['one']; expected 2, one for each of q, a. "
        "Quote commas, or add what is missing.",
    )
    assert found[1].row == {"q": "two", "a": "2"}


def test_parquet_comes_in_plain_values():
    payload = parquet(
        q=["tin?", "ice?"],
        c=[["a", "b"], ["c", "d"]],
        n=pd.array([1, None], dtype="Int64"),
        f=[0.5, float("nan")],
    )
    assert list(read_lines("q.parquet", payload)) == [
        Line(1, {"q": "tin?", "c": ["a", "b"], "n": 1, "f": 0.5}),
        Line(2, {"q": "ice?", "c": ["c", "d"], "n": None, "f": None}),
    ]


def test_damaged_parquet():
    with pytest.raises(
        ValueError, match=r"^q\.parquet cannot be read as Parquet \(.*\); expected a whole file"
    ):
        list(read_lines("q.parquet", parquet(q=["tin?"])[:-9]))


@pytest.mark.parametrize("name", ["q.txt", "q", "q.json", "q.jsonl.gz"])
def test_an_unknown_ending(name):
    with pytest.raises(
        ValueError, match=r"ends in '.*'; expected one of \.jsonl, \.csv, \.parquet\. Convert it\.$"
    ):
        read_lines(name, b"")


@pytest.mark.parametrize("payload", [b"q\na\x00b\n", b'q\n"a\x00b"\n'])
def test_a_nul_character_is_named(payload):
    [line] = read_lines("q.csv", payload)
    assert "with a NUL character; expected text. Remove it." in line.fault


@given(st.sampled_from(["q.jsonl", "q.csv"]), st.binary(max_size=60))
def test_any_bytes_are_lines_or_a_sentence(name, payload):
    try:
        found = list(read_lines(name, payload))
    except ValueError as error:
        found = error
    if isinstance(found, ValueError):
        assert "expected" in str(found)
    else:
        assert not any(line.row and line.fault for line in found)
        numbers = [line.number for line in found]
        assert numbers == sorted(set(numbers))


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv is not a file; expected rows"):
        read_bytes(tmp_path / "nothing.csv")
