"""One real small case that passes the gate, and one fault planted at a time: each is caught and named."""

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from cg_pipeline.health.gate import gate_sentence, judge_fit, passes_gate
from cg_pipeline.health_records import ReaderFit
from cg_pipeline.health_specs import PublishedFigures, ReaderGate
from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.sources.sae_files import WEIGHTS
from cg_pipeline.specs import Sae
from tests.fakes import tiny_loaded_model, tiny_tokenizer
from tests.inference.fitted import HOOKPOINT, TEXTS, fitted_sae, fitted_spec, on_one_thread, taught_model

WITH_BOS = {"chat": False, "adds_bos": True}


def measured(directory: Path, reader: LoadedModel, spec: Sae) -> ReaderFit:
    """What the asset measures."""
    return SaeEncoder(spec, reader, data_dir=directory).fit(TEXTS)[0]


def verdict(directory: Path, reader: LoadedModel, **changed: object) -> tuple[bool, str]:
    """Whether the gate lets the SAE in the directory read, and its sentence."""
    spec = fitted_spec(reader, **changed)
    found = judge_fit(measured(directory, reader, spec), spec)
    return passes_gate(found), gate_sentence(found)


@pytest.fixture(scope="module")
def reader() -> LoadedModel:
    with on_one_thread():
        return taught_model()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The directory with an SAE trained in some way, each trained once."""
    made: dict[str, Path] = {}

    def train(reader: LoadedModel, name: str, **how: object) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp("trained")
            fitted_sae(made[name] / "sae", reader, **how)  # type: ignore[arg-type]
        return made[name]

    return train


def test_what_fits_passes(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    assert verdict(trained(reader, "right"), reader) == (True, "all 10 figures hold")


@pytest.mark.parametrize("layer", [0, 2, 3])
def test_a_wrong_layer(reader: LoadedModel, trained: Callable[..., Path], layer: int) -> None:
    """Its metadata lie, so that nothing but its figures gives it away: the very next layer, too."""
    place = f"blocks.{layer}.hook_resid_post"
    directory = trained(reader, place, trained_at=place)
    passed, sentence = verdict(directory, reader)
    assert not passed
    assert f"at {place}, " in sentence
    assert "(likely cause: wrong layer, for it explains" in sentence
    lax = ReaderGate(min_explained_variance=0.3, min_loss_recovered=0.3)
    assert not verdict(directory, reader, gate=lax, published=None)[0]


def test_a_wrong_layer_in_the_spec(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    with pytest.raises(
        ValueError, match=f"was trained at {HOOKPOINT!r}; its spec says 'blocks.2.hook_resid_"
    ):
        verdict(trained(reader, "right"), reader, hookpoint="blocks.2.hook_resid_post")


def test_a_wrong_model(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    """Of the same shape and name, other weights."""
    passed, sentence = verdict(trained(taught_model(seed=1), "other model"), reader)
    assert not passed
    assert "explained variance is -0." in sentence
    assert "(likely cause: wrong model, if it was trained well: no other layer, scale or BOS" in sentence


def test_a_wrong_model_in_the_spec(reader: LoadedModel, tmp_path: Path) -> None:
    fitted_sae(tmp_path / "sae", reader, model_name="other-7b")
    with pytest.raises(ValueError, match="was trained on model 'other-7b'; its spec's model is 'tiny'"):
        verdict(tmp_path, reader)


def test_a_stray_bos(trained: Callable[..., Path]) -> None:
    """F21: trained on prompts without one, by metadata that say nothing of it."""
    directory = trained(taught_model(chat=False), "no bos")
    passed, sentence = verdict(directory, taught_model(**WITH_BOS))
    assert not passed
    assert "of prompts read without their BOS, " in sentence
    assert "(likely cause: stray or missing BOS, for it explains" in sentence


def test_a_missing_bos(trained: Callable[..., Path]) -> None:
    directory = trained(taught_model(**WITH_BOS), "bos")
    assert verdict(directory, taught_model(**WITH_BOS))[0]
    passed, sentence = verdict(directory, taught_model(chat=False))
    assert not passed
    assert "after a BOS, which they lack" in sentence
    assert "(likely cause: stray or missing BOS, for it explains" in sentence


def test_a_stray_bos_that_metadata_tell_of(tmp_path: Path) -> None:
    fitted_sae(tmp_path / "sae", taught_model(chat=False), prepend_bos=False)
    with pytest.raises(
        ValueError, match=r"texts without a BOS token .*; prompts of model 'tiny' are read with one"
    ):
        verdict(tmp_path, taught_model(**WITH_BOS))


def test_a_doubled_bos(trained: Callable[..., Path], reader: LoadedModel) -> None:
    """F21: written by the template and added by the tokenizer; refused whatever the SAE says."""
    template = "<s><s>{% for message in messages %}{{ message['content'] }}{% endfor %}"
    doubled = replace(reader, tokenizer=tiny_tokenizer(chat_template=template))
    with pytest.raises(ValueError, match="begin with 2 BOS tokens; expected at most one"):
        verdict(trained(reader, "right"), doubled)


def test_a_bos_that_counts(trained: Callable[..., Path]) -> None:
    """F20: an SAE that was not trained on the BOS, read with a mask that counts it; an attention sink."""
    reader = taught_model(**WITH_BOS)
    directory = trained(reader, "bos")
    sink = replace(reader, module=copy.deepcopy(reader.module))
    sink.module.get_input_embeddings().weight[3] *= 1000.0
    assert verdict(directory, sink)[0]  # it does not count, and attention takes its norm out
    passed, sentence = verdict(directory, sink, token_mask="all")
    assert not passed
    assert "likely cause: BOS or template tokens are counted (token_mask)" in sentence


def test_a_mismatched_width(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    """F25: the dictionary's, and the model's."""
    with pytest.raises(ValueError, match="SAE 'tiny_sae' has 128 latents; its spec says 65536"):
        verdict(trained(reader, "right"), reader, d_sae=65536)


def test_a_mismatched_model_width(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    narrow = tiny_loaded_model()
    with pytest.raises(ValueError, match="reads vectors of width 64; model 'tiny' has width 16"):
        verdict(trained(reader, "right"), narrow)


@pytest.mark.parametrize("name", ["W_enc", "W_dec"])
def test_a_nan_row_in_the_weights(
    reader: LoadedModel, trained: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    """F26."""
    source = trained(reader, "right") / "sae"
    (tmp_path / "sae").mkdir()
    weights = load_file(source / WEIGHTS)
    weights[name][3] = torch.nan
    save_file(weights, tmp_path / "sae" / WEIGHTS)
    (tmp_path / "sae" / "cfg.json").write_bytes((source / "cfg.json").read_bytes())
    with pytest.raises(ValueError, match=f"SAE 'tiny_sae': {name} holds values that are not finite"):
        verdict(tmp_path, reader)


def test_a_nan_row_in_the_states(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    """One token's embedding overflows: its texts are counted, the others still measured."""
    broken = replace(reader, module=copy.deepcopy(reader.module))
    seen = Counter(token for text in TEXTS for token in set(reader.tokenizer(text)["input_ids"]))
    broken.module.get_input_embeddings().weight[min(seen, key=seen.__getitem__)] = torch.nan
    directory, spec = trained(reader, "right"), fitted_spec(reader)
    fit = measured(directory, broken, spec)
    assert fit.n_not_finite > 0
    assert fit.n_tokens > 100
    assert fit.explained_variance > 0.5
    passed, sentence = verdict(directory, broken)
    assert not passed
    assert (
        f"{fit.n_not_finite:,} tokens have a state, activation or reconstruction that is not finite"
        in sentence
    )
    assert "NaN in the weights, or a number too large for the model's dtype" in sentence


def test_a_wrong_scale(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    """F26: trained on states of another norm, whose factor was lost on the way."""
    passed, sentence = verdict(trained(reader, "scaled", scale=8.0), reader)
    assert not passed
    assert "(likely cause: wrong normalisation, for it explains" in sentence
    assert "of states times 16" in sentence  # of the factors tried the nearest, at 8, are 4 and 16


def test_figures_that_are_not_the_published_ones(reader: LoadedModel, trained: Callable[..., Path]) -> None:
    better = PublishedFigures(explained_variance=0.99, l0=40.0, source="its author")
    passed, sentence = verdict(trained(reader, "right"), reader, published=better)
    assert not passed
    assert "expected at least 0.89, for 0.99 is published (its author)" in sentence
    assert "6.0 latents fire per token, expected 40 as published" in sentence
