"""What is put to a model for one example: token ids before the answer, and ids to score after them.

Raw text: an answer goes on after one space, and is encoded together with what it follows,
as lm-evaluation-harness does (`_encode_pair`: white space at the end of the context counts
as the continuation's). In a chat the answer is the assistant's: it starts its turn.

Why a choice that brings a text of its own (`Example.stems`: a filled blank, one of two sentences)
is raw text for a chat model, too: the example's prompt holds what is to be rated, or all of the
sentences, so that after it a likelihood measures copying. Partial evaluation is of raw text where
it comes from (Trinh and Le 2018) and in lm-evaluation-harness, which shows no text but the stem;
with its chat template the stem would be a user's message, of which the assistant says the rest.

A prompt that leaves no room is left out or cut, as the model's spec says; which of the two,
and by how much, is told, never silent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jaxtyping import Bool, Int

from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import Continued, n_shared
from cg_pipeline.inference.prompts import RenderedPrompt, plain_ids, render_prompt
from cg_pipeline.records import Example

_Render = Callable[[str], RenderedPrompt]


@dataclass(frozen=True)
class ExampleInput:
    """One example as its model is given it."""

    prompt: Int[np.ndarray, " seq"]
    """What every answer follows."""
    texts: tuple[Continued, ...]
    """A text to score for each choice; empty for an open answer."""
    fits: bool
    """Whether it is short enough; otherwise it is not put to the model."""
    n_cut_tokens: int
    """Tokens that the prompt lost so as to fit."""


@dataclass(frozen=True)
class _Draft:
    """Something to score before anything is cut."""

    context: Int[np.ndarray, " seq"]
    own: Bool[np.ndarray, " seq"]
    """Tokens of the context that are the example's own text: what may be cut."""
    continuation: Int[np.ndarray, " _"]


def choice_input(model: LoadedModel, example: Example) -> ExampleInput:
    """The example with a text to score for each of its choices.

    Raises:
        ValueError: it has no choices, or a continuation without a token.
    """
    if not example.choices:
        raise ValueError(
            f"Example {example.example_id} of {example.benchmark!r} has no choices; expected at least "
            "one. Use response='generation' for open answers."
        )
    answers = example.continuations or example.choices
    befores = example.stems or (example.prompt,) * len(answers)
    given = as_asked(model, example)

    def draft(shots: Sequence[str]) -> list[_Draft]:
        render = _renderer(given, shots)
        return [_draft(given, render, *pair) for pair in zip(befores, answers, strict=True)]

    found = _fitted(given, example, draft, 0)
    if not all(len(text.continuation) for text in found.texts):
        raise ValueError(
            f"Example {example.example_id} of {example.benchmark!r} has continuations {answers!r}, one of "
            "them without a token; expected text to score. Correct the benchmark's prompt format."
        )
    return found


def open_input(model: LoadedModel, example: Example, opening: str, max_new_tokens: int) -> ExampleInput:
    """The example with the first words of its answer, and room for the rest."""

    def draft(shots: Sequence[str]) -> list[_Draft]:
        render = _renderer(model, shots)
        if opening and not model.spec.chat:
            begun = _raw_draft(model, render, example.prompt, opening)
        else:
            prompt = render(example.prompt)
            words = plain_ids(model.tokenizer, opening) if opening else np.zeros(0, np.int64)
            begun = _Draft(prompt.input_ids, prompt.content_mask, words)
        return [_joined(begun)]

    found = _fitted(model, example, draft, max_new_tokens)
    return replace(found, texts=())


def neutral_text(model: LoadedModel, neutral: str, answer: str) -> Continued:
    """An answer after a neutral prompt, without shots or stem."""
    draft = _draft(model, _renderer(model, ()), neutral, answer)
    return Continued(draft.context, draft.continuation)


def as_asked(model: LoadedModel, example: Example) -> LoadedModel:
    """The model as the choices are put to it: without chat template where they bring their own texts."""
    return replace(model, spec=replace(model.spec, chat=False)) if example.stems else model


def _renderer(model: LoadedModel, shots: Sequence[str]) -> _Render:
    """Prompts of one example, each rendered once."""
    return cache(lambda text: render_prompt(model.tokenizer, model.spec, text, shots))


def _draft(model: LoadedModel, render: _Render, before: str, answer: str) -> _Draft:
    """An answer to be scored after what comes before it."""
    if not model.spec.chat:
        return _raw_draft(model, render, before, answer)
    prompt = render(before)
    return _Draft(prompt.input_ids, prompt.content_mask, plain_ids(model.tokenizer, answer))


def _raw_draft(model: LoadedModel, render: _Render, before: str, answer: str) -> _Draft:
    """Context and answer encoded together, parted where the context by itself ends."""
    whole = render(f"{before} {answer}" if before else answer)
    alone = render(before.rstrip())
    end = n_shared(whole.input_ids, alone.input_ids)
    draft = _Draft(whole.input_ids[:end], whole.content_mask[:end], whole.input_ids[end:])
    return draft if end else _led(model, draft)


def _led(model: LoadedModel, draft: _Draft) -> _Draft:
    """Something must come first for the first token to be predicted: the BOS, else what ends a text."""
    tokenizer = model.tokenizer
    token = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    return _Draft(np.array([token], np.int64), np.zeros(1, bool), draft.continuation)


def _joined(draft: _Draft) -> _Draft:
    """The continuation made part of the context."""
    return _Draft(
        np.concatenate([draft.context, draft.continuation]),
        np.concatenate([draft.own, np.zeros(len(draft.continuation), bool)]),
        draft.continuation[:0],
    )


def _fitted(
    model: LoadedModel, example: Example, draft: Callable[[Sequence[str]], list[_Draft]], room: int
) -> ExampleInput:
    """The example whole if it fits; else cut as the spec allows; else marked as one that does not fit."""
    whole = draft(example.shots)
    excess = _excess(whole, model.spec.max_tokens - room)
    if excess <= 0 or model.spec.overlong == "exclude":
        return _input(whole, whole, fits=excess <= 0)
    for start in range(2, len(example.shots) + 1, 2):
        shorter = draft(example.shots[start:])
        if _excess(shorter, model.spec.max_tokens - room) <= 0:
            return _input(whole, shorter, fits=True)
    bare = draft(())
    excess = _excess(bare, model.spec.max_tokens - room)
    if any(each.own.sum() <= excess for each in bare):
        return _input(whole, whole, fits=False)
    return _input(whole, [_beheaded(each, excess) for each in bare], fits=True)


def _excess(drafts: Sequence[_Draft], limit: int) -> int:
    return max(len(each.context) + len(each.continuation) for each in drafts) - limit


def _beheaded(draft: _Draft, n_tokens: int) -> _Draft:
    """The draft without the first tokens of the example's own text."""
    kept = ~draft.own | (np.cumsum(draft.own) > n_tokens)
    return _Draft(draft.context[kept], draft.own[kept], draft.continuation)


def _input(whole: Sequence[_Draft], used: Sequence[_Draft], *, fits: bool) -> ExampleInput:
    prompt = used[0].context
    for each in used[1:]:
        prompt = prompt[: n_shared(prompt, each.context)]
    texts = tuple(Continued(each.context, each.continuation) for each in used)
    return ExampleInput(prompt, texts, fits, len(whole[0].context) - len(used[0].context))
