import math
from pathlib import Path

import pytest

from cg_pipeline.sources.lenient_lines import objects_of


def test_objects_come_with_their_place(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"x": 1}\r\n\n{"x": NaN, "y": "\xff"}\n')
    [first, second] = objects_of(path)
    assert first == ("a.jsonl:1", {"x": 1})
    assert second[0] == "a.jsonl:3"
    assert math.isnan(second[1]["x"])
    assert second[1]["y"] == "\ufffd"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "a.jsonl:1 is b'{', which is not JSON; expected one object per line. Is the file whole?"),
        (
            b"[" * 100_000,
            f"a.jsonl:1 is b'{'[' * 26}...{'[' * 28}', which is not JSON; expected one object per line. "
            "Is the file whole?",
        ),
        (b'{"x": 1}\n3', "a.jsonl:2 is 3; expected a JSON object per line."),
    ],
)
def test_other_lines_are_refused(tmp_path: Path, content, words):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.jsonl:") as caught:
        list(objects_of(tmp_path / "a.jsonl"))
    assert str(caught.value) == words


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="is not a file; expected JSON lines"):
        list(objects_of(tmp_path / "a.jsonl"))
