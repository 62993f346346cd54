"""Gemma Scope on Gemma 2 2B, after layer 20 of 26, 16,384 latents (JumpReLU), by Google DeepMind.

Trained on the base model and used here on the instruction-tuned one, as its authors found to work
(arXiv 2408.05147); on contexts of 1,024 tokens with a BOS, which the chat template writes too.
"""

from cg_pipeline.health_specs import PublishedFigures
from cg_pipeline.models.gemma_2_2b_it import MODEL
from cg_pipeline.specs import Sae, SaeRelease

SAE = Sae(
    name="gemma_2_2b_l20_16k",
    title="Gemma Scope 2B, residual stream after layer 20, 16,384 concepts",
    model=MODEL,
    trained_on="google/gemma-2-2b",
    accepts=("context",),
    hookpoint="blocks.20.hook_resid_post",
    weights=SaeRelease(
        release="gemma-scope-2b-pt-res-canonical",
        sae_id="layer_20/width_16k/canonical",
        file="google/gemma-scope-2b-pt-res/layer_20/width_16k/average_l0_71/params.npz",
    ),
    d_sae=16384,
    licence="CC-BY-4.0",
    published=PublishedFigures(l0=71.0, source="the name of its folder on the hub, average_l0_71"),
)
