"""An SAE of the catalogue in memory, refused unless it fits the model that it is to read.

Loading and encoding are sae-lens's own: every architecture of its registry works, and its
activations are by definition the ones its authors meant. What is done here is to hand it a reader
that casts tensor by tensor on the way to the device, where sae-lens would put a whole copy in the
file's precision first; and to look at what a registry entry really reads before it is read.
"""

import difflib
import pickle
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from sae_lens import SAE
from sae_lens.loading.pretrained_sae_loaders import NAMED_PRETRAINED_SAE_LOADERS, get_conversion_loader_name
from sae_lens.loading.pretrained_saes_directory import get_pretrained_saes_directory
from safetensors import SafetensorError

from cg_pipeline.inference.hooks import check_hookpoint
from cg_pipeline.inference.hub_errors import explained
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.pickled_files import check_pickled
from cg_pipeline.inference.sae_fit import check_fit
from cg_pipeline.specs import PICKLED, Sae, SaeDirectory, SaeRelease

PICKLE_LOADERS = {"connor_rob_hook_z", "goodfire", "deepseek_r1", "qwen_scope", "dictionary_learning_1"}
"""sae-lens's names for its readers of pickled files."""


def load_sae(sae: Sae, reader: LoadedModel, *, data_dir: Path) -> SAE[Any]:
    """The SAE in its spec's dtype on the reader's device.

    Args:
        sae: which SAE.
        reader: the model that it is to read, loaded.
        data_dir: what its directory is relative to.

    Raises:
        FileNotFoundError: its directory is not there, or the hub is out of reach.
        PermissionError: its weights are pickled, and not trusted; or the hub does not give them out.
        ConnectionError: the hub fails to send the files.
        LookupError: the hub has no such file.
        ValueError: it does not fit the reader, the hookpoint, the registry or the spec.
    """
    check_pickled(sae)
    check_hookpoint(reader.module, sae.hookpoint)
    loaded = _read(sae, str(reader.device), data_dir)
    check_fit(sae, loaded, reader)
    return loaded.eval().requires_grad_(False)


def reads_whole_texts(loaded: SAE[Any]) -> bool:
    """Whether a token's activations depend on the tokens before it, so that tokens cannot be read alone."""
    return loaded.cfg.architecture() == "temporal"


def _read(sae: Sae, device: str, data_dir: Path) -> SAE[Any]:
    try:
        if isinstance(sae.weights, SaeDirectory):
            return _read_directory(sae, data_dir / sae.weights.path, device)
        return _read_release(sae, sae.weights, device)
    except RuntimeError as problem:  # torch's word for tensors of another shape or name
        raise ValueError(
            f"SAE {sae.name!r}: its weights are not those that its settings describe "
            f"({' '.join(str(problem).split())[:300]}); expected the same shapes. Restore its files."
        ) from problem


def _read_directory(sae: Sae, directory: Path, device: str) -> SAE[Any]:
    if not (directory / "cfg.json").is_file():
        raise FileNotFoundError(
            f"SAE {sae.name!r}: {directory} has no cfg.json; expected a directory written by sae-lens. "
            f"Train it with: cg train-sae {sae.name}"
        )
    try:
        return SAE.load_from_disk(directory, device=device, dtype=sae.dtype)
    except (SafetensorError, OSError, KeyError, TypeError, AttributeError, ValueError) as problem:
        said = " ".join(str(problem).split())[:200]
        raise ValueError(
            f"SAE {sae.name!r}: {directory} cannot be read ({type(problem).__name__}: {said}); expected "
            "cfg.json and sae_weights.safetensors as sae-lens writes them. Restore its files."
        ) from problem


def _read_release(sae: Sae, place: SaeRelease, device: str) -> SAE[Any]:
    read = _casting(_loader(sae, place), torch.device(device), getattr(torch, sae.dtype))
    repo = "/".join(place.file.split("/", 2)[:2])
    try:
        return SAE.from_pretrained(
            place.release, place.sae_id, device=device, dtype=sae.dtype, converter=read
        )
    except OSError as problem:
        raise explained(problem, f"SAE {sae.name!r}", repo, "main", wanted=place.file) from problem
    except pickle.UnpicklingError as problem:
        raise ValueError(
            f"SAE {sae.name!r}: {place.file} holds more than tensors ({str(problem).splitlines()[0][:200]}); "
            "expected none of what runs code. Do not use it."
        ) from problem


def _loader(sae: Sae, place: SaeRelease) -> Callable[..., Any]:
    """sae-lens's reader of a release; the file that the spec names is what it reads."""
    release = _entry(sae, "release", place.release, get_pretrained_saes_directory())
    path = _entry(sae, f"id of {place.release!r}", place.sae_id, release.saes_map)
    name = get_conversion_loader_name(place.release)
    here = f"{release.repo_id}/{path}"
    if not f"{place.file}/".startswith(f"{here}/") or (
        name in PICKLE_LOADERS and not place.file.endswith(PICKLED)
    ):
        kind = "a pickled file" if name in PICKLE_LOADERS else "a file"
        raise ValueError(
            f"SAE {sae.name!r}: its spec names the file {place.file!r}, but {place.sae_id!r} of "
            f"{place.release!r} is {kind} at {here!r}; expected that. Correct `file`."
        )
    return NAMED_PRETRAINED_SAE_LOADERS[name]


def _entry(sae: Sae, noun: str, name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or sorted(known)[:3]
        raise ValueError(
            f"SAE {sae.name!r}: sae-lens {version('sae-lens')} knows no {noun} {name!r}; expected one of "
            f"{len(known)}, such as {', '.join(near)}. Correct the spec."
        )
    return known[name]


def _casting(loader: Callable[..., Any], device: torch.device, dtype: torch.dtype) -> Callable[..., Any]:
    """The reader, with its tensors cast one by one and only then moved: the device holds no other copy."""

    def read(*, device: str, **arguments: Any) -> Any:
        settings, weights, sparsity = loader(device="cpu", **arguments)
        for name in list(weights):
            weights[name] = weights[name].to(dtype).to(where)
        return {**settings, "device": device}, weights, sparsity

    where = device
    return read
