"""Llama 3.1 8B Instruct, by Meta. Gated: its page asks to accept the Llama 3.1 Community License.

Its chat template writes a system block with two dates whether or not there is a system prompt; today's
is held at 26 July 2024, so that prompts are the same on every day. It has 131,072 positions.
"""

from cg_pipeline.specs import HubWeights, Model

MODEL = Model(
    name="llama_3_1_8b_instruct",
    title="Llama-3.1-8B-Instruct",
    weights=HubWeights(
        repo="meta-llama/Llama-3.1-8B-Instruct",
        revision="0e9e39f249a16976918f6564b8830bc894c89659",
        gated="Meta's Llama 3.1 Community License",
    ),
    licence="Llama 3.1 Community License",
    chat=True,
    dtype="bfloat16",
    max_tokens=8192,
    reader="llama_3_1_8b_l19",
)
