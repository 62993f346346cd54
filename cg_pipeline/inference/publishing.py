"""From a trained SAE to the directory that ships: float16 weights, figures, a gate, one rename."""

import json
import shutil
from pathlib import Path

from sae_lens import SAE, TopKTrainingSAE

from cg_pipeline.inference.sae_quality import QualityFigures, check_quality
from cg_pipeline.specs import SaeTraining


def save_half(trained: TopKTrainingSAE, folder: Path) -> Path:
    """The SAE in sae-lens's inference format with float16 weights."""
    shutil.rmtree(folder, ignore_errors=True)
    whole = folder / "float32"
    trained.save_inference_model(whole)
    SAE.load_from_disk(whole, dtype="float16").save_model(folder)
    shutil.rmtree(whole)
    return folder


def write_figures(folder: Path, figures: dict[str, QualityFigures]) -> None:
    """Put the figures beside the weights, as `figures.json`."""
    (folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def check_gate(name: str, training: SaeTraining, figures: dict[str, QualityFigures]) -> None:
    """Refuse figures that miss the gate of the training; dead latents are counted on held-out text only.

    Raises:
        ValueError: a figure misses its bound.
    """
    for measured_on, found in figures.items():
        check_quality(
            f"{name} on {measured_on}",
            found,
            min_explained_variance=training.min_explained_variance,
            max_dead_share=training.max_dead_share if measured_on == "held_out" else 1.0,
        )


def publish(candidate: Path, out_dir: Path) -> None:
    """Put the candidate in the place of `out_dir` in one rename, keeping the model card that lies there."""
    card = out_dir / "README.md"
    if card.exists():
        shutil.copy2(card, candidate / "README.md")
    partial, old = (out_dir.with_name(f".{out_dir.name}.{suffix}") for suffix in ("partial", "old"))
    for leftover in (partial, old):
        shutil.rmtree(leftover, ignore_errors=True)
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(candidate, partial)
    if out_dir.exists():
        out_dir.rename(old)
    partial.rename(out_dir)
    shutil.rmtree(old, ignore_errors=True)
