"""GPT-4.1 mini behind OpenAI's API: an example of a model that only answers, read by an open one.

Nothing of it is loaded: its answers come from the server, and its examples are read by the embedded
reader, so that concepts are those of that reader. Likelihoods of choices are not to be had from it: ask
it the `<name>_generated` form of a benchmark. Copy this file for another server; a dated name, where
there is one, is the nearest thing to a pinned revision.
"""

from cg_pipeline.specs import Model, ServedModel

MODEL = Model(
    name="gpt_4_1_mini",
    title="GPT-4.1 mini (API)",
    weights=ServedModel(
        base_url="https://api.openai.com/v1",
        model="gpt-4.1-mini-2025-04-14",
        api_key_variable="OPENAI_API_KEY",
        revision="2025-04-14",
    ),
    licence="proprietary: OpenAI's terms of use",
    chat=True,
    max_tokens=32768,
    reader="smollm2_l12",
)
