"""Fetched rows are there whole, or not there."""

import pytest

from cg_pipeline.store import row_files
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.row_files import find_rows, keep_rows

PAYLOAD = b'{"q": 1}\n{"q": 2}\n'


@pytest.fixture
def layout(tmp_path) -> Layout:
    return Layout(tmp_path)


def test_what_is_kept_is_found(layout):
    kept = keep_rows(layout, "quiz", "abc", PAYLOAD, 2)
    assert find_rows(layout, "quiz", "abc") == kept
    assert (layout.data_dir / kept.path).read_bytes() == PAYLOAD
    assert kept.path == "rows/quiz/abc.jsonl"
    assert kept.n_rows == 2


def test_another_benchmark_or_fingerprint_has_none(layout):
    keep_rows(layout, "quiz", "abc", PAYLOAD, 2)
    assert find_rows(layout, "quiz", "abd") is None
    assert find_rows(layout, "other", "abc") is None


def test_a_directory_may_move(layout, tmp_path):
    kept = keep_rows(Layout(tmp_path / "one"), "quiz", "abc", PAYLOAD, 2)
    (tmp_path / "one").rename(tmp_path / "two")
    assert find_rows(Layout(tmp_path / "two"), "quiz", "abc") == kept


def test_rows_without_their_mark_do_not_count(layout, monkeypatch):
    """As if the process had died between the two writes."""

    def dies(path, payload):
        if path.suffix == ".json":
            raise KeyboardInterrupt
        whole(path, payload)

    whole = row_files.write_whole
    monkeypatch.setattr(row_files, "write_whole", dies)
    with pytest.raises(KeyboardInterrupt):
        keep_rows(layout, "quiz", "abc", PAYLOAD, 2)
    assert find_rows(layout, "quiz", "abc") is None


def test_an_old_mark_does_not_vouch_for_new_rows(layout, monkeypatch):
    keep_rows(layout, "quiz", "abc", PAYLOAD, 2)

    def dies(path, payload):
        raise KeyboardInterrupt

    monkeypatch.setattr(row_files, "write_whole", dies)
    with pytest.raises(KeyboardInterrupt):
        keep_rows(layout, "quiz", "abc", PAYLOAD * 2, 4)
    assert find_rows(layout, "quiz", "abc") is None


@pytest.mark.parametrize("damaged", [PAYLOAD[:-1], b"", PAYLOAD.replace(b"1", b"3")])
def test_changed_rows_do_not_count(layout, damaged):
    kept = keep_rows(layout, "quiz", "abc", PAYLOAD, 2)
    (layout.data_dir / kept.path).write_bytes(damaged)
    assert find_rows(layout, "quiz", "abc") is None


@pytest.mark.parametrize("mark", [b"", b"[]", b"{}", b'{"sha256": 3}'])
def test_a_damaged_mark_does_not_count(layout, mark):
    keep_rows(layout, "quiz", "abc", PAYLOAD, 2)
    (layout.rows("quiz") / "abc.complete.json").write_bytes(mark)
    assert find_rows(layout, "quiz", "abc") is None
