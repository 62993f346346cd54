"""A language model behind an OpenAI-compatible server, as a model that answers examples.

Its address and name are in its spec; its key is in the environment, under a name that the spec gives.

Generation goes through chat completions for a chat model and through raw completions for
others; likelihoods of choices as `likelihoods` says.

What differs from a model in memory: the server's own limit decides what does not fit, since its
tokenizer is not here, so `Model.max_tokens` is for the record; with `overlong="truncate"`
worked examples are dropped one by one, and a question that is too long by itself is still an
overflow. `prompt_token_ids` is empty, and `n_cut_tokens` counts words.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import SecretStr

from cg_pipeline.llm.asking import Asker
from cg_pipeline.llm.endpoint import Endpoint, Settings
from cg_pipeline.llm.likelihoods import (
    check_measures,
    chosen,
    contexts_of,
    continuations_of,
    measure,
    pairs_of,
)
from cg_pipeline.llm.questions import Question, chat_question, counted, raw_question
from cg_pipeline.llm.replies import AnswerText
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Completion, Example
from cg_pipeline.specs import Model, ServedModel

_ENDED = re.compile(r"(?:\w|[:;!?)\]}=]|(?<!\d)[.,])\Z")
"""First words after which a blank belongs, which many servers drop: not "3.", nor an open bracket."""
_ATTACHED = re.compile(r"[\s.,;:!?)\]}%'’]")
"""What needs no blank before it."""


def key_of(model: Model, served: ServedModel) -> str:
    """The key of a model's server, out of the environment; empty where none is wanted.

    Raises:
        ValueError: the variable that should hold it is not set.
    """
    variable = served.api_key_variable
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise ValueError(
            f"Model {model.name!r} wants its key in the environment variable {variable}, which is not set; "
            f"expected a bearer token. Set {variable}."
        )
    return key


def endpoint_of(
    model: Model,
    served: ServedModel,
    prices: Sequence[float] | None,
    *,
    timeout_s: float,
    max_retries: int,
    max_wait_s: float,
) -> Endpoint:
    """Where a model is and what it costs; `prices` are per million tokens, sent and answered.

    Raises:
        ValueError: the variable that should hold its key is not set, or a setting cannot be used.
    """
    variable, key = served.api_key_variable, key_of(model, served)
    if prices is not None and (len(prices) != 2 or min(prices) < 0):
        raise ValueError(
            f"prices of model {model.name!r} are {list(prices)}; expected two numbers of at least 0, "
            "per million tokens sent and answered."
        )
    own = f"of model {model.name!r}"
    return Endpoint(
        base_url=served.base_url.rstrip("/"),
        model=served.model,
        api_key=SecretStr(key) if key else None,
        timeout_s=timeout_s,
        max_retries=max_retries,
        max_wait_s=max_wait_s,
        input_price=prices[0] if prices else None,
        output_price=prices[1] if prices else None,
        settings=Settings(
            address=f"base_url {own}",
            model=f"the name at the server {own}",
            key=variable or f"api_key_variable {own}",
        ),
    )


@dataclass
class ServedLanguageModel:
    """`protocols.TextGenerator` for a `specs.ServedModel`."""

    spec: Model
    asker: Asker
    _can_measure: bool = field(default=False, init=False)

    def generate(self, examples: Sequence[Example], how: Generation) -> list[Completion]:
        """Answers in the order of the examples, samples side by side; each begins with `how.opening`."""
        n_samples = how.n_samples if how.temperature else 1

        def questions(example: Example, n_dropped: int) -> list[Question]:
            return [self._question(example, how, sample, n_dropped) for sample in range(n_samples)]

        return [
            self._generated(example, answer, how, sample, n_dropped)
            for example, (answers, n_dropped) in zip(examples, self._ask(examples, questions), strict=True)
            for sample, answer in enumerate(answers)
        ]

    def choose(self, examples: Sequence[Example], unconditional: str = "") -> list[Completion]:
        """Log-likelihood of every choice, in the order of the examples; ties go to the first choice.

        Raises:
            ValueError: the model is a chat model, the server gives no log-likelihoods, or an example has
                no choices.
        """
        if not self._can_measure:  # asked once
            check_measures(self.asker, self.spec)
            self._can_measure = True
        asked = self._ask(examples, lambda example, n: [counted(text) for text in contexts_of(example, n)])
        contexts = [found for found, _ in asked]
        pairs = [pairs_of(example, found) for example, found in zip(examples, contexts, strict=True)]
        after = measure(self.asker, pairs)
        alone: list[list[AnswerText]] = [[] for _ in examples]
        if unconditional:
            [neutral] = self.asker.ask([counted(unconditional)])
            alone = measure(self.asker, [[(neutral, text) for text in continuations_of(e)] for e in examples])
        name = self.spec.name
        lost = [_words_of(e.shots[: 2 * n]) for e, (_, n) in zip(examples, asked, strict=True)]
        return [chosen(name, e, contexts[i], after[i], alone[i], lost[i]) for i, e in enumerate(examples)]

    def _question(self, example: Example, how: Generation, sample: int, n_dropped: int) -> Question:
        if not self.spec.chat:
            return raw_question(example, how, sample=sample, n_dropped=n_dropped)
        system = self.spec.system_prompt
        return chat_question(example, how, system_prompt=system, sample=sample, n_dropped=n_dropped)

    def _ask(
        self, examples: Sequence[Example], questions: Callable[[Example, int], list[Question]]
    ) -> list[tuple[list[AnswerText], int]]:
        """Answers to each example's questions, and how many worked examples they had to do without."""
        answers: dict[int, tuple[list[AnswerText], int]] = {}
        todo, n_dropped = list(range(len(examples))), 0
        while todo:
            asked = [questions(examples[i], n_dropped) for i in todo]
            found = iter(self.asker.ask([question for group in asked for question in group]))
            for i, group in zip(todo, asked, strict=True):
                answers[i] = ([next(found) for _ in group], n_dropped)
            n_dropped += 1
            todo = [i for i in todo if self._may_shorten(examples[i], n_dropped, answers[i][0])]
        return [answers[i] for i in range(len(examples))]

    def _may_shorten(self, example: Example, n_dropped: int, answers: Sequence[AnswerText]) -> bool:
        too_long = any(answer.stop == "overflow" for answer in answers)
        return too_long and self.spec.overlong == "truncate" and 2 * n_dropped <= len(example.shots)

    def _generated(
        self, example: Example, answer: AnswerText, how: Generation, sample: int, n_dropped: int
    ) -> Completion:
        whole = _begun(how.opening, answer.text) if answer.is_there else answer.text
        text = _cut(whole, how.stop, len(how.opening))
        return Completion(
            model=self.spec.name,
            benchmark=example.benchmark,
            example_id=example.example_id,
            sample=sample,
            text=text,
            stop=answer.stop if text == whole else "end",
            n_prompt_tokens=answer.n_prompt_tokens,
            n_completion_tokens=answer.n_completion_tokens,
            rendered_prompt=answer.prompt,
            n_cut_tokens=_words_of(example.shots[: 2 * n_dropped]) if answer.is_there else 0,
        )


def _words_of(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _begun(opening: str, text: str) -> str:
    """The answer from its first words on, whether the server repeated them, and kept the space, or not."""
    if opening and text.lstrip().startswith(opening):
        return text.lstrip()
    apart = _ENDED.search(opening) and text and not _ATTACHED.match(text)
    return f"{opening} {text}" if apart else opening + text


def _cut(text: str, stops: Sequence[str], start: int) -> str:
    """The text before the first stop, should the server not have stopped there."""
    places = [place for stop in stops if (place := text.find(stop, start)) >= 0]
    return text[: min(places)] if places else text
