"""How an example is put to a server: as a conversation, as raw text, or as a text to be measured.

Chat: the system prompt, worked examples as turns, the question. Raw: worked examples and the
question with blank lines between them; an answer follows its question after a space, as in
`inference`.

*Why a begun answer (`opening`) is an assistant message first and an instruction second:* only
the former is what a model in memory gets. Servers go on with a last assistant message by
themselves (llama.cpp, Anthropic, Mistral, Ollama) or when told (vLLM, SGLang:
`continue_final_message`, sent along). One that refuses, as OpenAI does, is asked in words to
begin so. What was really sent is in `rendered_prompt`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cg_pipeline.protocols import Generation
from cg_pipeline.records import Example

Request = Mapping[str, Any]
"""Parameters of one request, without the model."""

BETWEEN_SHOTS = "\n\n"
_INSTRUCTION = "\n\nBegin your answer with these words: {opening}"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One request to come, as it is known by."""

    chat: bool
    """Whether it goes to `/chat/completions`; otherwise to `/completions`."""
    build: Callable[[frozenset[str]], Request]
    """The request, without the parameters that the server has refused."""
    sample: int = 0
    purpose: Literal["answer", "count", "measure"] = "answer"
    """To have it answered, to learn how many tokens the text has, or how likely its last ones are."""
    skip: int = 0
    """Tokens of a measured text that come before what counts."""
    shown: str = ""
    """What is recorded as sent, where a text is counted without the white space it ends in."""

    @property
    def identity(self) -> dict[str, Any]:
        """What an answer is kept under, besides the model."""
        request = dict(self.build(frozenset()))
        place = {"purpose": self.purpose, "sample": self.sample, "skip": self.skip, "shown": self.shown}
        return {"request": request, **place}


def chat_question(
    example: Example, how: Generation, *, system_prompt: str, sample: int, n_dropped: int = 0
) -> Question:
    """A conversation that ends with the example's question, or with the first words of its answer."""

    def build(refused: frozenset[str]) -> Request:
        begun = how.opening if "continue_final_message" not in refused else ""
        asked = "" if begun or not how.opening else _INSTRUCTION.format(opening=how.opening)
        messages = [
            *([_turn("system", system_prompt)] if system_prompt else []),
            *_turns(example.shots[2 * n_dropped :]),
            _turn("user", example.prompt + asked),
            *([_turn("assistant", begun)] if begun else []),
        ]
        going_on = {"continue_final_message": True, "add_generation_prompt": False} if begun else {}
        return {"messages": messages, **_without(refused, {**_drawn(how, sample), **going_on})}

    return Question(chat=True, build=build, sample=sample)


def raw_question(example: Example, how: Generation, *, sample: int, n_dropped: int = 0) -> Question:
    """Raw text that ends with the example's question, or with the first words of its answer."""
    text = raw_text(example, example.prompt, n_dropped) + (f" {how.opening}" if how.opening else "")

    def build(refused: frozenset[str]) -> Request:
        return {"prompt": text, **_without(refused, _drawn(how, sample))}

    return Question(chat=False, build=build, sample=sample)


def measured(text: str, skip: int) -> Question:
    """A text to be echoed with the log-probability of each of its tokens."""
    request = {"prompt": text, "max_tokens": 1, "temperature": 0.0, "echo": True, "logprobs": 1}
    return Question(chat=False, build=lambda refused: request, purpose="measure", skip=skip)


def counted(text: str) -> Question:
    """A context whose tokens are to be counted: the cheapest request that tells.

    White space at its end is left to what follows it, as it is for a model in memory.
    """
    request = {"prompt": text.rstrip(), "max_tokens": 1, "temperature": 0.0}
    return Question(chat=False, build=lambda refused: request, purpose="count", shown=text)


def raw_text(example: Example, last: str, n_dropped: int = 0) -> str:
    """The worked examples, each a question and after a space its answer, then the last text."""
    shots = example.shots[2 * n_dropped :]
    worked = [f"{asked} {answer}" for asked, answer in zip(shots[::2], shots[1::2], strict=True)]
    return BETWEEN_SHOTS.join([*worked, last])


def rendered(request: Request) -> str:
    """What a model is given, for the record: raw text, or the messages as JSON."""
    if "prompt" in request:
        return str(request["prompt"])
    return json.dumps(request["messages"], ensure_ascii=False)


def _turns(shots: tuple[str, ...]) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [_turn(roles[place % 2], text) for place, text in enumerate(shots)]


def _turn(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _drawn(how: Generation, sample: int) -> dict[str, Any]:
    """Sampling parameters; each sample has a seed of its own, for a server may know no `n`."""
    random = {"top_p": how.top_p, "seed": how.seed + sample} if how.temperature else {}
    stop = {"stop": list(how.stop)} if how.stop else {}
    return {"max_tokens": how.max_new_tokens, "temperature": how.temperature, **random, **stop}


def _without(refused: frozenset[str], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are not refused; `max_completion_tokens` stands in for `max_tokens`."""
    kept = {name: value for name, value in parameters.items() if name not in refused}
    if "max_tokens" in refused and "max_completion_tokens" not in refused:
        kept["max_completion_tokens"] = parameters["max_tokens"]
    return kept
