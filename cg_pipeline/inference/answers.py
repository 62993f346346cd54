"""The record of what a model did with an example, made of what it was given and what came out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from transformers import PreTrainedTokenizerBase

from cg_pipeline.inference.example_inputs import ExampleInput
from cg_pipeline.inference.generation import Answer
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Completion, Example


def generated(
    model: LoadedModel, example: Example, asked: ExampleInput, sample: int, how: Generation, answer: Answer
) -> Completion:
    """A text that was written."""
    return Completion(
        sample=sample,
        text=how.opening + answer.text,
        stop="end" if answer.ended else "length",
        n_completion_tokens=answer.n_tokens,
        **_given(model, example, asked),
    )


def chosen(
    model: LoadedModel,
    example: Example,
    asked: ExampleInput,
    logprobs: tuple[float, ...],
    neutral: Mapping[tuple[str, bool], float],
) -> Completion:
    """The choice of the highest likelihood.

    `neutral` holds likelihoods after the neutral prompt: of a text, in a chat or raw (with a stem).
    """
    sizes = tuple(len(text.continuation) for text in asked.texts)
    scored = example.continuations or example.choices
    return Completion(
        text=example.choices[int(np.argmax(logprobs))],
        choice_logprobs=logprobs,
        unconditional_logprobs=tuple(neutral[text, bool(example.stems)] for text in scored)
        if neutral
        else (),
        choice_tokens=sizes,
        stop="choice",
        n_completion_tokens=sum(sizes),
        **_given(model, example, asked),
    )


def overflown(model: LoadedModel, example: Example, asked: ExampleInput, sample: int = 0) -> Completion:
    """No answer, since the prompt is too long."""
    given = _given(model, example, asked)
    return Completion(sample=sample, text="", stop="overflow", n_completion_tokens=0, **given)


def _given(model: LoadedModel, example: Example, asked: ExampleInput) -> dict[str, Any]:
    return {
        "model": model.spec.name,
        "benchmark": example.benchmark,
        "example_id": example.example_id,
        "n_prompt_tokens": len(asked.prompt),
        "rendered_prompt": _shown(model.tokenizer, asked),
        "prompt_token_ids": tuple(asked.prompt.tolist()),
        "n_cut_tokens": asked.n_cut_tokens,
    }


def _shown(tokenizer: PreTrainedTokenizerBase, asked: ExampleInput) -> str:
    text = tokenizer.decode(asked.prompt, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    return str(text).replace("\0", "\ufffd")  # no database keeps NUL
