"""Labels as files: the user's where they are, published ones fetched once and kept."""

from functools import partial
from pathlib import Path

import pytest

from cg_pipeline.defs.label_rows import bring_all, content_of, label_checksums, read_stored
from cg_pipeline.label_specs import NeuronpediaExport
from cg_pipeline.sources import label_origins
from cg_pipeline.sources.neuronpedia import fetch_export
from cg_pipeline.store.layout import Layout
from tests.labels.cases import SAE, sae
from tests.sources.s3_server import Bucket, serving
from tests.sources.test_neuronpedia import EXPORT, FOLDER, batch, row

PUBLISHED = sae(sources=(EXPORT,))
FILES = {
    f"{FOLDER}/batch-0.jsonl.gz": batch(row(0), row(1, "cats", createdAt="2025-02-03T04:05:06.000Z")),
    f"{FOLDER}/batch-1.jsonl.gz": batch(row(2, ""), row(3, "rain")),
}


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch):
    made = Bucket(FILES)
    with serving(made) as address:
        monkeypatch.setattr(label_origins, "fetch_export", partial(fetch_export, bucket=address))
        yield made


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


def own_file(layout: Layout) -> Path:
    path = layout.data_dir / "labels" / "tiny" / "mine.csv"
    path.parent.mkdir(parents=True)
    path.write_text("concept_id,label,date\n3,wind,2026-01-02\n2,,\n")
    return path


def test_without_sources_there_is_nothing(layout: Layout):
    assert bring_all(SAE, layout) == []
    assert content_of(SAE, layout) == {}


def test_a_published_source_is_fetched_once_dated_counted_and_hashed(layout: Layout, bucket: Bucket):
    assert content_of(PUBLISHED, layout) is None
    [stored] = bring_all(PUBLISHED, layout)
    n_asked = len(bucket.asked)
    assert (stored.source, stored.kind) == (EXPORT.source, "neuronpedia")
    assert (stored.n_rows, stored.n_labels, stored.n_concepts) == (4, 3, 3)
    assert stored.dated == "2026-02-02"  # of the files, later than that of the one dated label
    assert stored.revision == "2026-05-31"
    assert content_of(PUBLISHED, layout) == {EXPORT.source: stored.sha256}
    assert bring_all(PUBLISHED, layout) == [stored]
    assert len(bucket.asked) == n_asked
    [(_, labels)] = read_stored(PUBLISHED, [stored], layout)
    assert [(each.concept_id, each.label, each.made) for each in labels] == [
        (0, "dates", "2026-02-02"),
        (1, "cats", "2025-02-03"),
        (3, "rain", "2026-02-02"),
    ]


def test_another_day_fetches_anew_and_finds_what_was_added(layout: Layout, bucket: Bucket):
    """Fault F28: explanations added later are absent from a copy that is kept."""
    [before] = bring_all(PUBLISHED, layout)
    bucket.files = {**FILES, f"{FOLDER}/batch-2.jsonl.gz": batch(row(2, "snow"))}
    assert bring_all(PUBLISHED, layout) == [before]
    later = sae(sources=(NeuronpediaExport(**{**vars(EXPORT), "as_of": "2026-06-30"}),))
    assert content_of(later, layout) is None
    [after] = bring_all(later, layout)
    assert (before.n_concepts, after.n_concepts) == (3, 4)


def test_the_users_file_comes_first_and_stays_where_it_is(layout: Layout, bucket: Bucket):
    path = own_file(layout)
    own, _ = bring_all(PUBLISHED, layout)
    assert (own.source, own.path, own.dated) == ("own:mine.csv", "labels/tiny/mine.csv", "2026-01-02")
    assert (own.n_rows, own.n_labels) == (2, 1)
    assert label_checksums([own], layout) == {own.path: own.sha256}
    path.unlink()
    assert label_checksums([own], layout) == {}
    with pytest.raises(
        FileNotFoundError, match=r"mine.csv is missing; expected the labels 'own:mine.csv' of"
    ):
        read_stored(SAE, [own], layout)


def test_a_file_that_was_edited_is_told(layout: Layout):
    path = own_file(layout)
    [own] = bring_all(SAE, layout)
    path.write_text("concept_id,label\n3,storm\n")
    with pytest.raises(ValueError, match=r"has SHA-256 .*; expected .*as when label_files of 'tiny' was mat"):
        read_stored(SAE, [own], layout)


def test_a_kept_file_that_was_damaged_is_fetched_again(layout: Layout, bucket: Bucket):
    [stored] = bring_all(PUBLISHED, layout)
    (layout.data_dir / stored.path).write_bytes(b"")
    assert content_of(PUBLISHED, layout) is None
    assert bring_all(PUBLISHED, layout) == [stored]
    assert (layout.data_dir / stored.path).stat().st_size > 0
