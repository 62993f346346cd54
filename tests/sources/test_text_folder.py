"""Every file of a folder is read, piece by piece, the same way every time, from wherever it is asked."""

import json
from pathlib import Path

import pandas as pd
import pytest

from cg_pipeline.sources.text_folder import folder_documents, folder_identity


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.txt").write_text("A first paragraph.\n\nA second one.\n", "utf-8")
    (tmp_path / "deep" / "two.jsonl").write_text(
        "".join(json.dumps({"text": f"row {n}", "n": n}) + "\n" for n in range(5)) + "\n", "utf-8"
    )
    pd.DataFrame({"text": ["cell 0", None, "cell 2"], "n": [1, 2, 3]}).to_parquet(tmp_path / "three.parquet")
    (tmp_path / "notes.md").write_text("not read", "utf-8")
    return tmp_path


def test_all_three_kinds_are_read(folder: Path) -> None:
    found = list(folder_documents(folder, "text", seed=0))
    wanted = [
        "A first paragraph.\n\nA second one.\n",
        *(f"row {n}" for n in range(5)),
        "cell 0",
        "",
        "cell 2",
    ]
    assert sorted(found) == sorted(wanted)


def test_files_are_mixed_and_a_seed_gives_one_order(folder: Path) -> None:
    first, again, other = (list(folder_documents(folder, "text", seed=seed)) for seed in (0, 0, 1))
    assert first == again != other
    rows = [place for place, text in enumerate(first) if text.startswith("row")]
    assert rows != list(range(rows[0], rows[0] + 5))


@pytest.mark.parametrize("start", range(11))
def test_it_goes_on_from_any_document(folder: Path, start: int) -> None:
    whole = list(folder_documents(folder, "text", seed=3))
    assert list(folder_documents(folder, "text", seed=3, start=start)) == whole[start:]


def test_long_plain_text_is_cut_between_paragraphs_and_nothing_is_lost(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {n}. " + "It tells of geese. " * 20 for n in range(200)]
    text = "\n\n".join(paragraphs)
    (tmp_path / "long.txt").write_text(text, "utf-8")
    found = list(folder_documents(tmp_path, "text", seed=0))
    assert "".join(found) == text
    assert len(found) > 3
    assert all(document.startswith("Paragraph") for document in found)


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    (tmp_path / "line.txt").write_text("word " * 50_000, "utf-8")
    found = list(folder_documents(tmp_path, "text", seed=0))
    assert max(map(len, found)) <= 40_000
    assert "".join(found) == "word " * 50_000


def test_an_empty_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text\na\n")
    with pytest.raises(
        FileNotFoundError, match=r"holds no \.txt or \.jsonl or \.parquet file; expected text"
    ):
        folder_documents(tmp_path, "text", seed=0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"text": "a"}\n{"text": \n', r"x\.jsonl:2 is not JSON \(.*\); expected one object a line"),
        ('{"txt": "a"}\n', r"x\.jsonl:1 holds {'txt': 'a'}; expected an object with a field 'text'"),
        ("[1]\n", r"x\.jsonl:1 holds \[1\]; expected an object with a field 'text'"),
        ('{"text": 5}\n', r"x\.jsonl:1: 'text' is 5; expected text\. Name another field"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "x.jsonl").write_text(content, "utf-8")
    with pytest.raises(ValueError, match=said):
        list(folder_documents(tmp_path, "text", seed=0))


def test_parquet_without_the_column_or_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pd.DataFrame({"body": ["a"]}).to_parquet(path)
    with pytest.raises(ValueError, match=r"x\.parquet cannot be read as Parquet with a column 'text' \("):
        list(folder_documents(tmp_path, "text", seed=0))
    assert list(folder_documents(tmp_path, "body", seed=0)) == ["a"]
    path.write_bytes(b"PAR1 or not")
    with pytest.raises(ValueError, match="Write it anew, or name the column that holds the text"):
        list(folder_documents(tmp_path, "body", seed=0))


def test_a_changed_file_is_another_text(folder: Path) -> None:
    before = folder_identity(folder)
    assert folder_identity(folder) == before
    (folder / "one.txt").write_text("Another paragraph.\n", "utf-8")
    assert folder_identity(folder) != before


def test_text_in_another_encoding_is_told(tmp_path):
    (tmp_path / "a.txt").write_text("plain", encoding="utf-16")
    with pytest.raises(ValueError, match=r"a.txt is UTF-16; expected UTF-8"):
        list(folder_documents(tmp_path, "text", seed=0))
