"""Qwen3 8B, by Alibaba: tuned to answer with or without thinking first.

It is asked without: the chat template opens and closes an empty thinking block, as the model's card has
it for `enable_thinking=False`. Its tokenizer has no BOS token. It has 40,960 positions.
"""

from cg_pipeline.specs import HubWeights, Model

MODEL = Model(
    name="qwen3_8b",
    title="Qwen3-8B",
    weights=HubWeights(repo="Qwen/Qwen3-8B", revision="b968826d9c46dd6066d109eabc6255188de91218"),
    licence="Apache-2.0",
    chat=True,
    dtype="bfloat16",
    max_tokens=8192,
    reader="qwen3_8b_l21",
)
