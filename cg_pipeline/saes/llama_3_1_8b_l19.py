"""Goodfire's SAE on Llama 3.1 8B Instruct, after layer 19 of 32, 65,536 latents (ReLU).

Trained on chats (LMSYS-Chat-1M). Its weights are a pickled file, read only if you name it in
CG_TRUST_PICKLED.
"""

from cg_pipeline.health_specs import PublishedFigures
from cg_pipeline.models.llama_3_1_8b_instruct import MODEL
from cg_pipeline.specs import Sae, SaeRelease

SAE = Sae(
    name="llama_3_1_8b_l19",
    title="Goodfire on Llama-3.1-8B-Instruct, residual stream after layer 19, 65,536 concepts",
    model=MODEL,
    hookpoint="blocks.19.hook_resid_post",
    weights=SaeRelease(
        release="goodfire-llama-3.1-8b-instruct",
        sae_id="layer_19",
        file="Goodfire/Llama-3.1-8B-Instruct-SAE-l19/Llama-3.1-8B-Instruct-SAE-l19.pth",
    ),
    d_sae=65536,
    licence="Llama 3.1 Community License",
    published=PublishedFigures(l0=91.0, source="sae-lens's registry"),
)
