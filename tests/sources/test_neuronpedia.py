"""Exports of Neuronpedia from a bucket served here: all pages, all batches, only the right source's rows."""

import gzip
import json
from typing import Any

import pytest

from cg_pipeline.label_specs import NeuronpediaExport
from cg_pipeline.sources.neuronpedia import TRIES, fetch_export
from tests.labels.cases import SAE, sae
from tests.sources.s3_server import Bucket, serving

EXPORT = NeuronpediaExport(model_id="gemma-2-2b", source_id="20-gemmascope-res-16k", as_of="2026-05-31")
FOLDER = "v1/gemma-2-2b/20-gemmascope-res-16k/explanations"


def row(index: int, description: str = "dates", **fields: Any) -> dict[str, Any]:
    shared = {"modelId": "gemma-2-2b", "layer": "20-gemmascope-res-16k", "embedding": [0.1] * 256}
    return {**shared, "index": str(index), "description": description, **fields}


def batch(*rows: dict[str, Any]) -> bytes:
    return gzip.compress("".join(json.dumps(each) + "\n" for each in rows).encode())


def fetch(bucket: Bucket, export=EXPORT, spec=SAE, waits: list[float] | None = None):
    with serving(bucket) as address:
        return fetch_export(export, spec, address, sleep=(waits if waits is not None else []).append)


def test_all_batches_of_all_pages_in_their_order():
    files = {f"{FOLDER}/batch-{i}.jsonl.gz": batch(row(i % 4, f"label {i}")) for i in range(12)}
    files["v1/gemma-2-2b/20-gemmascope-res-16k/features/batch-0.jsonl.gz"] = b"not asked for"
    files["v1/gemma-2-2b/20-gemmascope-res-16k/explanations-gpt/batch-0.jsonl.gz"] = b"nor this"
    fetched = fetch(Bucket(files))
    assert [label.label for label in fetched.reading.labels] == [f"label {i}" for i in range(12)]
    assert fetched.dated == "2026-09-02"  # the latest


def test_a_folder_of_another_explainer():
    folder = "explanations-gpt-4o-mini"
    export = NeuronpediaExport(model_id="m", source_id="s", as_of="2026-05-31", folder=folder)
    assert export.source == f"neuronpedia:m/s/{folder}"
    files = {f"v1/m/s/{folder}/batch-0.jsonl.gz": batch(row(1, modelId="m", layer="s"))}
    assert fetch(Bucket(files), export).reading.n_concepts == 1


def test_a_server_that_fails_for_a_while_is_asked_again():
    waits: list[float] = []
    bucket = Bucket({f"{FOLDER}/batch-0.jsonl.gz": batch(row(1))}, failures=2)
    assert fetch(bucket, waits=waits).reading.n_concepts == 1
    assert waits == [2.0, 4.0]


def test_a_server_that_keeps_failing_is_told_with_the_remedy():
    with pytest.raises(ConnectionError, match=r"HTTP 503, after 4 tries.* put files into data/labels"):
        fetch(Bucket({}, failures=TRIES))


def test_a_server_that_is_not_there():
    with serving(Bucket({})) as address:
        pass
    with pytest.raises(ConnectionError, match=r"Neuronpedia cannot be reached"):
        fetch_export(EXPORT, SAE, address, sleep=lambda seconds: None)


def test_no_such_export():
    with pytest.raises(
        LookupError, match=rf"no export at {FOLDER}/; .* correct model_id, source_id or folder"
    ):
        fetch(Bucket({"v1/gemma-2-2b/other/explanations/batch-0.jsonl.gz": b""}))
    with pytest.raises(LookupError, match="answers HTTP 403"):
        fetch(Bucket({}, failures=1, status=403))


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([row(1, layer="19-gemmascope-res-16k")], r"layer is '19-gemmascope-res-16k'; expected '20-gemma"),
        ([row(1, modelId="gemma-2-2b-it")], r"modelId is 'gemma-2-2b-it'; expected 'gemma-2-2b'"),
        ([row(4)], r"index is 4; expected 0 to 3, the concepts of 'tiny'"),
        ([row(1, description="")], r"holds no label"),
    ],
)
def test_rows_of_another_sae_are_refused(rows, sentence):
    """Fault F25: another layer, model or width."""
    with pytest.raises(ValueError, match=sentence):
        fetch(Bucket({f"{FOLDER}/batch-0.jsonl.gz": batch(*rows)}))


def test_concepts_without_an_explanation_are_missing():
    files = {f"{FOLDER}/batch-0.jsonl.gz": batch(row(0), row(2, description=" "))}
    reading = fetch(Bucket(files), spec=sae(8)).reading
    assert (reading.n_rows, reading.n_concepts) == (2, 1)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no gzip", "cannot be unpacked"),
        (gzip.compress(b"no json\n"), r"batch-0.jsonl.gz:1 is b'no json'"),
        (gzip.compress(b"[1]\n"), r"batch-0.jsonl.gz:1 is b'\[1\]'"),
    ],
    ids=["unpacked", "not JSON", "not an object"],  # an archive holds the time it was made
)
def test_a_damaged_batch_is_named(content, sentence):
    with pytest.raises(ValueError, match=sentence):
        fetch(Bucket({f"{FOLDER}/batch-0.jsonl.gz": content}))
