"""The embedded study: the embedded model on the embedded suite, in paper mode."""

from cg_pipeline.specs import Study

STUDY = Study(
    name="embedded",
    title="SmolLM2-135M-Instruct on the embedded suite",
    models=("smollm2_135m",),
    benchmarks=(
        "arithmetic",
        "bias_pairs",
        "calendar",
        "facts",
        "letters",
        "logic",
        "pronouns",
        "requests",
        "social",
        "vocabulary",
    ),
)
