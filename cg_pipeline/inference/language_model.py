"""A language model that answers examples: greedy text, or the likelihood of each choice.

Nothing is ever cut: an example that does not fit into the model's `max_tokens` is not put
to the model at all, and its completion says `overflow`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from cg_pipeline.inference.batching import map_in_batches
from cg_pipeline.inference.generation import Answer, generate_greedily
from cg_pipeline.inference.likelihood import PackedChoices, choice_logprobs, pack_choices
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Completion, Example


class LanguageModel:
    """`protocols.TextGenerator` for a model in memory.

    Results do not depend on how examples are batched, up to floating-point noise.
    """

    def __init__(self, loaded: LoadedModel, *, batch_tokens: int = 8192) -> None:
        """Wrap a loaded model.

        Args:
            loaded: the model.
            batch_tokens: most tokens in memory at once, padding and answers included.

        Raises:
            ValueError: the spec's `max_tokens` is more than the model has positions for.
        """
        _check_context(loaded)
        self._model = loaded
        self._batch_tokens = batch_tokens

    def generate(self, examples: Sequence[Example], how: Generation) -> list[Completion]:
        """Greedy answers, in the order of the examples; `stop` is `length` for one cut at the limit.

        Every answer begins with `how.opening`, which is given to the model and part of the text.
        """
        max_new_tokens, opening = how.max_new_tokens, how.opening
        prompts = [self._opened(example.prompt, opening) for example in examples]
        fitting = [i for i, prompt in enumerate(prompts) if len(prompt) + max_new_tokens <= self._limit]

        def run(batch: list[int]) -> list[Answer]:
            return generate_greedily(self._model, [prompts[fitting[i]] for i in batch], max_new_tokens)

        lengths = [len(prompts[i]) + max_new_tokens for i in fitting]
        answers = dict(zip(fitting, map_in_batches(run, lengths, self._batch_tokens), strict=True))
        return [
            self._generated(example, len(prompts[i]), opening, answers[i])
            if i in answers
            else self._overflow(example, len(prompts[i]))
            for i, example in enumerate(examples)
        ]

    def choose(self, examples: Sequence[Example], unconditional: str = "") -> list[Completion]:
        """Log-likelihood of every choice, in the order of the examples; ties go to the first choice.

        Source: arXiv 2512.20638 does not say how choices are scored; this is the usual sum of
        log-probabilities over a choice's tokens [inferred].

        Raises:
            ValueError: an example has no choices.
        """
        _check_window(self._model)
        prompts = [self._prompt(example.prompt) for example in examples]
        choices = [
            self._choices(example, len(prompt)) for example, prompt in zip(examples, prompts, strict=True)
        ]
        fits = [
            len(prompt) + max(map(len, texts)) <= self._limit
            for prompt, texts in zip(prompts, choices, strict=True)
        ]
        rows = [pack_choices(p, c) for p, c, fit in zip(prompts, choices, fits, strict=True) if fit]
        scores = iter(self._score(rows))
        return [
            self._chosen(example, len(prompts[i]), tuple(map(len, choices[i])), next(scores))
            if fits[i]
            else self._overflow(example, len(prompts[i]))
            for i, example in enumerate(examples)
        ]

    @property
    def _limit(self) -> int:
        return self._model.spec.max_tokens

    def _prompt(self, text: str) -> Int[np.ndarray, " seq"]:
        return render_prompt(self._model.tokenizer, self._model.spec, text).input_ids

    def _opened(self, text: str, opening: str) -> Int[np.ndarray, " seq"]:
        prompt = self._prompt(text)
        if not opening:
            return prompt
        encode = self._chat_choice if self._model.spec.chat else self._raw_choice
        return np.concatenate([prompt, encode(text, opening, len(prompt))])

    def _choices(self, example: Example, n_prompt_tokens: int) -> list[Int[np.ndarray, " _"]]:
        """Token ids of each choice.

        Chat: the assistant's turn, so the choice alone, right after the generation prompt. Raw
        text: a space and the choice, encoded together with the prompt and split where the prompt ends.
        """
        if not example.choices:
            raise ValueError(
                f"Example {example.example_id} of {example.benchmark!r} has no choices; expected at least "
                "one. Use response='generation' for open answers."
            )
        encode = self._chat_choice if self._model.spec.chat else self._raw_choice
        return [encode(example.prompt, choice, n_prompt_tokens) for choice in example.choices]

    def _chat_choice(self, _prompt: str, choice: str, _n_prompt_tokens: int) -> Int[np.ndarray, " _"]:
        encoded: Any = self._model.tokenizer(choice, add_special_tokens=False, split_special_tokens=True)
        return np.asarray(encoded["input_ids"], np.int64)

    def _raw_choice(self, prompt: str, choice: str, n_prompt_tokens: int) -> Int[np.ndarray, " _"]:
        return self._prompt(f"{prompt} {choice}")[n_prompt_tokens:]

    def _score(self, rows: list[PackedChoices]) -> list[tuple[float, ...]]:
        return map_in_batches(
            lambda batch: choice_logprobs(self._model, [rows[i] for i in batch]),
            [len(row.input_ids) for row in rows],
            self._batch_tokens,
        )

    def _generated(self, example: Example, n_prompt_tokens: int, opening: str, answer: Answer) -> Completion:
        return Completion(
            model=self._model.spec.name,
            benchmark=example.benchmark,
            example_id=example.example_id,
            text=opening + answer.text,
            stop="end" if answer.ended else "length",
            n_prompt_tokens=n_prompt_tokens,
            n_completion_tokens=answer.n_tokens,
        )

    def _chosen(
        self, example: Example, n_prompt_tokens: int, sizes: tuple[int, ...], logprobs: tuple[float, ...]
    ) -> Completion:
        return Completion(
            model=self._model.spec.name,
            benchmark=example.benchmark,
            example_id=example.example_id,
            text=example.choices[int(np.argmax(logprobs))],
            choice_logprobs=logprobs,
            choice_tokens=sizes,
            stop="choice",
            n_prompt_tokens=n_prompt_tokens,
            n_completion_tokens=sum(sizes),
        )

    def _overflow(self, example: Example, n_prompt_tokens: int) -> Completion:
        return Completion(
            model=self._model.spec.name,
            benchmark=example.benchmark,
            example_id=example.example_id,
            text="",
            stop="overflow",
            n_prompt_tokens=n_prompt_tokens,
            n_completion_tokens=0,
        )


def _check_context(loaded: LoadedModel) -> None:
    positions = getattr(loaded.module.config.get_text_config(), "max_position_embeddings", None)
    if positions is not None and loaded.spec.max_tokens > positions:
        raise ValueError(
            f"Model {loaded.spec.name!r}: max_tokens is {loaded.spec.max_tokens}, but the model has "
            f"{positions} positions; expected at most that."
        )


def _check_window(loaded: LoadedModel) -> None:
    """Packed choices are masked by hand, without the sliding window of models that have one."""
    window = getattr(loaded.module.config.get_text_config(), "sliding_window", None)
    if window is not None and loaded.spec.max_tokens > window:
        raise ValueError(
            f"Model {loaded.spec.name!r}: max_tokens is {loaded.spec.max_tokens}, but its attention slides "
            f"over a window of {window} tokens; expected at most that for likelihoods. Lower max_tokens."
        )
