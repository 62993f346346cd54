"""An SAE is its weights: on disk by their bytes, of the hub by what the cache says was fetched."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from cg_pipeline.saes import SAES
from cg_pipeline.sources.sae_files import SETTINGS, WEIGHTS, is_fetched, weights_hash
from cg_pipeline.specs import LocalWeights, SaeDirectory, SaeRelease

OF_THE_HUB = SAES["gemma_2_2b_l20_16k"]
ON_DISK = replace(SAES["smollm2_l12"], weights=SaeDirectory(path="sae"))
CONTENT = "0123456789abcdef" * 4


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def fetch(cache: Path, commit: str, content: str) -> None:
    """What the hub's client leaves after a download."""
    assert isinstance(OF_THE_HUB.weights, SaeRelease)
    owner, repository, path = OF_THE_HUB.weights.file.split("/", 2)
    here = cache / f"models--{owner}--{repository}"
    link = here / "snapshots" / commit / path
    for directory in (here / "blobs", here / "refs", link.parent):
        directory.mkdir(parents=True, exist_ok=True)
    (here / "blobs" / content).write_text("weights")
    link.symlink_to(os.path.relpath(here / "blobs" / content, link.parent))
    (here / "refs" / "main").write_text(commit)


def put(directory: Path, weights: bytes = b"weights", settings: bytes = b"{}") -> None:
    directory.mkdir(exist_ok=True)
    (directory / WEIGHTS).write_bytes(weights)
    (directory / SETTINGS).write_bytes(settings)


def test_on_disk_it_is_the_bytes_of_both_files(tmp_path: Path):
    put(tmp_path / "sae")
    assert weights_hash(ON_DISK, tmp_path, tmp_path) == hashlib.sha256(b"weights{}").hexdigest()
    put(tmp_path / "sae", b"others!")
    assert weights_hash(ON_DISK, tmp_path, tmp_path) == hashlib.sha256(b"others!{}").hexdigest()
    assert is_fetched(ON_DISK)


@pytest.mark.parametrize("name", [WEIGHTS, SETTINGS])
def test_missing_files_are_one_sentence(tmp_path: Path, name: str):
    put(tmp_path / "sae")
    (tmp_path / "sae" / name).unlink()
    with pytest.raises(
        FileNotFoundError, match=f"{name} is missing; expected the files of SAE 'smollm2_l12'"
    ):
        weights_hash(ON_DISK, tmp_path, tmp_path)


def test_of_the_hub_it_is_the_content_that_was_fetched(hub_cache: Path, tmp_path: Path):
    assert (is_fetched(OF_THE_HUB), weights_hash(OF_THE_HUB, tmp_path, tmp_path)) == (False, "")
    fetch(hub_cache, "1" * 40, CONTENT)
    assert (is_fetched(OF_THE_HUB), weights_hash(OF_THE_HUB, tmp_path, tmp_path)) == (True, CONTENT)


def test_a_new_commit_with_the_same_weights_is_no_other_sae(hub_cache: Path, tmp_path: Path):
    fetch(hub_cache, "1" * 40, CONTENT)
    fetch(hub_cache, "2" * 40, CONTENT)
    assert weights_hash(OF_THE_HUB, tmp_path, tmp_path) == CONTENT
    fetch(hub_cache, "3" * 40, CONTENT[::-1])
    assert weights_hash(OF_THE_HUB, tmp_path, tmp_path) == CONTENT[::-1]


def test_settings_beside_the_weights_count(hub_cache: Path, tmp_path: Path):
    fetch(hub_cache, "1" * 40, CONTENT)
    [link] = (hub_cache / "models--google--gemma-scope-2b-pt-res/snapshots").rglob("params.npz")
    (link.parent / SETTINGS).symlink_to(link.resolve())
    assert weights_hash(OF_THE_HUB, tmp_path, tmp_path) == f"{CONTENT}+{CONTENT}"


def test_a_cache_without_links_is_read(hub_cache: Path, tmp_path: Path):
    fetch(hub_cache, "1" * 40, CONTENT)
    [link] = (hub_cache / "models--google--gemma-scope-2b-pt-res/snapshots").rglob("params.npz")
    link.unlink()
    link.write_text("weights")
    first = weights_hash(OF_THE_HUB, tmp_path, tmp_path)
    link.write_text("other weights")
    assert len({first, weights_hash(OF_THE_HUB, tmp_path, tmp_path), ""}) == 3


def test_the_files_of_a_local_reading_model_count(tmp_path: Path):
    put(tmp_path / "sae")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    sae = replace(ON_DISK, model=replace(ON_DISK.model, weights=LocalWeights(path="model")))
    first = weights_hash(sae, tmp_path, tmp_path)
    (tmp_path / "model" / "config.json").write_text("{1}")
    assert len({first, weights_hash(sae, tmp_path, tmp_path), weights_hash(ON_DISK, tmp_path, tmp_path)}) == 3
