"""The catalogue's entries of sae-lens's registry, against the registry that is installed. No network."""

import inspect

import pytest
from sae_lens.loading.pretrained_sae_loaders import (
    NAMED_PRETRAINED_SAE_LOADERS,
    get_conversion_loader_name,
    load_sae_config_from_huggingface,
)
from sae_lens.loading.pretrained_saes_directory import get_pretrained_saes_directory
from transformer_lens.loading_from_pretrained import get_official_model_name

from cg_pipeline.inference.sae_fit import model_name_in_metadata
from cg_pipeline.inference.saes import PICKLE_LOADERS, _loader
from cg_pipeline.saes import SAES
from cg_pipeline.specs import PICKLED, HubWeights, Sae, SaeRelease

RELEASED = {name: sae for name, sae in SAES.items() if isinstance(sae.weights, SaeRelease)}
OF_THE_PAPER = ("gemma", "llama", "mistral", "qwen", "deepseek")
every_released = pytest.mark.parametrize("sae", RELEASED.values(), ids=RELEASED)


@every_released
def test_release_id_and_file_are_those_of_the_registry(sae: Sae) -> None:
    assert isinstance(sae.weights, SaeRelease)
    release = get_pretrained_saes_directory()[sae.weights.release]
    assert sae.weights.file.startswith(f"{release.repo_id}/{release.saes_map[sae.weights.sae_id]}")
    assert (
        _loader(sae, sae.weights)
        is NAMED_PRETRAINED_SAE_LOADERS[get_conversion_loader_name(sae.weights.release)]
    )


@every_released
def test_the_model_it_was_trained_on_is_the_registrys(sae: Sae) -> None:
    """Base or instruct: where they differ, the spec says so."""
    assert isinstance(sae.weights, SaeRelease)
    named = get_pretrained_saes_directory()[sae.weights.release].model
    declared = sae.trained_on or model_name_in_metadata(sae.model)
    known = {official.lower() for official in map(_official, (named, declared))}
    assert len({name.rpartition("/")[2] for name in known}) == 1
    assert isinstance(sae.model.weights, HubWeights)
    assert bool(sae.trained_on) == (declared != sae.model.weights.repo)


@pytest.mark.parametrize("sae", [sae for name, sae in RELEASED.items() if "mistral" not in name])
def test_width_place_and_training_are_those_of_its_settings(sae: Sae) -> None:
    """Of the Mistral one, the settings lie on the hub: they are compared when it is fetched."""
    assert isinstance(sae.weights, SaeRelease)
    settings = load_sae_config_from_huggingface(sae.weights.release, sae.weights.sae_id)
    metadata = settings["metadata"]
    assert settings["d_sae"] == sae.d_sae
    assert metadata["hook_name"] == sae.hookpoint
    assert _official(metadata["model_name"]) == (sae.trained_on or model_name_in_metadata(sae.model))
    assert metadata["prepend_bos"] is True
    longer = sae.model.max_tokens > metadata.get("context_size", sae.model.max_tokens)
    assert ("context" in sae.accepts) == longer
    assert settings["normalize_activations"] in ("none", None)


def test_which_readers_open_pickles_is_known() -> None:
    """With another version of sae-lens, this says which of its readers to add."""
    opens = {
        name
        for name, loader in NAMED_PRETRAINED_SAE_LOADERS.items()
        if "torch.load(" in inspect.getsource(loader)
    }
    assert opens == PICKLE_LOADERS
    for sae in RELEASED.values():
        assert isinstance(sae.weights, SaeRelease)
        pickled = get_conversion_loader_name(sae.weights.release) in PICKLE_LOADERS
        assert pickled == sae.weights.file.endswith(PICKLED)


def test_each_family_of_the_paper_has_a_reader() -> None:
    assert all(any(name.startswith(family) for name in RELEASED) for family in OF_THE_PAPER)


def _official(name: str) -> str:
    try:
        return get_official_model_name(name)
    except ValueError:
        return name


@every_released
def test_published_figures_are_the_registrys_where_it_has_some(sae: Sae) -> None:
    """Where it has none, they are in the release's name or the file's, or nowhere."""
    assert isinstance(sae.weights, SaeRelease)
    release, published = get_pretrained_saes_directory()[sae.weights.release], sae.published
    listed = (
        release.expected_var_explained.get(sae.weights.sae_id),
        release.expected_l0.get(sae.weights.sae_id),
    )
    assert (published.explained_variance if published else None) == (listed[0] if listed[0] != 1.0 else None)
    if published and published.l0 and listed[1] in (None, 0.0):
        assert f"average_l0_{published.l0:g}/" in sae.weights.file
    elif published:
        assert published.l0 == listed[1]
