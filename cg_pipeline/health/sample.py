"""Which of a study's examples an SAE is tried on: a few of each benchmark, the same in any order."""

from collections.abc import Mapping, Sequence

from cg_pipeline.records import Example, content_id

SAMPLE_SIZE = 128
"""Examples in all.

Why so many: on the embedded study they hold 3,700 content tokens, on which explained variance comes
within 0.001 of the figure of all 1,500 prompts, for a twelfth of the reading.
"""

LEAST_OF_EACH = 2
"""Of each benchmark, at least; a study of more than 64 benchmarks has a larger sample."""


def sample_examples(examples: Mapping[str, Sequence[Example]], size: int = SAMPLE_SIZE) -> list[Example]:
    """About `size` examples, as many of each benchmark as there are, or the same number of each.

    By a hash of their ids, so that neither the order of the rows nor a benchmark beside them changes
    who is drawn; in the order of that hash, so that the first few are a fair sample too.
    """
    if not examples:
        return []
    quota = max(LEAST_OF_EACH, -(-size // len(examples)))
    drawn = [
        example
        for found in examples.values()
        for example in sorted(found, key=lambda each: content_id("fit", each.example_id))[:quota]
    ]
    return sorted(drawn, key=lambda each: content_id("fit", each.benchmark, each.example_id))
