"""Figures of a reader that fits, and concepts with what was counted of them."""

import numpy as np

from cg_pipeline.health_records import PLACES, FitArrays, ReaderFit
from cg_pipeline.health_specs import PublishedFigures
from cg_pipeline.specs import LocalWeights, Model, Sae, SaeDirectory

HERE, BEFORE, AFTER = (f"blocks.{layer}.hook_resid_post" for layer in (12, 11, 13))

MODEL = Model(
    name="reads",
    title="Reads",
    weights=LocalWeights(path="models/reads"),
    licence="MIT",
    chat=True,
    max_tokens=64,
    reader="sae",
)


def sae(**changed) -> Sae:
    """An SAE with published figures."""
    plain = {
        "name": "sae",
        "title": "An SAE",
        "model": MODEL,
        "hookpoint": HERE,
        "weights": SaeDirectory(path="saes/sae"),
        "d_sae": 4096,
        "licence": "MIT",
        "published": PublishedFigures(explained_variance=0.82, l0=32.0, source="its card"),
    }
    return Sae(**(plain | changed))


def fit(**changed) -> ReaderFit:
    """Figures that hold: those of the embedded reader, rounded."""
    plain = {
        "model": "answers",
        "sae": "sae",
        "reader": "reads",
        "identity": "abc",
        "hookpoint": HERE,
        "d_sae": 4096,
        "n_examples": 128,
        "n_tokens": 3500,
        "n_not_finite": 0,
        "n_negative": 0,
        "n_bos": 1,
        "explained_variance": 0.814,
        "content_explained_variance": 0.814,
        "l0": 32.0,
        "n_predicted": 800,
        "loss": 3.66,
        "spliced_loss": 3.80,
        "mean_loss": 9.04,
        "zero_loss": 12.03,
        "loss_recovered": 0.973,
        "zero_loss_recovered": 0.983,
        "n_probed_tokens": 430,
        "hookpoints": (BEFORE, HERE, AFTER),
        "hookpoint_explained_variance": (0.762, 0.813, 0.745),
        "scales": (0.25, 1.0, 4.0),
        "scale_explained_variance": (-2.45, 0.813, 0.348),
        "has_bos": True,
        "other_bos_explained_variance": 0.809,
        "path": "shards/fit",
    }
    return ReaderFit(**(plain | changed))


def arrays(n_concepts: int, **changed) -> FitArrays:
    """Every concept fires on ten of a hundred content tokens, and points where no other does."""
    firings = np.zeros((len(PLACES), n_concepts), np.int64)
    firings[PLACES.index("content")] = 10
    tokens = np.array([100, 10, 40, 10])
    plain = {
        "firings": firings,
        "n_tokens": tokens,
        "counted_firings": firings,
        "counted_tokens": tokens * [1, 1, 0, 0],
        "nearest": np.roll(np.arange(n_concepts), 1),
        "cosine": np.full(n_concepts, 0.2, np.float32),
    }
    return FitArrays(**(plain | changed))
