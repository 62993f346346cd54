"""DeepSeek R1 Distill Llama 8B, by DeepSeek: Llama 3.1 8B trained on answers that think first.

Its chat template opens a thinking block. Most benchmarks leave a generated answer fewer tokens than the
thinking takes: it is then cut at the limit, and unscored or wrong. Choices are rated all the same.
It has 131,072 positions.
"""

from cg_pipeline.specs import HubWeights, Model

MODEL = Model(
    name="deepseek_r1_distill_llama_8b",
    title="DeepSeek-R1-Distill-Llama-8B",
    weights=HubWeights(
        repo="deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
        revision="6a6f4aa4197940add57724a7707d069478df56b1",
    ),
    licence="MIT; made from Llama 3.1 (Llama 3.1 Community License)",
    chat=True,
    dtype="bfloat16",
    max_tokens=8192,
    reader="deepseek_r1_8b_l19",
)
