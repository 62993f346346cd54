"""Answers and likelihoods, against one plain forward pass per question."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from cg_pipeline.inference.language_model import LanguageModel
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.protocols import Generation, TextGenerator
from cg_pipeline.records import Completion, Example
from tests.fakes import Architecture, tiny_loaded_model

ARCHITECTURES: tuple[Architecture, ...] = ("llama", "gpt2", "gpt_neox")
QUESTIONS = (
    "What is two plus three?",
    "Hi",
    "The capital of France is the city of",
    "Is the cat on the mat? " * 4,
)


def example(prompt: str, *choices: str) -> Example:
    return Example(
        benchmark="quiz",
        category="any",
        cluster="",
        prompt=prompt,
        choices=choices,
        targets=choices[:1] or ("x",),
    )


def choice_examples() -> list[Example]:
    return [
        example(QUESTIONS[0], "five", "the answer is not five", "5", "a"),
        example(QUESTIONS[1], "Hello there, you", "H"),
        example(QUESTIONS[2], "Paris", "Tokyo", "the dog ran to the park and the cat sat"),
        example(QUESTIONS[3], "yes", "no"),
    ]


def open_examples() -> list[Example]:
    return [example(question) for question in QUESTIONS]


def naive_logprob(model: LoadedModel, item: Example, choice: str) -> float:
    """One choice, one row, no mask, every logit: the definition, written out."""
    prompt = render_prompt(model.tokenizer, model.spec, item.prompt).input_ids.tolist()
    if model.spec.chat:
        whole = prompt + model.tokenizer(choice, add_special_tokens=False)["input_ids"]
    else:
        whole = model.tokenizer(f"{item.prompt} {choice}")["input_ids"]
    logprobs = model.module(torch.tensor([whole])).logits[0].log_softmax(-1)
    return sum(logprobs[place - 1, whole[place]].item() for place in range(len(prompt), len(whole)))


def naive_answer(model: LoadedModel, item: Example, limit: int) -> str:
    """Argmax by argmax, the whole sequence anew for every token."""
    ids = render_prompt(model.tokenizer, model.spec, item.prompt).input_ids.tolist()
    start = len(ids)
    while len(ids) < start + limit:
        token = int(model.module(torch.tensor([ids])).logits[0, -1].argmax())
        if token == model.tokenizer.eos_token_id:
            break
        ids.append(token)
    return model.tokenizer.decode(ids[start:], skip_special_tokens=True)


@contextmanager
def counted_forwards(model: LoadedModel) -> Iterator[list[int]]:
    """Number of rows of every forward pass of the base model."""
    rows: list[int] = []
    handle = model.module.base_model.register_forward_pre_hook(
        lambda _module, _args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    yield rows
    handle.remove()


def assert_same(some: list[Completion], others: list[Completion]) -> None:
    for one, other in zip(some, others, strict=True):
        assert one.choice_logprobs == pytest.approx(other.choice_logprobs, abs=1e-4)
        assert replace(one, choice_logprobs=()) == replace(other, choice_logprobs=())


def test_it_is_a_text_generator() -> None:
    assert isinstance(LanguageModel(tiny_loaded_model()), TextGenerator)


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_packed_choices_score_as_each_alone(architecture: Architecture, chat: bool) -> None:
    model = tiny_loaded_model(architecture, chat=chat, adds_bos=not chat)
    items = choice_examples()

    for item, completion in zip(items, LanguageModel(model).choose(items), strict=True):
        expected = [naive_logprob(model, item, choice) for choice in item.choices]
        assert completion.choice_logprobs == pytest.approx(expected, abs=1e-4)
        assert completion.text == item.choices[expected.index(max(expected))]
        assert completion.n_completion_tokens == sum(completion.choice_tokens)
        assert completion.stop == "choice"


def test_each_example_is_one_row_of_one_forward_pass() -> None:
    model = tiny_loaded_model()

    with counted_forwards(model) as rows:
        LanguageModel(model).choose(choice_examples())

    assert rows == [len(choice_examples())]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_likelihoods_do_not_depend_on_batching_or_order(architecture: Architecture) -> None:
    """F6: batched equals unbatched, in any order."""
    model = tiny_loaded_model(architecture)
    items = choice_examples()
    shuffled = random.Random(0).sample(items, len(items))
    together = LanguageModel(model).choose(items)

    assert_same(together, LanguageModel(model, batch_tokens=1).choose(items))
    reordered = {done.example_id: done for done in LanguageModel(model).choose(shuffled)}
    assert_same(together, [reordered[item.example_id] for item in items])


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_greedy_text_is_argmax_after_argmax(architecture: Architecture, chat: bool) -> None:
    """F6: a batch padded on the left answers as each prompt alone does."""
    model = tiny_loaded_model(architecture, chat=chat)
    items = open_examples()

    answers = LanguageModel(model).generate(items, Generation(max_new_tokens=12))
    for item, completion in zip(items, answers, strict=True):
        assert completion.text == naive_answer(model, item, 12)


def test_generation_does_not_depend_on_batching_or_order() -> None:
    """F6."""
    model = tiny_loaded_model()
    items = open_examples()
    together = LanguageModel(model).generate(items, Generation(max_new_tokens=10))

    assert_same(together, LanguageModel(model, batch_tokens=1).generate(items, Generation(max_new_tokens=10)))
    assert_same(together, LanguageModel(model).generate(items[::-1], Generation(max_new_tokens=10))[::-1])


@pytest.mark.parametrize("chat", [True, False])
def test_an_answer_goes_on_from_its_opening(chat: bool) -> None:
    model = tiny_loaded_model(chat=chat)
    items = open_examples()
    free = LanguageModel(model).generate(items, Generation(max_new_tokens=12))
    opening = free[0].text[: len(free[0].text) // 2].rstrip() or "The"
    for completion in LanguageModel(model).generate(items, Generation(max_new_tokens=5, opening=opening)):
        assert completion.text.startswith(opening)
        assert completion.n_completion_tokens <= 5
    together = LanguageModel(model).generate(items, Generation(max_new_tokens=8, opening="The cat"))
    how = Generation(max_new_tokens=8, opening="The cat")
    assert_same(together, LanguageModel(model, batch_tokens=1).generate(items, how))
    assert together[0].n_prompt_tokens > free[0].n_prompt_tokens


def test_an_answer_stops_at_the_end_of_turn_and_is_cut_at_the_limit() -> None:
    model = tiny_loaded_model()
    [cut] = LanguageModel(model).generate(open_examples()[:1], Generation(max_new_tokens=6))
    ids = render_prompt(model.tokenizer, model.spec, QUESTIONS[0]).input_ids.tolist()
    [second] = model.module.generate(torch.tensor([ids]), max_new_tokens=2, do_sample=False)[:, -1].tolist()
    model.module.generation_config.eos_token_id = [2, second]  # now the second token ends a turn

    [ended] = LanguageModel(model).generate(open_examples()[:1], Generation(max_new_tokens=6))

    assert (cut.stop, cut.n_completion_tokens) == ("length", 6)
    assert (ended.stop, ended.n_completion_tokens) == ("end", 1)
    assert cut.text.startswith(ended.text)


def test_what_does_not_fit_is_not_put_to_the_model() -> None:
    """F9: flagged, never cut."""
    model = tiny_loaded_model(max_tokens=60)
    items = [example("cat " * 40, "yes", "no"), example("Hi", "yes", "no")]

    with counted_forwards(model) as rows:
        long, short = LanguageModel(model).choose(items)

    assert rows == [1]
    assert (long.stop, long.text, long.choice_logprobs, long.n_completion_tokens) == ("overflow", "", (), 0)
    assert long.n_prompt_tokens > 60
    assert short.stop == "choice"


def test_room_for_the_answer_counts() -> None:
    model = tiny_loaded_model(max_tokens=60)
    [prompt] = [render_prompt(model.tokenizer, model.spec, "Hi").input_ids]
    room = 60 - len(prompt)

    hows = [Generation(max_new_tokens=limit) for limit in (room, room + 1)]
    stops = [LanguageModel(model).generate([example("Hi")], how)[0].stop for how in hows]

    assert stops[0] in ("end", "length")
    assert stops[1] == "overflow"


def test_ties_go_to_the_first_choice() -> None:
    model = tiny_loaded_model()
    model.module.get_output_embeddings().weight.zero_()
    item = example("Hi", "a", "b", "c")

    assert LanguageModel(model).choose([item])[0].text == "a"


def test_hostile_choices_stay_text() -> None:
    [completion] = LanguageModel(tiny_loaded_model()).choose([example("Hi", "<|im_end|>", "no")])

    assert completion.choice_tokens[0] > 1


def test_nothing_in_nothing_out() -> None:
    """F4."""
    model = LanguageModel(tiny_loaded_model())

    assert model.choose([]) == []
    assert model.generate([], Generation(max_new_tokens=5)) == []


def test_an_example_without_choices_is_named() -> None:
    item = example("Hi")

    with pytest.raises(
        ValueError, match=f"Example {item.example_id} of 'quiz' has no choices; expected at least one"
    ):
        LanguageModel(tiny_loaded_model()).choose([item])


def test_more_tokens_than_positions_are_refused() -> None:
    with pytest.raises(ValueError, match="Model 'tiny': max_tokens is 513, but the model has 512 positions"):
        LanguageModel(tiny_loaded_model(max_tokens=513))


def test_a_sliding_window_shorter_than_the_context_is_refused() -> None:
    model = tiny_loaded_model()
    model.module.config.sliding_window = 100

    with pytest.raises(
        ValueError, match="attention slides over a window of 100 tokens; expected at most that"
    ):
        LanguageModel(model).choose(choice_examples())
