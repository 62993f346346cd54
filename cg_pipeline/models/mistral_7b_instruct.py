"""Mistral 7B Instruct v0.1, by Mistral AI.

Why v0.1 and not a later one: the reader SAE was trained on the base model that this one was tuned
from; v0.2 and v0.3 stand on another base. Why 4,096 tokens: its attention slides over a window of that
many.
"""

from cg_pipeline.specs import HubWeights, Model

MODEL = Model(
    name="mistral_7b_instruct",
    title="Mistral-7B-Instruct-v0.1",
    weights=HubWeights(
        repo="mistralai/Mistral-7B-Instruct-v0.1",
        revision="ec5deb64f2c6e6fa90c1abf74a91d5c93a9669ca",
    ),
    licence="Apache-2.0",
    chat=True,
    dtype="bfloat16",
    max_tokens=4096,
    reader="mistral_7b_l16",
)
