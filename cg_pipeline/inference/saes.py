"""An SAE of the catalogue in memory, refused unless it fits the model that it is to read.

Loading and encoding are sae-lens's own: every architecture of its registry works, and its
activations are by definition the ones its authors meant.
"""

from pathlib import Path
from typing import Any

import torch
from sae_lens import SAE
from transformer_lens.loading_from_pretrained import get_official_model_name

from cg_pipeline.inference.hooks import check_hookpoint
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.sae_quality import infinite_parameters
from cg_pipeline.specs import HubWeights, Model, Sae, SaeDirectory


def load_sae(sae: Sae, reader: LoadedModel, *, data_dir: Path) -> SAE[Any]:
    """The SAE in float32 on the reader's device.

    Raises:
        FileNotFoundError: its directory is not there.
        ConnectionError: the hub cannot be reached, or refuses.
        ValueError: it does not fit the reader, the hookpoint or the spec.
    """
    check_hookpoint(reader.module, sae.hookpoint)
    loaded = _read(sae, reader.device, data_dir)
    _check_source(sae, loaded.cfg.metadata)
    _check_widths(sae, loaded, reader.d_model)
    _check_scaling(sae, loaded)
    _check_finite(sae, loaded)
    return loaded.eval().requires_grad_(False)


def _check_finite(sae: Sae, loaded: SAE[Any]) -> None:
    if names := infinite_parameters(loaded):
        raise ValueError(
            f"SAE {sae.name!r}: {names[0]} holds values that are not finite; expected numbers. "
            "Restore its files, or train it anew."
        )


def model_name_in_metadata(model: Model) -> str:
    """What an SAE's metadata calls its model: the hub repository, else the name in the catalogue."""
    return model.weights.repo if isinstance(model.weights, HubWeights) else model.name


def _read(sae: Sae, device: torch.device, data_dir: Path) -> SAE[Any]:
    if isinstance(sae.weights, SaeDirectory):
        return _read_directory(sae.name, data_dir / sae.weights.path, device)
    try:
        return SAE.from_pretrained(
            sae.weights.release, sae.weights.sae_id, device=str(device), dtype="float32"
        )
    except OSError as problem:
        raise ConnectionError(
            f"SAE {sae.name!r}: cannot read {sae.weights.sae_id!r} of release {sae.weights.release!r} from "
            f"the Hugging Face hub ({str(problem).strip().splitlines()[0]}); check the network and HF_TOKEN."
        ) from problem


def _read_directory(name: str, directory: Path, device: torch.device) -> SAE[Any]:
    if not (directory / "cfg.json").is_file():
        raise FileNotFoundError(
            f"SAE {name!r}: {directory} has no cfg.json; expected a directory written by sae-lens. "
            f"Train it with: cg train-sae {name}"
        )
    return SAE.load_from_disk(directory, device=str(device), dtype="float32")


def _check_source(sae: Sae, metadata: Any) -> None:
    """Refuse an SAE of another place or model: it would load and read nonsense without complaint."""
    if metadata.hook_name != sae.hookpoint:
        raise ValueError(
            f"SAE {sae.name!r} was trained at {metadata.hook_name!r}; its spec says {sae.hookpoint!r}. "
            "Correct the spec's hookpoint."
        )
    wanted = model_name_in_metadata(sae.model)
    if _canonical(metadata.model_name) != _canonical(wanted):
        raise ValueError(
            f"SAE {sae.name!r} was trained on model {metadata.model_name!r}; its spec's model is {wanted!r}. "
            "Name the model it was trained on in the spec."
        )
    if (metadata.model_from_pretrained_kwargs or {}).get("center_writing_weights"):
        raise ValueError(
            f"SAE {sae.name!r} was trained on weights centred by TransformerLens "
            "(center_writing_weights=True), but the reader runs the model as published; expected an SAE of "
            "unprocessed weights. Choose another release."
        )


def _check_widths(sae: Sae, loaded: SAE[Any], d_model: int) -> None:
    if loaded.cfg.d_sae != sae.d_sae:
        raise ValueError(
            f"SAE {sae.name!r} has {loaded.cfg.d_sae} latents; its spec says {sae.d_sae}. "
            "Correct the spec's d_sae."
        )
    if loaded.cfg.d_in != d_model:
        raise ValueError(
            f"SAE {sae.name!r} reads vectors of width {loaded.cfg.d_in}; model {sae.model.name!r} has width "
            f"{d_model}. Name the model it was trained on in the spec."
        )


def _check_scaling(sae: Sae, loaded: SAE[Any]) -> None:
    """sae-lens folds the input scale into the weights, and only warns when it does not know the scale."""
    if loaded.cfg.normalize_activations == "expected_average_only_in":
        raise ValueError(
            f"SAE {sae.name!r} expects inputs scaled by a factor that is not in its files "
            "(normalize_activations='expected_average_only_in'); expected it folded into the weights. "
            "Save it after sae-lens's fold_activation_norm_scaling_factor."
        )


def _canonical(name: str | None) -> str:
    """A model's name without owner and case, TransformerLens's aliases resolved."""
    try:
        official = get_official_model_name(name or "")
    except ValueError:
        official = name or ""
    return official.rpartition("/")[2].lower()
