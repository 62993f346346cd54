"""Qwen-Scope on Qwen3 8B, after layer 21 of 36, 65,536 latents of which 50 fire (TopK), by Alibaba.

Trained on the base model; its authors call the use on the tuned one reasonable. There is one for each
layer: 21 lies as deep as the layer that is read of Llama 3.1. sae-lens takes it for trained with a BOS,
which Qwen's tokenizer does not have. Its weights are a pickled file, read only if you name it in
CG_TRUST_PICKLED.
"""

from cg_pipeline.health_specs import PublishedFigures
from cg_pipeline.models.qwen3_8b import MODEL
from cg_pipeline.specs import Sae, SaeRelease

SAE = Sae(
    name="qwen3_8b_l21",
    title="Qwen-Scope on Qwen3-8B, residual stream after layer 21, 65,536 concepts",
    model=MODEL,
    trained_on="Qwen/Qwen3-8B-Base",
    accepts=("bos", "context"),
    hookpoint="blocks.21.hook_resid_post",
    weights=SaeRelease(
        release="qwen-scope-3-8b-base-w64k-l50",
        sae_id="layer21",
        file="Qwen/SAE-Res-Qwen3-8B-Base-W64K-L0_50/layer21.sae.pt",
    ),
    d_sae=65536,
    licence="Qwen licence: see the repository",
    published=PublishedFigures(l0=50.0, source="its release's name and sae-lens's registry"),
)
