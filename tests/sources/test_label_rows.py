"""Label files as people write them: what is read, and what is refused with its line."""

import gzip
import json
from typing import Any

import pandas as pd
import pytest

from cg_pipeline.label_specs import LabelColumns
from cg_pipeline.sources.label_files import is_label_file
from cg_pipeline.sources.label_rows import Fetched, read_labels, write_labels
from tests.labels.cases import SAE, sae


def read(name: str, content: str | bytes, **how: Any):
    return read_labels(name, content.encode() if isinstance(content, str) else content, SAE, **how)


def pairs(name: str, content: str | bytes, **how: Any) -> list[tuple[int, str]]:
    return [(label.concept_id, label.label) for label in read(name, content, **how).labels]


CSV = "concept_id,label,explainer,date,score,n\n0,dates,me,2026-05-31,0.8,20\n3,“cats, dogs”,,,,\n".replace(
    "“cats, dogs”", '"cats, dogs"'
)


def test_a_csv_with_all_there_can_be():
    first, second = read("mine.csv", CSV).labels
    assert (first.concept_id, first.label, first.explainer, first.made) == (0, "dates", "me", "2026-05-31")
    assert (first.scores, first.score_kinds, first.score_ns) == ((0.8,), ("score",), (20,))
    assert (second.concept_id, second.label, second.made, second.scores) == (3, "cats, dogs", "", ())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "feature_id,description\n0,dates\n2,cats\n"),
        ("a.jsonl", '{"index": "0", "description": "dates"}\n{"index": 2, "description": "cats"}\n'),
        ("a.json", '[{"latent": 0, "explanation": "dates"}, {"latent": 2, "explanation": "cats"}]'),
        ("a.json", '{"0": "dates", "2": "cats"}'),
        ("a.json", '{"0": {"label": "dates"}, "2": {"label": "cats"}}'),
        ("a.json", '["dates", null, "cats", ""]'),
    ],
)
def test_forms_of_a_file(name, content):
    assert pairs(name, content) == [(0, "dates"), (2, "cats")]
    packed = gzip.compress(content.encode())
    assert pairs(f"{name}.gz", packed) == [(0, "dates"), (2, "cats")]


def test_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({"feature": [0.0, 2.0], "label": ["dates", "cats"], "score": [0.5, None]}).to_parquet(path)
    reading = read("a.parquet", path.read_bytes())
    assert [(each.concept_id, each.label, each.scores) for each in reading.labels] == [
        (0, "dates", (0.5,)),
        (2, "cats", ()),
    ]


def test_columns_can_be_named():
    columns = LabelColumns(concept="id", label="title", score="auc", n="size", explainer="by", made="on")
    [label] = read(
        "a.csv", "id,title,auc,size,by,on\n1,dates,0.9,12,ann,2026-01-02\n", columns=columns
    ).labels
    assert (label.concept_id, label.label, label.scores, label.score_ns) == (1, "dates", (0.9,), (12,))
    assert (label.explainer, label.made) == ("ann", "2026-01-02")


def test_an_export_of_neuronpedia():
    row = {
        "modelId": "gemma-2-2b",
        "layer": "20-gemmascope-res-16k",
        "index": "3",
        "description": " negations\nin statements",
        "typeName": "oai_token-act-pair",
        "explanationModelName": "gpt-4o-mini",
        "embedding": "[0.1, 0.2]",
        "createdAt": "2024-09-01T10:00:00.000Z",
        "scores": [
            {
                "value": 0.75,
                "explanationScoreTypeName": "eleuther_fuzz",
                "explanationScoreModelName": "gpt-4o-mini",
            }
        ],
    }
    must_say = {"modelId": "gemma-2-2b", "layer": "20-gemmascope-res-16k"}
    [label] = read("batch-0.jsonl", json.dumps(row), must_say=must_say).labels
    assert label.label == "negations in statements"
    assert label.explainer == "gpt-4o-mini (oai_token-act-pair)"
    assert label.made == "2024-09-01"
    assert (label.scores, label.score_kinds) == ((0.75,), ("eleuther_fuzz by gpt-4o-mini",))
    with pytest.raises(ValueError, match=r"batch-0.jsonl:1: layer is '20-gemmascope-res-16k'; expected '19-"):
        read("batch-0.jsonl", json.dumps(row), must_say={"layer": "19-gemmascope-res-16k"})


def test_labels_that_are_missing_are_counted_and_repeated_ones_read_once():
    reading = read("a.csv", "concept_id,label\n0,dates\n0,dates\n0,months\n1,\n2,\u200b\n")
    assert [label.label for label in reading.labels] == ["dates", "months"]
    assert (reading.n_rows, reading.n_concepts) == (5, 1)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "a.csv",
            "concept_id,label\n0,a\n4,b\n",
            r"a.csv:3: concept_id is 4; expected 0 to 3, the concepts of",
        ),
        ("a.csv", "concept_id,label\n-1,a\n", r"a.csv:2: concept_id is -1; expected 0 to 3"),
        ("a.csv", "concept_id,label\n1.5,a\n", r"concept_id is '1.5'; expected the whole number"),
        ("a.csv", "concept_id,label\ntrue,a\n", r"concept_id is 'true'; expected the whole number"),
        ("a.jsonl", '{"index": true, "label": "a"}', r"index is True; expected the whole number"),
        (
            "a.csv",
            "label\na\n",
            r"a.csv:2: columns are label; expected exactly one of concept_id, concept, ind",
        ),
        (
            "a.csv",
            "index,feature_id,label\n0,0,a\n",
            r"columns index, feature_id all name a concept; expected exactly one",
        ),
        ("a.csv", "concept_id,name\n0,a\n", r"a.csv holds no label; .* label, description, explanation"),
        (
            "a.json",
            '["a", "b"]',
            r"a.json lists 2 labels without ids; expected 4, one for each concept of 'ti",
        ),
        ("a.json", '["a", "b", "c", "d", "e"]', r"lists 5 labels without ids; expected 4"),
        ("a.json", '{"labels": 3}', r"a.json holds {'labels': 3}; expected a list of rows"),
        ("a.json", "{", r"a.json is not JSON"),
        ("a.json", '{"1": "a", "1": "b"}', r"field '1' is given 2 times, as \['a', 'b'\]; expected once"),
        (
            "a.json",
            '{"1": {"label": "a", "concept_id": 2}}',
            r"under id '1' is a row of concept_id 2; ",
        ),
        (
            "a.json",
            '[{"concept_id": 1, "label": "a", "score": 1' + "0" * 400 + "}]",
            r"'score' is inf; expected a number of at most",
        ),
        ("a.jsonl", '{"index": 0, "label": 7}', r"a.jsonl:1: label is 7; expected text"),
        (
            "a.jsonl",
            '{"index": 0, "label": "a", "date": "May"}',
            r"date is 'May'; expected one such as 2026-",
        ),
        ("a.jsonl", '{"index": 0, "label": "a", "score": "high"}', r"score is 'high'; expected a number"),
        ("a.csv", "index,label,score\n0,a,nan\n", r"score is 'nan'; expected a number"),
        ("a.jsonl", '{"index": 0, "label": "a", "score": 1, "n": "x"}', r"n is 'x'; expected a count"),
        ("a.jsonl", "nonsense", r"a.jsonl:1: got 'nonsense', not JSON"),
        ("a.txt", "0 dates", r"a.txt ends in '.txt'; expected one of"),
        ("a.csv.gz", "not packed", r"a.csv.gz cannot be unpacked .*; expected a gzip file"),
    ],
)
def test_what_is_refused(name, content, sentence):
    """Fault F25: ids of another width, lists of another length, the wrong column."""
    with pytest.raises(ValueError, match=sentence):
        read(name, content)


def test_a_packed_file_that_is_cut_short():
    packed = gzip.compress(b"concept_id,label\n0,dates\n" * 50)
    with pytest.raises(ValueError, match=r"a.csv.gz is cut short"):
        read("a.csv.gz", packed[:-9])


def test_the_first_faults_are_all_told():
    rows = "".join(f"{9 + i},label\n" for i in range(20))
    with pytest.raises(ValueError, match=r"a\.csv:6") as failed:
        read("a.csv", f"concept_id,label\n{rows}")
    assert len(str(failed.value).splitlines()) == 5


def test_what_is_fetched_reads_the_same_once_written():
    reading = read("mine.csv", CSV)
    written = write_labels(Fetched(reading=reading, dated="2026-06-01"))
    again = read("kept.jsonl", written)
    assert [each.made for each in again.labels] == ["2026-05-31", "2026-06-01"]
    assert again.labels[0] == reading.labels[0]


def test_a_wider_dictionary_takes_the_same_file():
    content = b"concept_id,label\n4,b\n"
    assert read_labels("a.csv", content, sae(8)).n_concepts == 1


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("a.csv", True), ("a.jsonl.gz", True), ("a.PARQUET", True), ("a.md", False), ("a.gz", False)],
)
def test_names_of_label_files(name, is_one):
    assert is_label_file(name) is is_one
