"""From a trained SAE to the directory that ships: float16 weights, figures, a gate."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sae_lens import SAE
from sae_lens.saes.sae import TrainingSAE

from cg_pipeline.inference.sae_quality import QualityFigures, check_quality
from cg_pipeline.specs import SaeTraining
from cg_pipeline.training_records import CurvePoint


def save_half(trained: TrainingSAE[Any], folder: Path) -> Path:
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


def write_curve(folder: Path, curve: Sequence[CurvePoint]) -> None:
    """Put the training curve beside the weights, as `training_curve.json`."""
    points = [asdict(point) for point in curve]
    (folder / "training_curve.json").write_text(json.dumps(points, indent=1) + "\n", encoding="utf-8")


def check_gate(name: str, training: SaeTraining, figures: dict[str, QualityFigures]) -> None:
    """Refuse figures that miss the gate of the training; all but explained variance on held-out text only.

    Raises:
        ValueError: a figure misses its bound.
    """
    for measured_on, found in figures.items():
        own = measured_on == "held_out"
        check_quality(
            f"{name} on {measured_on}",
            found,
            min_explained_variance=training.min_explained_variance,
            max_dead_share=training.max_dead_share if own else 1.0,
            min_loss_recovered=training.min_loss_recovered if own else None,
            max_l0=training.max_l0 if own else None,
        )


def publish(candidate: Path, out_dir: Path) -> None:
    """Put the candidate in the place of `out_dir`, keeping the model card that lies there.

    In two renames: who was killed between them left the former SAE beside, and it is put back first.
    """
    partial, old = (out_dir.with_name(f".{out_dir.name}.{suffix}") for suffix in ("partial", "old"))
    if old.exists() and not out_dir.exists():
        old.rename(out_dir)
    card = out_dir / "README.md"
    if card.exists():
        shutil.copy2(card, candidate / "README.md")
    for leftover in (partial, old):
        shutil.rmtree(leftover, ignore_errors=True)
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(candidate, partial)
    if out_dir.exists():
        out_dir.rename(old)
    partial.rename(out_dir)
    shutil.rmtree(old, ignore_errors=True)
