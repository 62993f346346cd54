"""A model of the catalogue in memory: weights and tokenizer, ready to read and answer.

Weights are safetensors or a packaged GGUF, never pickles, and no code from a repository
is ever run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import hf_hub_download
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from cg_pipeline.inference.devices import resolve_device
from cg_pipeline.inference.gguf_conversion import converted_gguf
from cg_pipeline.inference.hub_errors import explained
from cg_pipeline.specs import HubWeights, LocalWeights, Model, PackagedGguf, ServedModel


@dataclass(frozen=True, kw_only=True)
class LoadedModel:
    """A model in evaluation mode with its tokenizer."""

    spec: Model
    module: PreTrainedModel
    """The whole causal language model, head included; its parameters ask for no gradient."""
    tokenizer: PreTrainedTokenizerBase
    device: torch.device

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return self.module.config.get_text_config().hidden_size

    @property
    def n_positions(self) -> float:
        """Most tokens of a text; infinite for a model that has no bound."""
        found = getattr(self.module.config.get_text_config(), "max_position_embeddings", None)
        return math.inf if found is None else float(found)

    @property
    def head(self) -> nn.Linear:
        """What turns the last hidden state into logits, before any capping or scaling."""
        found = self.module.get_output_embeddings()
        if not isinstance(found, nn.Linear):
            raise TypeError(
                f"Model {self.spec.name!r} ends in {type(found).__name__}; expected a linear head over "
                "the vocabulary. Use a causal language model."
            )
        return found


def load_model(model: Model, *, cache_dir: Path, data_dir: Path, device: str = "cpu") -> LoadedModel:
    """The model's weights and tokenizer, in the dtype of its spec.

    Args:
        model: what to load.
        cache_dir: where a packaged GGUF is converted once.
        data_dir: what a relative `LocalWeights` path is relative to.
        device: `auto`, `cpu`, `cuda`, `cuda:0`, `mps`.

    Raises:
        ModuleNotFoundError: the package that carries the weights is not installed.
        FileNotFoundError: a local directory or its safetensors file is missing, or the hub is out of reach.
        ConnectionError: the hub fails to send the files.
        PermissionError: the hub does not give the files out: conditions are to be accepted first.
        LookupError: the hub has no such repository or commit.
        ValueError: a packaged file has the wrong hash, or the device does not exist.
    """
    where = resolve_device(device)
    read = _reader(model, cache_dir=cache_dir, data_dir=data_dir)
    tokenizer = read(AutoTokenizer)
    module = read(AutoModelForCausalLM, use_safetensors=True, dtype=getattr(torch, model.dtype))
    _use_exact_attention(module)
    _forget_sampling(module)
    return LoadedModel(
        spec=model,
        module=module.to(where).eval().requires_grad_(False),
        tokenizer=_with_padding(tokenizer),
        device=where,
    )


def _reader(model: Model, *, cache_dir: Path, data_dir: Path) -> Callable[..., Any]:
    """`from_pretrained` bound to the place of the weights."""
    weights = model.weights
    if isinstance(weights, ServedModel):
        raise ValueError(
            f"Model {model.name!r} is served at {weights.base_url}; expected weights to load. "
            "Name another model as the reader's."
        )
    if isinstance(weights, HubWeights):
        _ask_hub(model.name, weights)
        return lambda auto, **options: _read_from_hub(model.name, weights, auto, options)
    directory = _local_directory(weights, cache_dir=cache_dir, data_dir=data_dir)
    return lambda auto, **options: auto.from_pretrained(
        directory, local_files_only=True, trust_remote_code=False, **options
    )


def _local_directory(weights: PackagedGguf | LocalWeights, *, cache_dir: Path, data_dir: Path) -> Path:
    if isinstance(weights, PackagedGguf):
        return converted_gguf(weights, cache_dir)
    directory = data_dir / weights.path
    if not any(directory.glob("*.safetensors")):
        raise FileNotFoundError(
            f"{directory} holds no .safetensors file; expected a directory written by save_pretrained. "
            "Convert other formats with save_pretrained(..., safe_serialization=True)."
        )
    return directory


def _ask_hub(name: str, weights: HubWeights) -> None:
    """One small file first: whoever has no access or no network learns it after one round of tries."""
    try:
        hf_hub_download(weights.repo, "config.json", revision=weights.revision)
    except OSError as problem:
        raise explained(
            problem, f"Model {name!r}", weights.repo, weights.revision, weights.gated
        ) from problem


def _read_from_hub(name: str, weights: HubWeights, auto: Any, options: dict[str, Any]) -> Any:
    try:
        return auto.from_pretrained(
            weights.repo, revision=weights.revision, trust_remote_code=False, **options
        )
    except OSError as problem:
        raise explained(
            problem, f"Model {name!r}", weights.repo, weights.revision, weights.gated
        ) from problem


def _use_exact_attention(module: PreTrainedModel) -> None:
    """Leave the fused kernel where it drops a term: it cannot soft-cap attention logits (Gemma 2)."""
    if getattr(module.config.get_text_config(), "attn_logit_softcapping", None):
        module.set_attn_implementation("eager")


def _forget_sampling(module: PreTrainedModel) -> None:
    """Keep which tokens end a text and drop the rest: a repetition penalty would change greedy answers."""
    module.generation_config = GenerationConfig(eos_token_id=module.generation_config.eos_token_id)


def _with_padding(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """A tokenizer with some padding token; which one does not matter, since padding is always masked."""
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer
