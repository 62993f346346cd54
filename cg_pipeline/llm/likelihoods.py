"""How likely a served model finds each choice: a text is echoed with the log-probabilities of its tokens.

The context is counted on its own first; a choice is what comes after so many tokens, exactly as
for a model in memory, and no text has to be matched with tokens.

*Why the server is tested before it is believed:* some refuse `echo`, some (llama.cpp) have ignored
it and sent the log-probabilities of generated tokens instead, with which every model scores at
chance. A server passes when it repeats a sentence, and gives as many log-probabilities as it says
the sentence has tokens. vLLM and SGLang do.
"""

import math
from collections.abc import Sequence

from cg_pipeline.llm.asking import Asker
from cg_pipeline.llm.questions import counted, measured, raw_text
from cg_pipeline.llm.replies import AnswerText, Stop
from cg_pipeline.llm.wire import Fault
from cg_pipeline.records import Completion, Example
from cg_pipeline.specs import Model

PROBE = "The cat sat on the mat, and the dog lay under the table."


def check_measures(asker: Asker, spec: Model) -> None:
    """Refuse to go on unless the server gives the log-likelihood of a text.

    Raises:
        ValueError: it does not, or the model's chat template would have to be known here.
        ConnectionError: it cannot be had at the moment.
    """
    if spec.chat:
        raise _unable(asker, spec, "a chat template cannot be applied from here, and its spec says chat=True")
    counts = asker.try_patiently(counted(PROBE))
    if isinstance(counts, Fault):
        raise _unable(asker, spec, f"it {counts.reason}", counts)
    echo = asker.try_patiently(measured(PROBE, skip=0))
    if isinstance(echo, Fault):
        raise _unable(asker, spec, f"it {echo.reason}", echo)
    values = echo.logprobs[1:]  # the first token has none
    if len(echo.logprobs) != counts.n_prompt_tokens or not values or not all(value <= 0 for value in values):
        raise _unable(asker, spec, "what it gives for a text are not the log-probabilities of its tokens")


def _unable(asker: Asker, spec: Model, reason: str, fault: Fault | None = None) -> Exception:
    place = f"Model {spec.name!r} at {asker.endpoint.base_url}"
    if fault and fault.remedy == "wait":
        return ConnectionError(asker.endpoint.redact(f"{place}: the server {fault.reason}. Run it again."))
    return ValueError(
        asker.endpoint.redact(
            f"{place} gives no log-likelihoods of choices ({reason}); expected chat=False and a completions "
            "endpoint that echoes a prompt with logprobs, as vLLM's does. Use the "
            "benchmark's generated form, <name>_generated, which reads a choice out of an answer."
        )
    )


def contexts_of(example: Example, n_dropped: int) -> list[str]:
    """What the choices follow: one text for all, or one for each.

    Raises:
        ValueError: there are no choices.
    """
    if not example.choices:
        raise ValueError(
            f"Example {example.example_id} of {example.benchmark!r} has no choices; expected at least one. "
            "Use response='generation' for open answers."
        )
    return [raw_text(example, last, n_dropped) for last in example.stems or (example.prompt,)]


def continuations_of(example: Example) -> tuple[str, ...]:
    """The text of each choice whose likelihood counts."""
    return example.continuations or example.choices


def pairs_of(example: Example, contexts: Sequence[AnswerText]) -> list[tuple[AnswerText, str]]:
    """The counted context of each choice, and what follows it."""
    texts = continuations_of(example)
    return list(zip(contexts if example.stems else [contexts[0]] * len(texts), texts, strict=True))


def measure(asker: Asker, groups: Sequence[Sequence[tuple[AnswerText, str]]]) -> list[list[AnswerText]]:
    """Each text after its context; a context that could not be counted stands for what follows it."""
    flat = [pair for group in groups for pair in group]
    there = [pair for pair in flat if pair[0].is_there]
    found = iter(asker.ask([measured(f"{c.prompt} {text}", skip=c.n_prompt_tokens) for c, text in there]))
    answers = iter([next(found) if context.is_there else context for context, _ in flat])
    return [[next(answers) for _ in group] for group in groups]


def chosen(
    model: str,
    example: Example,
    contexts: Sequence[AnswerText],
    after: Sequence[AnswerText],
    alone: Sequence[AnswerText],
    n_cut_tokens: int = 0,
) -> Completion:
    """The choice with the highest log-likelihood, and all of them; or why there are none."""
    trouble: Stop | None = next((answer.stop for answer in (*after, *alone) if not answer.is_there), None)
    logprobs, sizes = tuple(map(_total, after)), tuple(len(answer.logprobs) for answer in after)
    ranked = [-math.inf if math.isnan(value) else value for value in logprobs]
    return Completion(
        model=model,
        benchmark=example.benchmark,
        example_id=example.example_id,
        text="" if trouble else example.choices[ranked.index(max(ranked))],
        choice_logprobs=() if trouble else logprobs,
        unconditional_logprobs=() if trouble else tuple(map(_total, alone)),
        choice_tokens=() if trouble else sizes,
        stop=trouble or "choice",
        n_prompt_tokens=contexts[0].n_prompt_tokens,
        n_completion_tokens=0 if trouble else sum(sizes),
        rendered_prompt=contexts[0].prompt,
        n_cut_tokens=0 if trouble else n_cut_tokens,
    )


def _total(answer: AnswerText) -> float:
    """Sum over the tokens; NaN where a choice has none of its own, having melted into its context."""
    return sum(answer.logprobs) if answer.logprobs else math.nan
