"""The embedded reader: TopK SAE of this project on layer 12 of SmolLM2-135M-Instruct.

Trained by `cg train-sae smollm2_l12`; its model card lies beside the weights.

Why layer 12 of 30 and 32 latents per token: states get harder to rebuild with depth, and layer
12 is read a fifth faster than layer 15. With 64 latents the explained variance of the suite rises
from 0.82 to 0.85, but twice as many concepts are dense (33 against 14 of 4,096). Texts longer than
the 256 tokens it was trained on are read too: the suite's prompts are, and its figures hold on them.
"""

from cg_pipeline.health_specs import PublishedFigures
from cg_pipeline.models.smollm2_135m import MODEL
from cg_pipeline.specs import Sae, SaeDirectory, SaeTraining

SAE = Sae(
    name="smollm2_l12",
    title="SmolLM2-135M-Instruct, residual stream after layer 12, 4,096 concepts",
    model=MODEL,
    accepts=("context",),
    hookpoint="blocks.12.hook_resid_post",
    weights=SaeDirectory(path="saes/smollm2_l12"),
    d_sae=4096,
    licence="Apache-2.0",
    published=PublishedFigures(explained_variance=0.815, l0=32.0, source="its model card, on the suite"),
    training=SaeTraining(
        k=32,
        n_tokens=2_050_000,
        n_epochs=1,
        context_tokens=256,
        chat_share=0.5,
        learning_rate=1e-3,
        batch_tokens=1024,
        min_loss_recovered=0.9,
        mixed_precision=True,
        seed=0,
    ),
)
