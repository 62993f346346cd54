"""Where labels come from: the user's files by content, published ones by their pin."""

import os
from dataclasses import replace

import pytest

from cg_pipeline.label_specs import HubLabels, LabelColumns, Labelling, NeuronpediaExport
from cg_pipeline.sources.label_origins import bring_labels, day_of, label_origins
from tests.labels.cases import SAE

EXPORT = NeuronpediaExport(model_id="m", source_id="s", as_of="2026-05-31")
HUB = HubLabels(repo="a/b", revision="0" * 40, files=("labels.csv",))
PUBLISHED = replace(SAE, labels=Labelling(sources=(EXPORT, HUB)))


def fingerprints(spec, data_dir) -> dict[str, str]:
    return {origin.source: origin.fingerprint for origin in label_origins(spec, data_dir)}


def folder(tmp_path):
    path = tmp_path / "labels" / "tiny"
    path.mkdir(parents=True)
    return path


def test_an_sae_without_labels(tmp_path):
    assert label_origins(SAE, tmp_path) == []


def test_own_files_come_first_by_name_then_what_the_spec_names(tmp_path):
    place = folder(tmp_path)
    for name in ("b.csv", "a.jsonl.gz", ".hidden", "README.md"):
        (place / name).write_bytes(b"x")
    (place / "folder").mkdir()
    origins = label_origins(PUBLISHED, tmp_path)
    assert [(each.source, each.kind) for each in origins] == [
        ("own:a.jsonl.gz", "own"),
        ("own:b.csv", "own"),
        ("neuronpedia:m/s", "neuronpedia"),
        ("hub:a/b", "hub"),
    ]
    assert [each.revision for each in origins] == ["", "", "2026-05-31", "0" * 40]


def test_a_file_of_another_kind_is_told(tmp_path):
    (folder(tmp_path) / "labels.xlsx").write_bytes(b"x")
    with pytest.raises(ValueError, match=r"labels.xlsx is no label file; expected names that end in .csv"):
        label_origins(SAE, tmp_path)


def test_own_files_are_known_by_content_alone(tmp_path):
    path = folder(tmp_path) / "mine.csv"
    path.write_text("concept_id,label\n0,a\n")
    before = fingerprints(SAE, tmp_path)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert fingerprints(SAE, tmp_path) == before
    assert day_of(path) == "2023-11-14"
    path.write_text("concept_id,label\n0,b\n")
    assert fingerprints(SAE, tmp_path) != before


@pytest.mark.parametrize(
    "changed",
    [
        replace(EXPORT, as_of="2026-06-01"),
        replace(EXPORT, folder="explanations-x"),
        replace(HUB, revision="1" * 40),
        replace(HUB, files=("other.csv",)),
        replace(HUB, columns=LabelColumns(label="title")),
    ],
)
def test_another_pin_is_another_origin(tmp_path, changed):
    others = replace(SAE, labels=Labelling(sources=(changed,)))
    known = set(fingerprints(PUBLISHED, tmp_path).values())
    assert not known & set(fingerprints(others, tmp_path).values())


def test_what_lets_a_person_in_is_no_part_of_the_pin(tmp_path):
    gated = replace(SAE, labels=Labelling(sources=(replace(HUB, gated="terms"),)))
    assert set(fingerprints(gated, tmp_path).items()) <= set(fingerprints(PUBLISHED, tmp_path).items())


def test_the_users_file_is_not_fetched(tmp_path):
    (folder(tmp_path) / "mine.csv").write_text("concept_id,label\n0,a\n")
    [origin] = label_origins(SAE, tmp_path)
    with pytest.raises(ValueError, match="are a file of the user's"):
        bring_labels(origin, SAE, tmp_path)


@pytest.mark.parametrize("kind", ["dangling", "folder", "pipe"])
def test_what_cannot_be_read_under_a_label_files_name_is_told(tmp_path, kind):
    path = folder(tmp_path) / "mine.csv"
    made = {
        "dangling": lambda: path.symlink_to("nowhere"),
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
    }
    made[kind]()
    with pytest.raises(ValueError, match=r"mine.csv is no file that can be read; expected labels"):
        label_origins(SAE, tmp_path)


def test_a_file_about_labels_is_none_and_one_named_alike_is(tmp_path):
    place = folder(tmp_path)
    (place / "README.md").write_text("About these labels.")
    (place / "README_labels.csv").write_text("concept_id,label\n0,dates\n")
    assert [each.source for each in label_origins(SAE, tmp_path)] == ["own:README_labels.csv"]
