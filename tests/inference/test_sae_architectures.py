"""Every architecture of sae-lens's registry reads through our encoder as sae-lens encodes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sae_lens import SAE
from sae_lens.registry import SAE_CLASS_REGISTRY, SAE_TRAINING_CLASS_REGISTRY
from sae_lens.saes.sae import SAEMetadata

from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.specs import Sae, SaeDirectory
from tests.fakes import tiny_loaded_model

MODEL = tiny_loaded_model()
TEXTS = ("The cat sat on the mat.", "Hi", "What is the capital of Japan, and what of France? " * 2)
SPEC = Sae(
    name="tiny_sae",
    title="Tiny",
    model=MODEL.spec,
    hookpoint="blocks.1.hook_resid_post",
    weights=SaeDirectory(path="sae"),
    d_sae=48,
    licence="MIT",
)
SETTINGS: dict[str, dict[str, Any]] = {
    "topk": {"k": 4},
    "abstopk": {"k": 4},
    "temporal": {"n_heads": 2, "bottleneck_factor": 8, "kval_topk": 4},
    "matching_pursuit": {"residual_threshold": 0.1},
    **{
        name: {"d_out": 16, "apply_b_dec_to_input": False}
        for name in SAE_CLASS_REGISTRY
        if "transcoder" in name
    },
}
"""What an architecture needs besides its widths."""

SIGNED = ["abstopk"]


def metadata() -> SAEMetadata:
    return SAEMetadata(model_name="tiny", hook_name="blocks.1.hook_resid_post")


def randomised(sae: Any) -> Any:
    """With weights in which every kind of parameter matters."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in sae.named_parameters():
            drawn = torch.randn(parameter.shape, generator=generator) * 0.3
            parameter.copy_(drawn.abs() if "threshold" in name else drawn)
    return sae


def written(architecture: str, directory: Path, **more: Any) -> None:
    kind, settings = SAE_CLASS_REGISTRY[architecture]
    config = settings(d_in=16, d_sae=48, metadata=metadata(), **SETTINGS.get(architecture, {}), **more)
    randomised(kind(config)).save_model(directory)


def trained(architecture: str, directory: Path) -> None:
    """The inference form of a training architecture, which is how such an SAE is published."""
    kind, settings = SAE_TRAINING_CLASS_REGISTRY[architecture]
    more = {"matryoshka_batchtopk": {"k": 4, "matryoshka_widths": [16, 48]}, "batchtopk": {"k": 4}}
    config = settings(d_in=16, d_sae=48, metadata=metadata(), **more.get(architecture, {}))
    sae = randomised(kind(config))
    if hasattr(sae, "topk_threshold"):
        sae.topk_threshold.fill_(0.4)
    sae.save_inference_model(directory)


def relative_error(directory: Path, dtype: str = "float32", against: str = "float32") -> float:
    """Largest difference of our saliency from sae-lens's activations averaged, relative to the largest."""
    sae = SAE.load_from_disk(directory, dtype=against)
    expected = []
    for text in TEXTS:
        prompt = render_prompt(MODEL.tokenizer, MODEL.spec, text)
        states = MODEL.module(torch.from_numpy(prompt.input_ids)[None], output_hidden_states=True)
        with torch.no_grad():
            found = sae.encode(states.hidden_states[2])[0][torch.from_numpy(prompt.content_mask)]
        expected.append(found.float().mean(0).numpy())
    wanted = np.stack(expected)
    assert (wanted > 0).any()
    assert (wanted == 0).any()
    spec = replace(SPEC, dtype=dtype)
    read = SaeEncoder(spec, MODEL, data_dir=directory.parent).read(("a", "b", "c"), TEXTS).matrix().toarray()
    return float(np.abs(read - wanted).max() / wanted.max())


@pytest.mark.parametrize("architecture", [name for name in SAE_CLASS_REGISTRY if name not in SIGNED])
def test_reading_is_encoding(architecture: str, tmp_path: Path) -> None:
    """F26: a temporal SAE included, whose activations depend on the tokens before."""
    written(architecture, tmp_path / "sae")
    assert relative_error(tmp_path / "sae") <= 1e-5


@pytest.mark.parametrize("architecture", ["batchtopk", "matryoshka_batchtopk"])
def test_what_is_only_trained_under_its_name_reads_as_published(architecture: str, tmp_path: Path) -> None:
    """BatchTopK and Matryoshka SAEs are published as JumpReLU ones."""
    trained(architecture, tmp_path / "sae")
    assert relative_error(tmp_path / "sae") <= 1e-5


def test_every_architecture_that_is_trained_was_looked_at() -> None:
    published = {*SAE_CLASS_REGISTRY, "batchtopk", "matryoshka_batchtopk"}
    assert set(SAE_TRAINING_CLASS_REGISTRY) <= published


@pytest.mark.parametrize("scaling", ["constant_norm_rescale", "layer_norm"])
def test_states_are_scaled_as_the_sae_was_trained(scaling: str, tmp_path: Path) -> None:
    written("standard", tmp_path / "sae", normalize_activations=scaling)
    assert relative_error(tmp_path / "sae") <= 1e-5


def test_half_precision_is_read_in_half_precision(tmp_path: Path) -> None:
    """Sums are taken in float32, so that a long text loses nothing to rounding."""
    written("jumprelu", tmp_path / "sae")
    assert relative_error(tmp_path / "sae", "bfloat16", "bfloat16") <= 1e-5
    assert 1e-4 < relative_error(tmp_path / "sae", "bfloat16", "float32") <= 2e-2


@pytest.mark.parametrize("architecture", SIGNED)
def test_signed_activations_are_no_concepts(architecture: str, tmp_path: Path) -> None:
    written(architecture, tmp_path / "sae")
    with pytest.raises(ValueError, match=f"of architecture '{architecture}', whose activations are signed"):
        SaeEncoder(SPEC, MODEL, data_dir=tmp_path)


def test_a_temporal_sae_reads_whole_texts(tmp_path: Path) -> None:
    """Token by token it would read something else: what it was trained to leave out, it would put in."""
    written("temporal", tmp_path / "sae")
    sae = SAE.load_from_disk(tmp_path / "sae")
    states = torch.randn(1, 5, 16, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole, alone = sae.encode(states)[0, -1], sae.encode(states[:, -1:])[0, 0]
    assert not torch.allclose(whole, alone, atol=1e-2)
