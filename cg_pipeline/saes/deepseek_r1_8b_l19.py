"""qresearch's SAE on DeepSeek R1 Distill Llama 8B, after layer 19 of 32, 65,536 latents (ReLU).

Trained on chats (LMSYS-Chat-1M), on contexts of 1,024 tokens. Its weights are a pickled file, read only
if you name it in CG_TRUST_PICKLED.
"""

from cg_pipeline.models.deepseek_r1_distill_llama_8b import MODEL
from cg_pipeline.specs import Sae, SaeRelease

SAE = Sae(
    name="deepseek_r1_8b_l19",
    title="qresearch on DeepSeek-R1-Distill-Llama-8B, residual stream after layer 19, 65,536 concepts",
    model=MODEL,
    accepts=("context",),
    hookpoint="blocks.19.hook_resid_post",
    weights=SaeRelease(
        release="deepseek-r1-distill-llama-8b-qresearch",
        sae_id="blocks.19.hook_resid_post",
        file="qresearch/DeepSeek-R1-Distill-Llama-8B-SAE-l19/DeepSeek-R1-Distill-Llama-8B-SAE-l19.pt",
    ),
    d_sae=65536,
    licence="Apache-2.0; its model: Llama 3.1 Community License",
)
