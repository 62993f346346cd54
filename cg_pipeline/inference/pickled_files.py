"""Weights in pickled files: refused, unless the user trusts a file by its name, and even then confined.

A pickle is a program that Python runs on opening it. torch's restricted reader runs only what
rebuilds tensors; that a file is read at all is still the user's word, file by file.
"""

import os

from cg_pipeline.specs import PICKLED, Sae, SaeRelease

VARIABLE = "CG_TRUST_PICKLED"
"""Environment variable with the names of trusted files, separated by commas."""

_UNRESTRICTED = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


def pickled_file(sae: Sae) -> str:
    """Name of the pickled file that an SAE's weights are in; empty for safetensors and NumPy files."""
    weights = sae.weights
    return weights.file if isinstance(weights, SaeRelease) and weights.file.endswith(PICKLED) else ""


def check_pickled(sae: Sae) -> None:
    """Refuse an SAE in a pickled file that the user did not name; other SAEs pass.

    Raises:
        PermissionError: it is not trusted, or torch was told to open pickles without its restrictions.
    """
    file = pickled_file(sae)
    if not file:
        return
    if file not in _trusted_files():
        raise PermissionError(
            f"SAE {sae.name!r} has its weights in {file}, a pickled file, which can run code when it is "
            f"opened; expected safetensors, or your word. If you trust its authors, set {VARIABLE}={file}"
        )
    if os.environ.get(_UNRESTRICTED):
        raise PermissionError(
            f"{_UNRESTRICTED} is set, which lifts torch's restrictions on pickled files such as {file}; "
            "expected them in force. Unset it."
        )


def _trusted_files() -> set[str]:
    return {name.strip() for name in os.environ.get(VARIABLE, "").split(",")}
