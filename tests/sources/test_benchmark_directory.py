"""A directory of benchmark files: verified against its manifest, and refused in a sentence."""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cg_pipeline.formats import plain
from cg_pipeline.items import ChoiceRow, Item, choice_item, normalised_item
from cg_pipeline.records import StoredRows
from cg_pipeline.sources.benchmark_directory import MANIFEST, find_file
from cg_pipeline.sources.lines import read_lines
from cg_pipeline.sources.origins import origins_of, read_stored
from cg_pipeline.sources.row_checks import normalised_shape, read_rows
from cg_pipeline.specs import Benchmark, HubRows, LocalRows

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

ROW = {
    "item_id": "quiz-0",
    "question": "Is tin a metal?",
    "choices": ["no", "yes"],
    "answer": "B",
    "context": None,
    "category": None,
    "source_fields": {"level": 2},
}


def test_a_benchmark_may_read_the_rows_of_another_s_entry(tmp_path):
    folder = write(tmp_path, {"quiz": payload_of(ROW)})
    form = replace(QUIZ, name="quiz_generated", entry="quiz")
    [one], [other] = (origins_of(each, tmp_path, str(folder)) for each in (QUIZ, form))
    assert (one.kind, one.place) == ("directory", other.place)


def payload_of(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def write(folder: Path, entries: dict[str, bytes], **changes: Any) -> Path:
    """A directory with these files by entry; `changes` are made to every entry of the manifest."""
    listed = []
    for name, payload in entries.items():
        (folder / f"{name}.jsonl").write_bytes(payload)
        digest = hashlib.sha256(payload).hexdigest()
        entry = {
            "name": name,
            "file": f"{name}.jsonl",
            "sha256": digest,
            "license": "CC0-1.0",
            "commit": "abc",
        }
        listed.append({key: value for key, value in {**entry, **changes}.items() if value is not ...})
    (folder / MANIFEST).write_text(json.dumps({"benchmarks": listed}))
    return folder


def read(benchmark: Benchmark, payload: bytes):
    """What is read of a directory's file of one benchmark."""
    return read_rows(benchmark, "quiz.jsonl", read_lines("quiz.jsonl", payload), normalised_shape(benchmark))


def test_a_file_is_found_with_what_the_manifest_says(tmp_path):
    found = find_file(write(tmp_path, {"quiz": payload_of(ROW)}), "quiz")
    assert found is not None
    assert (found.path, found.licence, found.revision) == (tmp_path / "quiz.jsonl", "CC0-1.0", "abc")
    assert found.sha256 == hashlib.sha256(payload_of(ROW)).hexdigest()


def test_what_is_not_in_the_manifest_is_not_found(tmp_path):
    assert find_file(write(tmp_path, {"other": b""}), "quiz") is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"sha256": "0" * 64},
            f"{{}}/quiz.jsonl has SHA-256 {hashlib.sha256(payload_of(ROW)).hexdigest()}; "
            f"expected {'0' * 64}, as MANIFEST.json says. "
            "Restore the file, or correct the manifest if the change is meant.",
        ),
        ({"sha256": ...}, "{}/MANIFEST.json, entry 1: sha256 is None; expected text. Correct it."),
        ({"name": 3}, "{}/MANIFEST.json, entry 1: name is 3; expected text. Correct it."),
        ({"license": ["MIT"]}, "{}/MANIFEST.json, entry 1: license is ['MIT']; expected text. Correct it."),
        (
            {"file": "../quiz.jsonl"},
            "{}/MANIFEST.json, entry 'quiz': file is '../quiz.jsonl'; expected a file of the directory. "
            "Put it there.",
        ),
        (
            {"file": "gone.jsonl"},
            "{}/gone.jsonl is missing; expected the file of 'quiz' that MANIFEST.json names. Restore it, "
            "or remove the entry to take the rows from the hub.",
        ),
    ],
)
def test_a_manifest_that_does_not_hold(tmp_path, changes, sentence):
    folder = write(tmp_path, {"quiz": payload_of(ROW)}, **changes)
    with pytest.raises((ValueError, FileNotFoundError)) as error:
        find_file(folder, "quiz")
    assert str(error.value) == sentence.format(tmp_path)


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "[]", '{"benchmarks": {}}', '{"benchmarks": [3]}'])
def test_a_malformed_manifest(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(ValueError, match=r"MANIFEST\.json.*; expected .*\. Correct it\."):
        find_file(tmp_path, "quiz")


def test_no_manifest(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"MANIFEST\.json is missing; .* CG_BENCHMARKS_DIR\. Correct the"
    ):
        find_file(tmp_path / "nowhere", "quiz")


@pytest.mark.parametrize(
    ("changes", "item"),
    [
        ({}, {"choices": ("no", "yes"), "answers": ("yes",)}),
        ({"choices": None, "answer": "12"}, {"answers": ("12",)}),
        ({"choices": None, "answer": ["12", "twelve"]}, {"answers": ("12", "twelve")}),
        ({"choices": None, "answer": None}, {}),
        ({"answer": None}, {"choices": ("no", "yes")}),
        ({"context": "On tin.", "category": "metals"}, {"context": "On tin.", "category": "metals",
                                                        "choices": ("no", "yes"), "answers": ("yes",)}),
    ],
)  # fmt: skip
def test_the_normal_form(changes, item):
    assert normalised_item({**ROW, **changes}) == Item(question=ROW["question"], details={"level": 2}, **item)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"answer": "C"}, "answer is 'C'; expected a letter from A to B. Correct it."),
        ({"answer": "yes"}, "answer is 'yes'; expected a letter from A to B. Correct it."),
        ({"answer": 1}, "field 'answer.str' is 1; expected a valid string. Correct it."),
        ({"question": None}, "field 'question' is None; expected a valid string. Correct it."),
        ({"question": " "}, "prompt is ' '; expected text. Write the question."),
    ],
)
def test_a_faulty_row_names_file_line_and_field(changes, sentence):
    with pytest.raises(ValueError, match="faulty line") as error:
        read(QUIZ, payload_of(ROW, {**ROW, "question": "Other?", **changes}))
    assert f"\nquiz.jsonl:2: {sentence}" in str(error.value)


def shouting(row: Any) -> Item:
    return replace(normalised_item(row), question=row["question"].upper())


def test_a_benchmark_may_read_the_normal_form_its_own_way():
    assert (
        read(replace(QUIZ, from_normalised=shouting), payload_of(ROW)).examples[0].prompt == "IS TIN A METAL?"
    )


def test_repetitions_of_others_are_left_out_and_told():
    """Fault F37: duplicate rows weigh double, and contradictory ones make the score arbitrary."""
    torn = {**ROW, "question": "Is ice hot?"}
    found = read(QUIZ, payload_of(ROW, ROW, torn, {**torn, "answer": "A"}))
    assert [example.prompt for example in found.examples] == ["Is tin a metal?"]
    assert found.repeated == (found.examples[0].example_id,)
    assert len(set(found.contradictory)) == 2


def test_where_all_rows_contradict_each_other_nothing_is_left_to_ask():
    with pytest.raises(ValueError, match="contradict") as error:
        read(QUIZ, payload_of(ROW, {**ROW, "answer": "A"}))
    assert str(error.value) == (
        "Benchmark 'quiz' has no example left of 2 in quiz.jsonl: every question stands there with answers "
        "that contradict each other; expected one that nothing contradicts. Correct the answers, or the file."
    )


def test_the_order_of_preference(tmp_path):
    (tmp_path / "own.jsonl").write_bytes(b"{}\n")
    folder = tmp_path / "site"
    folder.mkdir()
    write(folder, {"quiz": payload_of(ROW)})
    own = replace(QUIZ, source=LocalRows(path="own.jsonl"))
    absent = replace(QUIZ, name="absent")

    def kinds(benchmark: Benchmark, directory: str) -> list[tuple[str, str]]:
        return [(each.role, each.kind) for each in origins_of(benchmark, tmp_path, directory)]

    assert kinds(own, str(folder)) == [("asked", "local")]
    assert kinds(QUIZ, str(folder)) == [("asked", "directory")]
    assert kinds(absent, str(folder)) == [("asked", "hub")]
    assert kinds(QUIZ, "") == [("asked", "hub")]


def test_worked_examples_follow_their_rows(tmp_path):
    shown = replace(QUIZ, n_shots=1, shots=replace(PIN, split="train"))
    write(tmp_path, {"quiz": payload_of(ROW)})
    assert [each.kind for each in origins_of(shown, tmp_path, "")] == ["hub", "hub"]
    assert [each.kind for each in origins_of(shown, tmp_path, str(tmp_path))] == ["directory"]
    write(tmp_path, {"quiz": payload_of(ROW), "quiz_shots": payload_of(ROW)})
    found = origins_of(shown, tmp_path, str(tmp_path))
    assert [(each.role, each.kind) for each in found] == [("asked", "directory"), ("shots", "directory")]


def listed(value: Any) -> list[Any]:
    return value["rows"]


def test_many_files_are_named_in_short(tmp_path):
    files = tuple(f"{index}.jsonl" for index in range(30))
    [origin] = origins_of(replace(QUIZ, source=replace(PIN, files=files)), tmp_path, "")
    assert "(0.jsonl, 1.jsonl, " in origin.place
    assert origin.place.count("jsonl") == 8
    assert ", 7.jsonl and 22 more), " in origin.place


def test_a_fingerprint_is_the_pin_or_the_content(tmp_path):
    def fingerprint(benchmark: Benchmark, directory: str = "") -> str:
        return origins_of(benchmark, tmp_path, directory)[0].fingerprint

    changes: list[dict[str, Any]] = [
        {},
        {"repo": "org/b"},
        {"split": "dev"},
        {"revision": "1" * 40},
        {"configs": ("a",)},
        {"files": ("a.jsonl",)},
        {"files": ("a.jsonl", "b.jsonl")},
        {"files": ("a.jsonl",), "rows_in": listed},
    ]
    pins = [replace(PIN, **change) for change in changes]
    assert len({fingerprint(replace(QUIZ, source=pin)) for pin in pins}) == len(changes)
    assert fingerprint(QUIZ) == fingerprint(replace(QUIZ, title="Other", source=replace(PIN, gated="terms")))
    one = fingerprint(QUIZ, str(write(tmp_path, {"quiz": payload_of(ROW)})))
    assert one == fingerprint(QUIZ, str(write(tmp_path, {"quiz": payload_of(ROW)}, license="MIT")))
    assert one != fingerprint(QUIZ, str(write(tmp_path, {"quiz": payload_of(ROW, ROW)})))


def test_rows_that_changed_since_are_refused():
    rows = StoredRows(
        benchmark="quiz", role="asked", origin="directory", place="/site/quiz.jsonl", fingerprint="f",
        path="rows/quiz/f.jsonl", sha256="0" * 64, n_rows=1, revision="", licence="MIT",
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"as when the rows of 'quiz' were stored\. Run again"):
        read_stored(QUIZ, rows, payload_of(ROW))


SITE = os.environ.get("CG_TEST_BENCHMARKS_DIR", "")


@pytest.mark.skipif(not SITE, reason="CG_TEST_BENCHMARKS_DIR names no directory of benchmark files")
def test_every_file_of_a_real_directory_loads():
    document = json.loads((Path(SITE) / MANIFEST).read_text("utf-8"))
    for entry in document["benchmarks"]:
        found = find_file(Path(SITE), entry["name"])
        assert found is not None
        payload = found.path.read_bytes()
        kept = read(replace(QUIZ, name=entry["name"], from_normalised=_alone), payload)
        left_out = len(kept.repeated) + len(kept.contradictory)
        assert len(kept.posed) + left_out == len(payload.splitlines())
        assert left_out <= 0.05 * len(payload.splitlines()), entry["name"]


def _alone(row: Any) -> Item:
    """With passage and choices in the question: what makes it a question of its own."""
    item = normalised_item(row)
    whole = "\n".join([item.context, item.question, *item.choices])
    return replace(item, question=whole, choices=item.choices if item.answers else ())
