"""What an SAE's result depends on beside its spec: the bytes of its weights and settings."""

import hashlib
from pathlib import Path

from cg_pipeline.specs import Sae, SaeDirectory

WEIGHTS, SETTINGS = "sae_weights.safetensors", "cfg.json"
"""sae-lens's names for the two files of an SAE on disk."""


def weights_hash(sae: Sae, data_dir: Path) -> str:
    """SHA-256 of an SAE's files on disk; empty for a registry's, whose release and id name them.

    Raises:
        FileNotFoundError: the weights are not there.
    """
    if not isinstance(sae.weights, SaeDirectory):
        return ""
    digest = hashlib.sha256()
    for path in (data_dir / sae.weights.path / name for name in (WEIGHTS, SETTINGS)):
        try:
            digest.update(path.read_bytes())
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{path} is missing; expected the files of SAE {sae.name!r}. Restore it, or train it anew."
            ) from None
    return digest.hexdigest()
