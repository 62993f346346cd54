"""Rows are fetched once, kept whole, and never asked for again; what is not there yet is stale."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cg_pipeline.defs import freshness
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.rows import bring_rows, checksums, examples_of, read_benchmark, stored_rows
from cg_pipeline.formats import plain
from cg_pipeline.identity import benchmark_rows_id, examples_id
from cg_pipeline.items import ChoiceRow, choice_item
from cg_pipeline.sources import origins
from cg_pipeline.specs import Benchmark, HubRows, LocalRows, Study
from cg_pipeline.store.layout import Layout

PIN = HubRows(repo="org/quiz", split="test", revision="0" * 40)
QUIZ = Benchmark(
    name="quiz",
    title="Quiz",
    scope="Questions.",
    licence="MIT",
    source=PIN,
    row=ChoiceRow,
    to_item=choice_item,
    prompt=plain,
    response="choice",
    scoring="likelihood",
)
STUDY = Study(name="s", title="S", models=("m",), benchmarks=("quiz",))
Hub = Callable[..., bytes]


def rows_of(pin: HubRows) -> bytes:
    questions = [f"{pin.split} {index}?" for index in range(6)]
    rows = [{"category": "c", "question": text, "choices": ["a", "b"], "answer": 0} for text in questions]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[HubRows]:
    """What was asked of a hub that always answers."""
    pins: list[HubRows] = []

    def fetch(pin: HubRows, columns: frozenset[str], cache_dir: Path) -> bytes:
        assert columns == {"category", "question", "choices", "answer"}
        pins.append(pin)
        return rows_of(pin)

    monkeypatch.setattr(origins, "fetch_rows", fetch)
    return pins


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def test_rows_of_the_hub_are_fetched_once(layout, asked):
    """Fault F15: the hub answers 429 although the data are on the disk."""
    assert stored_rows(QUIZ, layout, "") is None
    first = bring_rows(QUIZ, layout, "")
    assert bring_rows(QUIZ, layout, "") == first == stored_rows(QUIZ, layout, "")
    assert asked == [PIN]
    [rows] = first
    assert (rows.origin, rows.role, rows.n_rows, rows.revision) == ("hub", "asked", 6, PIN.revision)
    assert rows.place == "org/quiz (default), test, 000000000000"
    assert checksums(first, layout) == {rows.path: rows.sha256}


def test_another_pin_is_fetched_anew_beside_the_old(layout, asked):
    moved = replace(QUIZ, source=replace(PIN, revision="1" * 40))
    bring_rows(QUIZ, layout, "")
    bring_rows(moved, layout, "")
    bring_rows(QUIZ, layout, "")
    assert [pin.revision[0] for pin in asked] == ["0", "1"]


def test_damaged_rows_are_fetched_again(layout, asked):
    [rows] = bring_rows(QUIZ, layout, "")
    (layout.data_dir / rows.path).write_bytes(b"{}")
    assert stored_rows(QUIZ, layout, "") is None
    assert bring_rows(QUIZ, layout, "") == [rows]
    assert len(asked) == 2


def test_a_fetch_that_fails_leaves_nothing(layout, monkeypatch):
    def broken(*_: Any) -> bytes:
        raise ConnectionError("only partly sent")

    monkeypatch.setattr(origins, "fetch_rows", broken)
    with pytest.raises(ConnectionError):
        bring_rows(QUIZ, layout, "")
    assert stored_rows(QUIZ, layout, "") is None
    assert not list(layout.data_dir.rglob("*.jsonl"))


def test_worked_examples_come_from_their_own_split(layout, asked):
    shown = replace(QUIZ, n_shots=2, shots=replace(PIN, split="train"))
    found = bring_rows(shown, layout, "")
    assert [(rows.role, rows.n_rows) for rows in found] == [("asked", 6), ("shots", 6)]
    examples = examples_of(shown, read_benchmark(shown, found, layout), STUDY)
    assert len(examples) == 6
    assert {example.shots for example in examples} == {("train 0?", "a", "train 1?", "a")}


def test_a_limit_draws_from_what_was_read(layout, asked):
    readings = read_benchmark(QUIZ, bring_rows(QUIZ, layout, ""), layout)
    few, many = (examples_of(QUIZ, readings, replace(STUDY, limit=n)) for n in (2, 4))
    assert len(few) == 2
    assert {example.example_id for example in few} < {example.example_id for example in many}


def test_own_files_are_read_where_they_are(layout):
    own = replace(QUIZ, source=LocalRows(path="suite/quiz.jsonl"))
    (layout.data_dir / "suite").mkdir()
    (layout.data_dir / "suite" / "quiz.jsonl").write_bytes(rows_of(PIN))
    [rows] = bring_rows(own, layout, "")
    assert (rows.origin, rows.path, rows.n_rows) == ("local", "suite/quiz.jsonl", 6)
    assert not layout.rows("quiz").exists()


def test_a_moved_data_directory_is_named_as_it_is_now(tmp_path):
    own, faulty = replace(QUIZ, source=LocalRows(path="quiz.jsonl")), b'{"category": "c"}\n'
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "quiz.jsonl").write_bytes(faulty)
    stored = bring_rows(own, Layout(old), "")
    assert stored[0].place == "quiz.jsonl"
    old.rename(new)
    with pytest.raises(ValueError, match=re.escape(f"{new / 'quiz.jsonl'}")):
        read_benchmark(own, stored, Layout(new))


def expected(layout: Layout, **changes: Any) -> Expected:
    return Expected(layout, replace(STUDY, **changes), "automatic")


def test_what_was_never_fetched_is_stale_and_asks_nothing_of_the_hub(layout, asked, monkeypatch):
    monkeypatch.setattr(freshness, "BENCHMARKS", {"quiz": QUIZ})
    before = expected(layout)
    examples, twins = before.examples("quiz"), before.near_duplicates()
    rows = before.benchmark_rows("quiz")
    assert asked == []
    stored = bring_rows(QUIZ, layout, "")
    found = examples_of(QUIZ, read_benchmark(QUIZ, stored, layout), STUDY)
    assert before.examples("quiz") == examples_id(found) != examples
    assert before.near_duplicates() != twins
    assert rows == before.benchmark_rows("quiz") == benchmark_rows_id(each.fingerprint for each in stored)


def test_a_limit_changes_the_examples_and_not_the_rows(layout, asked, monkeypatch):
    monkeypatch.setattr(freshness, "BENCHMARKS", {"quiz": QUIZ})
    bring_rows(QUIZ, layout, "")
    whole, part = expected(layout), expected(layout, limit=3)
    assert whole.benchmark_rows("quiz") == part.benchmark_rows("quiz")
    assert whole.examples("quiz") != part.examples("quiz")
