"""Whether an SAE fits the use made of it: place, model, width, scale, BOS, context, sign.

Every mismatch here would load and read nonsense without complaint. What is compared is what the SAE's
own metadata says; model and hookpoint must be said, and of the rest nothing is refused where they say
nothing. A difference that is meant is declared in the SAE's spec (`trained_on`, `accepts`), and then only
that one passes.
"""

from itertools import takewhile
from typing import Any

from sae_lens import SAE
from transformer_lens.loading_from_pretrained import get_official_model_name

from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.inference.sae_quality import infinite_parameters
from cg_pipeline.specs import HubWeights, Model, Sae

_SCALES = {
    "expected_average_only_in": "fold_activation_norm_scaling_factor",
    "covariance_whitening": "fold_activation_whitening",
}
"""Normalisations that need numbers which are not in an SAE's files, and what of sae-lens folds them in."""

_SIGNED = ("abstopk",)
_TEXT = "a"


def check_fit(sae: Sae, loaded: SAE[Any], reader: LoadedModel) -> None:
    """Refuse an SAE that is not what its spec says, or not for what its spec uses it.

    Raises:
        ValueError: the first mismatch, with what to correct or to declare.
    """
    _check_place(sae, loaded.cfg.metadata)
    _check_model(sae, loaded.cfg.metadata)
    _check_widths(sae, loaded, reader.d_model)
    _check_scaling(sae, loaded)
    _check_sign(sae, loaded)
    _check_bos(sae, loaded.cfg.metadata, reader)
    _check_context(sae, loaded.cfg.metadata, reader)
    _check_finite(sae, loaded)


def model_name_in_metadata(model: Model) -> str:
    """What an SAE's metadata calls its model: the hub repository, else the name in the catalogue."""
    return model.weights.repo if isinstance(model.weights, HubWeights) else model.name


def _check_place(sae: Sae, metadata: Any) -> None:
    if metadata.hook_name != sae.hookpoint:
        raise ValueError(
            f"SAE {sae.name!r} was trained at {metadata.hook_name!r}; its spec says {sae.hookpoint!r}. "
            "Correct the spec's hookpoint."
        )


def _check_model(sae: Sae, metadata: Any) -> None:
    wanted = sae.trained_on or model_name_in_metadata(sae.model)
    if _canonical(metadata.model_name) != _canonical(wanted):
        said = f"trained_on is {wanted!r}" if sae.trained_on else f"model is {wanted!r}"
        raise ValueError(
            f"SAE {sae.name!r} was trained on model {metadata.model_name!r}; its spec's {said}. "
            "Name the model it was trained on in the spec, or, to read another one on purpose, say "
            f"trained_on={metadata.model_name!r}."
        )
    if (metadata.model_from_pretrained_kwargs or {}).get("center_writing_weights"):
        raise ValueError(
            f"SAE {sae.name!r} was trained on weights centred by TransformerLens "
            "(center_writing_weights=True), but the reader runs the model as published; expected an SAE of "
            "unprocessed weights. Choose another release."
        )


def _check_widths(sae: Sae, loaded: SAE[Any], d_model: int) -> None:
    for found in (loaded.cfg.d_sae, len(loaded.W_dec)):
        if found != sae.d_sae:
            raise ValueError(
                f"SAE {sae.name!r} has {found} latents; its spec says {sae.d_sae}. Correct the spec's d_sae."
            )
    k = getattr(loaded.cfg, "k", 1)
    if not isinstance(k, (int, float)) or not 1 <= k <= sae.d_sae:
        raise ValueError(
            f"SAE {sae.name!r} keeps k={k!r} latents; expected a number from 1 to {sae.d_sae}. "
            "Restore its cfg.json."
        )
    if loaded.cfg.d_in != d_model:
        raise ValueError(
            f"SAE {sae.name!r} reads vectors of width {loaded.cfg.d_in}; model {sae.model.name!r} has width "
            f"{d_model}. Name the model it was trained on in the spec."
        )


def _check_scaling(sae: Sae, loaded: SAE[Any]) -> None:
    """sae-lens folds the input scale into the weights, and only warns when it does not know the scale."""
    found = loaded.cfg.normalize_activations
    if found in _SCALES:
        raise ValueError(
            f"SAE {sae.name!r} expects inputs scaled by a factor that is not in its files "
            f"(normalize_activations={found!r}); expected it folded into the weights. "
            f"Save it after sae-lens's {_SCALES[found]}."
        )


def _check_sign(sae: Sae, loaded: SAE[Any]) -> None:
    if (architecture := loaded.cfg.architecture()) in _SIGNED:
        raise ValueError(
            f"SAE {sae.name!r} is of architecture {architecture!r}, whose activations are signed; expected "
            "activations from 0 up, for a concept is there or not. Choose an SAE of another architecture."
        )


def _check_bos(sae: Sae, metadata: Any, reader: LoadedModel) -> None:
    """Compare what prompts begin with; more than one BOS is a template's mistake whatever the SAE."""
    ids, bos = render_prompt(reader.tokenizer, reader.spec, _TEXT).input_ids, reader.tokenizer.bos_token_id
    n_bos = sum(1 for _ in takewhile(lambda token: token == bos, ids))
    if n_bos > 1:
        raise ValueError(
            f"Prompts of model {reader.spec.name!r} begin with {n_bos} BOS tokens; expected at most one. "
            "Correct its chat template or tokenizer, or set chat in its spec."
        )
    if metadata.prepend_bos not in (None, bool(n_bos)) and "bos" not in sae.accepts:
        trained, read = ("with", "without") if metadata.prepend_bos else ("without", "with")
        raise ValueError(
            f"SAE {sae.name!r} was trained on texts {trained} a BOS token (prepend_bos="
            f"{metadata.prepend_bos}); prompts of model {reader.spec.name!r} are read {read} one. Set chat "
            'or the tokenizer right, or accept the difference with accepts=("bos",) in the spec.'
        )


def _check_context(sae: Sae, metadata: Any, reader: LoadedModel) -> None:
    trained = metadata.context_size
    if trained and reader.spec.max_tokens > trained and "context" not in sae.accepts:
        raise ValueError(
            f"SAE {sae.name!r} was trained on contexts of {trained} tokens; model {reader.spec.name!r} reads "
            f"up to {reader.spec.max_tokens}. Lower max_tokens, or accept the difference with "
            'accepts=("context",) in the spec.'
        )


def _check_finite(sae: Sae, loaded: SAE[Any]) -> None:
    if names := infinite_parameters(loaded):
        raise ValueError(
            f"SAE {sae.name!r}: {names[0]} holds values that are not finite; expected numbers. "
            "Restore its files, or train it anew."
        )


def _canonical(name: str | None) -> str:
    """A model's name without owner and case, TransformerLens's aliases resolved."""
    try:
        official = get_official_model_name(name or "")
    except ValueError:
        official = name or ""
    return official.rpartition("/")[2].lower()
