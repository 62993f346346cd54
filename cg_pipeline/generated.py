"""Benchmarks that compare likelihoods, asked in words: for models that give no likelihoods.

A chat model behind a server tells what it writes and nothing else. For it every benchmark with
choices has a second form, `<name>_generated`: the choices are shown with letters, a letter is asked
for, and the answer is read by `scoring.option` (BBQ's by its own policy, for its bias scores).

*Why a benchmark of its own and not another way to score the same one:* the two measure different
things. Whoever compares models must compare one form; its name says which.
"""

from collections.abc import Mapping
from dataclasses import replace

from cg_pipeline.formats import letter_asked
from cg_pipeline.specs import Benchmark

_SENTENCES = ("bias_pairs", "crows_pairs")
"""Benchmarks whose choices are sentences to be found likelier or not: nothing is asked that has an answer."""
_MAX_NEW_TOKENS = 1024
"""Room for a reasoning before the letter; a text that is cut before it is unscored."""


def generated_forms(benchmarks: Mapping[str, Benchmark]) -> dict[str, Benchmark]:
    """The generated form of every benchmark with choices that has one, by name."""
    chosen = [each for each in benchmarks.values() if each.response == "choice"]
    forms = [generated_form(each) for each in chosen if each.name not in _SENTENCES]
    return {form.name: form for form in forms}


def generated_form(benchmark: Benchmark) -> Benchmark:
    """The same questions with their choices shown, to be answered by a letter."""
    return replace(
        benchmark,
        name=f"{benchmark.name}_generated",
        title=f"{benchmark.title}, generated",
        entry=benchmark.entry or benchmark.name,
        prompt=letter_asked,
        response="generation",
        scoring="bbq" if benchmark.scoring == "bbq" else "option",
        max_new_tokens=_MAX_NEW_TOKENS,
        unconditional="",
    )
