"""A local model is its files: moved it is the same, changed it is another."""

from dataclasses import replace
from pathlib import Path

import pytest

from cg_pipeline.models import MODELS
from cg_pipeline.sources.model_files import model_hash
from cg_pipeline.specs import LocalWeights, Model

MODEL = Model(
    name="mine",
    title="Mine",
    weights=LocalWeights(path="models/mine"),
    licence="MIT",
    chat=False,
    max_tokens=64,
    reader="sae",
)


def put(data_dir: Path, place: str = "models/mine", **more: str) -> None:
    files = {"config.json": "{}", "model.safetensors": "weights", **more}
    (data_dir / place).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (data_dir / place / name).write_text(text)


def found(data_dir: Path, place: str = "models/mine") -> str:
    return model_hash(replace(MODEL, weights=LocalWeights(path=place)), data_dir, data_dir / "cache")


def test_a_moved_model_is_the_same(tmp_path: Path):
    put(tmp_path)
    put(tmp_path, "elsewhere")
    assert found(tmp_path) == found(tmp_path, "elsewhere") != ""


@pytest.mark.parametrize(
    "more", [{"model.safetensors": "other"}, {"config.json": "{1}"}, {"tokenizer.json": "{}"}]
)
def test_another_file_makes_another_model(tmp_path: Path, more: dict[str, str]):
    put(tmp_path)
    before = found(tmp_path)
    put(tmp_path, **more)
    assert found(tmp_path) != before


@pytest.mark.parametrize("more", [{"README.md": "read me"}, {".gitattributes": "x"}])
def test_what_people_read_does_not_count(tmp_path: Path, more: dict[str, str]):
    put(tmp_path)
    before = found(tmp_path)
    put(tmp_path, **more)
    assert found(tmp_path) == before


def test_a_missing_directory_is_one_sentence(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"models/mine holds no files; expected model 'mine' as save"):
        found(tmp_path)


def test_what_is_pinned_otherwise_needs_no_file(tmp_path: Path):
    assert {model_hash(model, tmp_path, tmp_path) for model in MODELS.values()} == {""}
