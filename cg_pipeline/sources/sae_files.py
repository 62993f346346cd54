"""What an SAE's result depends on beside its spec: the bytes of its weights."""

import hashlib
from pathlib import Path

from cg_pipeline.specs import Sae, SaeDirectory

WEIGHTS = "sae_weights.safetensors"
"""sae-lens's name for the weights of an SAE on disk."""


def weights_hash(sae: Sae, data_dir: Path) -> str:
    """SHA-256 of an SAE's weights on disk; empty for a registry's, whose release and id name them.

    Raises:
        FileNotFoundError: the weights are not there.
    """
    if not isinstance(sae.weights, SaeDirectory):
        return ""
    path = data_dir / sae.weights.path / WEIGHTS
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} is missing; expected the weights of SAE {sae.name!r}. Restore it, or train it anew."
        ) from None
