"""Gemma Scope on Gemma 2 2B, after layer 20 of 26, 65,536 latents (JumpReLU), by Google DeepMind.

The wider sister of `gemma_2_2b_l20_16k`, trained and used in the same way.
"""

from cg_pipeline.health_specs import PublishedFigures
from cg_pipeline.models.gemma_2_2b_it import MODEL
from cg_pipeline.specs import Sae, SaeRelease

SAE = Sae(
    name="gemma_2_2b_l20_65k",
    title="Gemma Scope 2B, residual stream after layer 20, 65,536 concepts",
    model=MODEL,
    trained_on="google/gemma-2-2b",
    accepts=("context",),
    hookpoint="blocks.20.hook_resid_post",
    weights=SaeRelease(
        release="gemma-scope-2b-pt-res-canonical",
        sae_id="layer_20/width_65k/canonical",
        file="google/gemma-scope-2b-pt-res/layer_20/width_65k/average_l0_114/params.npz",
    ),
    d_sae=65536,
    licence="CC-BY-4.0",
    published=PublishedFigures(l0=114.0, source="the name of its folder on the hub, average_l0_114"),
)
