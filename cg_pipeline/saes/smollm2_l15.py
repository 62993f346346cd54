"""The embedded reader: TopK SAE of this project on layer 15 of SmolLM2-135M-Instruct.

Trained by `cg train-sae smollm2_l15`; its model card lies beside the weights.
"""

from cg_pipeline.models.smollm2_135m import MODEL
from cg_pipeline.specs import Sae, SaeDirectory, SaeTraining

SAE = Sae(
    name="smollm2_l15",
    title="SmolLM2-135M-Instruct, residual stream after layer 15, 4,096 concepts",
    model=MODEL,
    hookpoint="blocks.15.hook_resid_post",
    weights=SaeDirectory(path="saes/smollm2_l15"),
    d_sae=4096,
    licence="Apache-2.0",
    training=SaeTraining(
        k=32,
        n_tokens=2_050_000,
        n_epochs=2,
        context_tokens=256,
        chat_share=0.5,
        learning_rate=1e-3,
        batch_tokens=2048,
        seed=0,
    ),
)
