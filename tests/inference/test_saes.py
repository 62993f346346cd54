"""SAEs that do not fit are refused with a reason."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from cg_pipeline.inference.sae_fit import model_name_in_metadata
from cg_pipeline.inference.saes import load_sae
from cg_pipeline.specs import HubWeights, Sae, SaeDirectory
from tests.fakes import tiny_loaded_model, write_tiny_sae

READER = tiny_loaded_model()
SPEC = Sae(
    name="tiny_sae",
    title="Tiny",
    model=READER.spec,
    hookpoint="blocks.1.hook_resid_post",
    weights=SaeDirectory(path="saes/tiny"),
    d_sae=48,
    licence="MIT",
)


def test_the_sae_on_disk_is_the_sae_in_memory(tmp_path: Path) -> None:
    written = write_tiny_sae(tmp_path / "saes/tiny")

    loaded = load_sae(SPEC, READER, data_dir=tmp_path)

    assert loaded.W_enc.equal(written.W_enc)
    assert not loaded.W_enc.requires_grad


@pytest.mark.parametrize(
    ("settings", "spec", "sentence"),
    [
        (
            {"hook_name": "blocks.0.hook_resid_post"},
            SPEC,
            r"was trained at 'blocks\.0\.hook_resid_post'; its spec says 'blocks\.1\.hook_resid_post'",
        ),
        ({"model_name": "gpt2"}, SPEC, "was trained on model 'gpt2'; its spec's model is 'tiny'"),
        ({"model_name": None}, SPEC, "was trained on model None; its spec's model is 'tiny'"),
        ({"d_sae": 64}, SPEC, "has 64 latents; its spec says 48. Correct the spec's d_sae"),
        ({"d_in": 8}, SPEC, "reads vectors of width 8; model 'tiny' has width 16"),
        ({}, replace(SPEC, hookpoint="blocks.7.hook_resid_post"), "but the model has blocks 0 to 2"),
    ],
)
def test_an_sae_of_another_place_model_or_width_is_refused(
    tmp_path: Path, settings: dict[str, object], spec: Sae, sentence: str
) -> None:
    """F24, F25: each of these would load, and read nonsense."""
    write_tiny_sae(tmp_path / "saes/tiny", **settings)  # type: ignore[arg-type]

    with pytest.raises(ValueError, match=sentence):
        load_sae(spec, READER, data_dir=tmp_path)


@pytest.mark.filterwarnings("ignore:\\nThis SAE has non-empty:UserWarning")
def test_an_sae_of_processed_weights_is_refused(tmp_path: Path) -> None:
    """F24."""
    write_tiny_sae(tmp_path / "saes/tiny", model_from_pretrained_kwargs={"center_writing_weights": True})

    with pytest.raises(ValueError, match="trained on weights centred by TransformerLens"):
        load_sae(SPEC, READER, data_dir=tmp_path)


def test_an_unfolded_input_scale_is_refused(tmp_path: Path) -> None:
    """F26."""
    write_tiny_sae(tmp_path / "saes/tiny")
    config = tmp_path / "saes/tiny/cfg.json"
    changed = {**json.loads(config.read_text()), "normalize_activations": "expected_average_only_in"}
    config.write_text(json.dumps(changed))

    with pytest.raises(ValueError, match="scaled by a factor that is not in its files"):
        load_sae(SPEC, READER, data_dir=tmp_path)


@pytest.mark.parametrize("name", ["W_enc", "W_dec", "b_dec"])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, name: str) -> None:
    write_tiny_sae(tmp_path / "saes/tiny")
    path = tmp_path / "saes/tiny/sae_weights.safetensors"
    weights = load_file(path)
    weights[name].flatten()[0] = float("nan")
    save_file(weights, path)

    with pytest.raises(ValueError, match=f"SAE 'tiny_sae': {name} holds values that are not finite"):
        load_sae(SPEC, READER, data_dir=tmp_path)


def test_a_missing_directory_says_how_to_train(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no cfg\.json.* Train it with: cg train-sae tiny_sae"):
        load_sae(SPEC, READER, data_dir=tmp_path)


def test_a_hub_model_goes_by_its_repository(tmp_path: Path) -> None:
    """F24: owner, case and TransformerLens's aliases are no differences: `gpt2-small` is `…/GPT2`."""
    weights = HubWeights(repo="openai-community/GPT2", revision="0" * 40)
    spec = replace(SPEC, model=replace(READER.spec, weights=weights))
    write_tiny_sae(tmp_path / "saes/tiny", model_name="gpt2-small")

    assert model_name_in_metadata(spec.model) == "openai-community/GPT2"
    assert model_name_in_metadata(READER.spec) == "tiny"
    assert load_sae(spec, READER, data_dir=tmp_path).cfg.d_sae == 48
