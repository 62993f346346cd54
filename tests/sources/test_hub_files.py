"""How the content of one file falls into rows."""

import pytest

from cg_pipeline.sources.hub_files import file_name, rows_of_file
from cg_pipeline.specs import HubRows


def listed(value) -> list:
    return value["rows"]


PIN = HubRows(repo="org/quiz", split="test", revision="0" * 40)
NESTED = HubRows(repo="org/quiz", split="test", revision="0" * 40, rows_in=listed)


@pytest.mark.parametrize(
    ("pin", "file", "payload", "rows"),
    [
        (PIN, "a.jsonl", b'{"q": 1}\r\n\n{"q": 2}', [{"q": 1}, {"q": 2}]),
        (PIN, "a.jsonl", '{"q": "a\u2028b"}\n'.encode(), [{"q": "a\u2028b"}]),
        (PIN, "a.json", b'{\n "q": 1\n}\n', [{"q": 1}]),
        (NESTED, "a.json", b'{"rows": [{"q": 1}, {"q": 2}]}', [{"q": 1}, {"q": 2}]),
        (
            NESTED,
            "a.jsonl",
            b'{"rows": [{"q": 1}]}\n{"rows": []}\n{"rows": [{"q": 2}]}',
            [{"q": 1}, {"q": 2}],
        ),
    ],
)
def test_rows_in_order(pin, file, payload, rows) -> None:
    assert list(rows_of_file(pin, file, payload)) == rows


@pytest.mark.parametrize(
    ("pin", "payload", "said"),
    [
        (PIN, b"\xff", "file 'd/a.json': line 1 starts a value that is not JSON ("),
        (PIN, b"[1]", r"file 'd/a.json' holds \[1\] as a row; expected an object. Correct rows_in."),
        (
            NESTED,
            b"[1]",
            r"file 'd/a.json' holds \[1\], which is not what its benchmark's rows_in reads \(Type",
        ),
        (NESTED, b'{"rows": [3]}', "file 'd/a.json' holds 3 as a row; expected an object. Correct rows_in."),
    ],
)
def test_what_is_no_row_is_named(pin, payload, said) -> None:
    with pytest.raises(ValueError, match=f"Data set 'org/quiz', {said}".replace("JSON (", r"JSON \(")):
        list(rows_of_file(pin, "d/a.json", payload))


def test_what_a_row_is_told_of_its_file() -> None:
    assert file_name("data/v1.1/sat-math.jsonl") == "sat-math"
