"""Gemma 2 2B, instruction-tuned, by Google. Gated: its page asks to accept the Gemma terms.

Why 4,096 tokens: every other layer attends to a window of that many, which choices read side by side
cannot honour. Its chat template has no system role.
"""

from cg_pipeline.specs import HubWeights, Model

MODEL = Model(
    name="gemma_2_2b_it",
    title="Gemma-2-2B-it",
    weights=HubWeights(
        repo="google/gemma-2-2b-it",
        revision="299a8560bedf22ed1c72a8a11e7dce4a7f9f51f8",
        gated="Google's Gemma terms of use",
    ),
    licence="Gemma terms of use",
    chat=True,
    dtype="bfloat16",
    max_tokens=4096,
    reader="gemma_2_2b_l20_16k",
)
