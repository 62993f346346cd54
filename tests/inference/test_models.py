"""Loading from a directory and from the hub; what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import GenerationConfig

from cg_pipeline.inference.models import load_model
from cg_pipeline.specs import HubWeights, LocalWeights, Model
from tests.fakes import tiny_model, tiny_tokenizer

SPEC = Model(
    name="tiny",
    title="Tiny",
    weights=LocalWeights(path="models/tiny"),
    licence="MIT",
    chat=True,
    max_tokens=64,
    reader="sae",
)
IDS = torch.tensor([[5, 6, 7]])


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Holds a tiny model whose files ask for a repetition penalty."""
    module = tiny_model()
    module.generation_config = GenerationConfig(
        eos_token_id=[2, 9], repetition_penalty=1.5, no_repeat_ngram_size=2
    )
    module.save_pretrained(tmp_path / "models/tiny")
    tiny_tokenizer().save_pretrained(tmp_path / "models/tiny")
    return tmp_path


def test_a_directory_gives_the_model_that_was_saved(data_dir: Path) -> None:
    loaded = load_model(SPEC, cache_dir=data_dir, data_dir=data_dir)

    torch.testing.assert_close(loaded.module(IDS).logits, tiny_model()(IDS).logits, rtol=0, atol=0)
    assert loaded.tokenizer("The cat").input_ids == tiny_tokenizer()("The cat").input_ids
    assert loaded.d_model == 16
    assert not loaded.module.training
    assert not any(parameter.requires_grad for parameter in loaded.module.parameters())


def test_the_spec_sets_the_dtype(data_dir: Path) -> None:
    loaded = load_model(replace(SPEC, dtype="bfloat16"), cache_dir=data_dir, data_dir=data_dir)

    assert {parameter.dtype for parameter in loaded.module.parameters()} == {torch.bfloat16}


def test_greedy_means_greedy(data_dir: Path) -> None:
    """What a repository asks for in sampling is forgotten, what ends a text is kept."""
    kept = load_model(SPEC, cache_dir=data_dir, data_dir=data_dir).module.generation_config

    assert kept.eos_token_id == [2, 9]
    assert kept.repetition_penalty in (None, 1.0)
    assert not kept.no_repeat_ngram_size


def test_padding_is_found_when_a_tokenizer_names_none(data_dir: Path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.pad_token = None
    tokenizer.save_pretrained(data_dir / "models/tiny")

    assert load_model(SPEC, cache_dir=data_dir, data_dir=data_dir).tokenizer.pad_token_id == 2


def test_pickled_weights_are_not_weights(tmp_path: Path) -> None:
    (tmp_path / "models/tiny").mkdir(parents=True)
    torch.save({}, tmp_path / "models/tiny/pytorch_model.bin")

    with pytest.raises(
        FileNotFoundError, match=r"tiny holds no \.safetensors file; expected a directory written by"
    ):
        load_model(SPEC, cache_dir=tmp_path, data_dir=tmp_path)


def test_an_unreachable_hub_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F15: without a network the failure is quick and says what to check."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    spec = replace(SPEC, weights=HubWeights(repo="nobody/nothing-here", revision="a" * 40))

    sentence = "Model 'tiny': the hub cannot be reached for nobody/nothing-here at aaaaaaaaaaaa "
    with pytest.raises(FileNotFoundError, match=sentence):
        load_model(spec, cache_dir=tmp_path, data_dir=tmp_path)
