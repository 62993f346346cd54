"""A line is a plain object or a sentence that says what is wrong with it."""

import json
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cg_pipeline.sources.json_lines import MAX_TEXT_CHARACTERS, parse_line, show
from tests.strategies import JSON

LARGEST = f"{2**63 - 1:,}"
WANTED_NUMBER = f"; expected a number of at most {LARGEST} in size. Correct it."


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"", "got '', not JSON at column 1 (Expecting value); expected one object per line. Correct it."),
        (
            b"{'q': 1}",
            "got \"{'q': 1}\", not JSON at column 2 (Expecting property name enclosed in double quotes); "
            "expected one object per line. Correct it.",
        ),
        (
            b'{"q": "a\tb"}',
            'got \'{"q": "a\\tb"}\', not JSON at column 9 (Invalid control character at); '
            "expected one object per line. Correct it.",
        ),
        (b"[1, 2]", "got [1, 2]; expected a JSON object with the benchmark's fields. Correct it."),
        (b'"text"', "got 'text'; expected a JSON object with the benchmark's fields. Correct it."),
        (b"null", "got None; expected a JSON object with the benchmark's fields. Correct it."),
        (b"NaN", "got nan; expected a JSON object with the benchmark's fields. Correct it."),
        (
            b'{"a": 1, "b": 2, "a": "x"}',
            "field 'a' is given 2 times, as [1, 'x']; expected once. Remove the others.",
        ),
        (
            b'{"a": {"b": 1, "b": 1}}',
            "field 'b' is given 2 times, as [1, 1]; expected once. Remove the others.",
        ),
        (b'{"a": NaN}', f"field 'a' is nan{WANTED_NUMBER}"),
        (b'{"a": -Infinity}', f"field 'a' is -inf{WANTED_NUMBER}"),
        (b'{"a": 1e400}', f"field 'a' is inf{WANTED_NUMBER}"),
        (b'{"a": %s}' % (b"9" * 400), f"field 'a' is inf{WANTED_NUMBER}"),
        (b'{"a": -%s}' % (b"9" * 5000), f"field 'a' is -inf{WANTED_NUMBER}"),
        (b'{"a": 9223372036854775808}', f"field 'a' is 9223372036854775808{WANTED_NUMBER}"),
        (b'{"a": [0, [1, {"b": NaN}]]}', f"field 'a' is nan{WANTED_NUMBER}"),
        (b'{"a": "x\\u0000y"}', "field 'a' is 'x\\x00y' with a NUL character; expected text. Remove it."),
        (
            b'{"a": ["ok", "\\ud83d"]}',
            "field 'a' is '\\ud83d' with half of a surrogate pair; expected text. Remove it.",
        ),
        (
            b'{"a": {"\\udc00": 1}}',
            "field 'a' is '\\udc00' with half of a surrogate pair; expected text. Remove it.",
        ),
        (b'{"a": 1}\x00', "character 9 is a NUL byte; expected text. Remove it."),
        (b'{"a": "\xff"}', "byte 8 is ff, not UTF-8; expected text. Save the file as UTF-8."),
        (b'{"a": "\xed\xa0\xbd"}', "byte 8 is ed, not UTF-8; expected text. Save the file as UTF-8."),
        (b'{"a": "\xe2\x82"}', "byte 8 is e2 82, not UTF-8; expected text. Save the file as UTF-8."),
        (b"\xff\xfe{\x00}\x00", "byte 1 is ff, not UTF-8; expected text. Save the file as UTF-8."),
        (
            b'{"a": %s1%s}' % (b"[" * 12, b"]" * 12),
            "field 'a' is nested more than 8 levels deep; expected less. Flatten it.",
        ),
    ],
    ids=lambda value: value[:30] if isinstance(value, bytes) else None,
)
def test_faulty_line(line, sentence):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        parse_line(line)
    assert str(error.value) == sentence


def test_a_megabyte_of_text():
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        parse_line(b'{"question": "%s"}' % (b"x" * 1_000_000))
    assert str(error.value) == (
        f"field 'question' is '{'x' * 27}...{'x' * 28}' with 1,000,000 characters; "
        "expected at most 100,000. Shorten it."
    )


@pytest.mark.parametrize(
    "line", [b"[" * 500_000, b'{"a":' * 100_000, b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"]
)
def test_nesting_without_end(line):
    with pytest.raises(ValueError, match=r"nested (too|more than 8 levels) deep.* Flatten it\.") as error:
        parse_line(line)
    assert len(str(error.value)) < 300


def test_a_field_name_of_a_megabyte_is_shortened():
    name = "n" * 1_000_000
    with pytest.raises(ValueError, match="is given 2 times") as error:
        parse_line(f'{{"{name}": 1, "{name}": 2}}'.encode())
    assert len(str(error.value)) < 300


def test_many_repeated_fields_take_no_time():
    pairs = ", ".join(f'"f{i}": 1' for i in range(50_000))
    with pytest.raises(ValueError, match="field 'f0' is given 2 times"):
        parse_line(f'{{{pairs}, "f0": 2}}'.encode())


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"a": "é – 日本 \U0001f600 \u2028 \x7f"},
        {"a": "x" * MAX_TEXT_CHARACTERS},
        {"a": 2**63 - 1, "b": -(2**63) + 1, "c": -0.5, "d": None, "e": True},
        {"a": [["deep", {"er": [1]}]]},
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_good_line(row, ascii_only):
    assert parse_line(json.dumps(row, ensure_ascii=ascii_only).encode()) == row


@given(
    st.binary(max_size=40) | JSON.map(lambda value: json.dumps({"a": value}).encode("utf-8", "surrogatepass"))
)
@example(b'{"a": "\\ud800\\udc00"}')
@example(b"-")
def test_any_bytes_are_an_object_or_a_readable_sentence(line):
    try:
        found = parse_line(line)
    except ValueError as error:
        found = error
    if isinstance(found, dict):
        assert json.loads(json.dumps(found, allow_nan=False, ensure_ascii=False).encode()) == found
    else:
        assert type(found) is ValueError
        assert str(found).isprintable()
        assert str(found).endswith(".")
        assert len(str(found)) < 600


def test_show_is_short_and_printable():
    deep: object = "x"
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    for value in ("x" * 10**6, list(range(10**5)), deep, {"a": {"b": {"c": {"d": 1}}}}, "\n\x1b[0m\ud800"):
        assert len(show(value)) < 200
        assert show(value).isprintable()
