"""Josh Engels's SAE on Mistral 7B v0.1, before layer 16 of 32, 65,536 latents (ReLU).

Trained on the base model and used here on the model that was tuned from it; on contexts of 256 tokens.
States are scaled to one norm before they are read, which sae-lens does by its registry's word.
"""

from cg_pipeline.health_specs import PublishedFigures
from cg_pipeline.models.mistral_7b_instruct import MODEL
from cg_pipeline.specs import Sae, SaeRelease

SAE = Sae(
    name="mistral_7b_l16",
    title="Engels on Mistral-7B, residual stream before layer 16, 65,536 concepts",
    model=MODEL,
    trained_on="mistralai/Mistral-7B-v0.1",
    accepts=("context",),
    hookpoint="blocks.16.hook_resid_pre",
    weights=SaeRelease(
        release="mistral-7b-res-wg",
        sae_id="blocks.16.hook_resid_pre",
        file="JoshEngels/Mistral-7B-Residual-Stream-SAEs/mistral_7b_layer_16/sae_weights.safetensors",
    ),
    d_sae=65536,
    licence="not stated where this was written: see the repository",
    published=PublishedFigures(explained_variance=0.85, l0=74.0, source="sae-lens's registry"),
)
