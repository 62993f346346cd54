"""Answers and likelihoods, against one plain forward pass per question."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from cg_pipeline.inference import language_model
from cg_pipeline.inference.language_model import LanguageModel
from cg_pipeline.inference.likelihood import text_logprobs
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import PackedRow
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
    if model.spec.chat:
        prompt = render_prompt(model.tokenizer, model.spec, item.prompt).input_ids.tolist()
        whole = prompt + model.tokenizer(choice, add_special_tokens=False)["input_ids"]
    else:
        prompt = model.tokenizer(item.prompt.rstrip())["input_ids"]
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


def test_each_example_is_read_once() -> None:
    """One forward pass, a row to each example; those with a quarter in common share theirs."""
    model = tiny_loaded_model(chat=False)
    twins = [example(f"{'cat ' * 30}{end}", "yes", "no") for end in ("one", "two")]

    with counted_forwards(model) as rows:
        LanguageModel(model).choose(choice_examples())
        LanguageModel(model).choose(twins)

    assert rows == [4, 1]


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


def plain_logprob(model: LoadedModel, context: str, continuation: str) -> float:
    """log p(continuation | context) from one plain forward pass; the texts hold their special tokens."""
    ids = [model.tokenizer(text, add_special_tokens=False)["input_ids"] for text in (context, continuation)]
    logprobs = model.module(torch.tensor([ids[0] + ids[1]])).logits[0].log_softmax(-1)
    return sum(logprobs[len(ids[0]) + i - 1, token].item() for i, token in enumerate(ids[1]))


SHOTS = ("What is two?", "The dog", "Is it five?", "yes")
CHAT_SHOTS = (
    "<|im_start|>system\n<|im_end|>\n<|im_start|>user\nWhat is two?<|im_end|>\n"
    "<|im_start|>assistant\nThe dog<|im_end|>\n"
    "<|im_start|>user\nIs it five?<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n"
    "<|im_start|>user\nThe cat<|im_end|>\n<|im_start|>assistant\n"
)  # fmt: skip
RAW_SHOTS = "What is two? The dog\n\nIs it five? yes\n\n"

everywhere = pytest.mark.parametrize("architecture", ARCHITECTURES)
rendered_as = pytest.mark.parametrize(("chat", "bos"), [(True, False), (False, True), (False, False)])


@everywhere
@rendered_as
def test_shots_stems_and_continuations_score_as_plain_text(
    architecture: Architecture, chat: bool, bos: bool
) -> None:
    """Each text is put together by hand and read by itself, in one forward pass without mask or cache."""
    model = tiny_loaded_model(architecture, chat=chat, adds_bos=bos)
    fields = {"choices": ("cat", "dog"), "targets": ("dog",), "shots": SHOTS}
    fixed = {"benchmark": "quiz", "category": "any", "cluster": "", "prompt": "The cat", **fields}
    lettered = Example(**fixed, continuations=("A", "B"))  # pyright: ignore[reportArgumentType]
    filled = Example(**fixed, stems=("The cat", "The big dog"), continuations=("sat.", "sat."))  # pyright: ignore[reportArgumentType]
    start = CHAT_SHOTS if chat else ("<s>" if bos else "") + RAW_SHOTS

    by_letter, by_stem = LanguageModel(model).choose([lettered, filled])

    context, space = (start, "") if chat else (f"{start}The cat", " ")
    expected = [plain_logprob(model, context, f"{space}{letter}") for letter in "AB"]
    assert by_letter.choice_logprobs == pytest.approx(expected, abs=1e-4)
    start = ("<s>" if bos else "") + RAW_SHOTS  # of a chat model, too
    expected = [plain_logprob(model, f"{start}{stem}", " sat.") for stem in ("The cat", "The big dog")]
    assert by_stem.choice_logprobs == pytest.approx(expected, abs=1e-4)
    assert by_stem.text in ("cat", "dog")
    assert by_stem.rendered_prompt == f"{start}The"
    assert by_stem.prompt_token_ids == tuple(
        model.tokenizer(f"{start}The", add_special_tokens=False)["input_ids"]
    )
    assert by_letter.rendered_prompt == context
    assert by_letter.prompt_token_ids == tuple(
        model.tokenizer(context, add_special_tokens=False)["input_ids"]
    )
    assert by_letter.n_prompt_tokens == len(by_letter.prompt_token_ids)


@rendered_as
def test_unconditional_likelihoods_follow_the_neutral_prompt_alone(chat: bool, bos: bool) -> None:
    model = tiny_loaded_model(chat=chat, adds_bos=bos)
    items = choice_examples()
    neutral = [replace_prompt(item, "Answer:") for item in items]

    with_neutral, without = LanguageModel(model).choose(items, "Answer:"), LanguageModel(model).choose(items)
    alone = LanguageModel(model).choose(neutral)

    for found, plain, expected in zip(with_neutral, without, alone, strict=True):
        assert found.choice_logprobs == pytest.approx(plain.choice_logprobs, abs=1e-4)
        assert found.unconditional_logprobs == pytest.approx(expected.choice_logprobs, abs=1e-4)
        assert plain.unconditional_logprobs == ()


@pytest.mark.parametrize("bos", [False, True])
def test_a_neutral_prompt_goes_without_template_where_the_texts_do(bos: bool) -> None:
    """The same text may follow a stem in one example, and the chat's prompt in another."""
    chatting, plain = (LanguageModel(tiny_loaded_model(chat=chat, adds_bos=bos)) for chat in (True, False))
    asked = example("The cat", "sat.", "ran.")
    filled = replace(asked, stems=("The cat", "The dog"))

    in_chat, raw = chatting.choose([asked, filled], "Answer:")

    assert in_chat.unconditional_logprobs == pytest.approx(
        chatting.choose([asked], "Answer:")[0].unconditional_logprobs, abs=1e-4
    )
    [expected] = plain.choose([filled], "Answer:")
    assert raw.unconditional_logprobs == pytest.approx(expected.unconditional_logprobs, abs=1e-4)
    assert raw.choice_logprobs == pytest.approx(expected.choice_logprobs, abs=1e-4)
    assert (raw.rendered_prompt, raw.prompt_token_ids) == (
        expected.rendered_prompt,
        expected.prompt_token_ids,
    )
    assert in_chat.unconditional_logprobs != pytest.approx(raw.unconditional_logprobs, abs=1e-4)


def replace_prompt(item: Example, prompt: str) -> Example:
    return example(prompt, *item.choices)


def test_equal_continuations_are_read_once_after_the_neutral_prompt() -> None:
    model = tiny_loaded_model(chat=False)
    items = [example(f"Is it {n}?", "yes it is", "no it is") for n in range(5)]

    with counted_forwards(model) as rows:
        LanguageModel(model).choose(items, "Answer:")

    assert rows[-1] == 1  # both texts in the one row of the last pass


@everywhere
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_an_answer_ends_before_a_stop_text(architecture: Architecture, temperature: float) -> None:
    """The same answer as without, cut; and no row is fed once it has ended."""
    model = tiny_loaded_model(architecture)
    free = Generation(max_new_tokens=24, temperature=temperature, seed=3)
    whole = LanguageModel(model).generate(open_examples(), free)
    stop = tuple(answer.text[len(answer.text) // 2 :][:3] for answer in whole)

    with counted_forwards(model) as rows:
        cut = LanguageModel(model).generate(open_examples(), replace(free, stop=stop))

    for answer, full in zip(cut, whole, strict=True):
        places = [place for text in stop if (place := full.text.find(text)) >= 0]
        assert answer.text == full.text[: min(places)]
        assert answer.stop == "end"
        assert answer.n_completion_tokens <= full.n_completion_tokens
    assert len(rows) < 24


def test_a_stop_text_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="stop texts are \\('',\\), one of them empty"):
        LanguageModel(tiny_loaded_model()).generate(open_examples(), Generation(max_new_tokens=5, stop=("",)))


SAMPLED = Generation(max_new_tokens=8, n_samples=3, temperature=1.0, top_p=0.9, seed=7)


@everywhere
def test_samples_depend_on_nothing_but_example_sample_and_seed(architecture: Architecture) -> None:
    model = tiny_loaded_model(architecture)
    items = open_examples()
    together = LanguageModel(model).generate(items, SAMPLED)

    one_by_one = LanguageModel(model, batch_tokens=1).generate(items, SAMPLED)
    turned = LanguageModel(model).generate(items[::-1], SAMPLED)
    fewer = LanguageModel(model).generate(items, replace(SAMPLED, n_samples=2))
    other = LanguageModel(model).generate(items, replace(SAMPLED, seed=8))

    assert [(done.example_id, done.sample) for done in together] == [
        (item.example_id, sample) for item in items for sample in range(3)
    ]
    assert_same(together, one_by_one)
    assert {(d.example_id, d.sample): d.text for d in turned} == {
        (d.example_id, d.sample): d.text for d in together
    }
    assert [d.text for d in fewer] == [d.text for d in together if d.sample < 2]
    assert [d.text for d in other] != [d.text for d in together]
    assert len({done.text for done in together[:3]}) > 1


def test_a_greedy_answer_is_one() -> None:
    greedy = replace(SAMPLED, temperature=0.0)

    assert [done.sample for done in LanguageModel(tiny_loaded_model()).generate(open_examples(), greedy)] == [
        0
    ] * 4


def test_samples_read_their_prompt_once() -> None:
    model = tiny_loaded_model()

    with counted_forwards(model) as rows:
        LanguageModel(model).generate(open_examples()[:1], SAMPLED)

    assert rows[:2] == [1, 3]


@everywhere
@pytest.mark.parametrize("chat", [True, False])
def test_a_common_beginning_changes_no_answer(architecture: Architecture, chat: bool) -> None:
    """Worked examples shared by a batch are read once; each example alone has nothing to share."""
    model = tiny_loaded_model(architecture, chat=chat)
    items = [replace(item, shots=SHOTS * 2) for item in open_examples()]
    how = Generation(max_new_tokens=10)
    with counted_forwards(model) as rows:
        together = LanguageModel(model).generate(items, how)
    alone = [LanguageModel(model).generate([item], how)[0] for item in items]

    assert rows[:2] == [1, 4]
    assert_same(together, alone)


def test_truncation_is_told() -> None:
    """F9: cut by policy and counted, never silent."""
    model = tiny_loaded_model(chat=False, max_tokens=30)
    spec = replace(model.spec, overlong="truncate")
    items = [example("cat " * 40, "yes", "no"), example("Hi", "yes", "no")]

    long, short = LanguageModel(replace(model, spec=spec)).choose(items)
    [written] = LanguageModel(replace(model, spec=spec)).generate(items[:1], Generation(max_new_tokens=10))

    assert long.stop == "choice"
    assert long.n_cut_tokens > 0
    assert long.n_prompt_tokens < 30
    assert written.n_cut_tokens > long.n_cut_tokens
    assert written.n_prompt_tokens == 20
    assert short.n_cut_tokens == 0


def test_running_out_of_memory_parts_a_row_of_many_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """F8: twins share a row until it does not fit; nothing is asked twice once it succeeded."""
    model = tiny_loaded_model(chat=False)
    twins = [example(f"{'cat ' * 30}{end}", "yes it is", "no") for end in ("one", "two", "three", "four")]
    expected = LanguageModel(model).choose(twins)

    def scarce(loaded: LoadedModel, rows: list[PackedRow]) -> list[tuple[float, ...]]:
        if sum(len(row.n_tokens) for row in rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return text_logprobs(loaded, rows)

    monkeypatch.setattr("cg_pipeline.inference.example_likelihood.text_logprobs", scarce)

    assert_same(LanguageModel(model).choose(twins), expected)


def test_an_example_that_fits_nowhere_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def scarce(_loaded: LoadedModel, _rows: list[PackedRow]) -> list[tuple[float, ...]]:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("cg_pipeline.inference.example_likelihood.text_logprobs", scarce)

    with pytest.raises(MemoryError, match="does not fit on the device by itself"):
        LanguageModel(tiny_loaded_model()).choose(choice_examples()[:1])


@pytest.mark.parametrize(("kept_bytes", "n_side_by_side"), [(2**31, 4), (1, 1)])
def test_answers_written_side_by_side_are_bounded_by_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, kept_bytes: int, n_side_by_side: int
) -> None:
    """Room to read one such prompt with its answer: as many are written as keys and values leave room for."""
    monkeypatch.setattr(language_model, "_KEPT_BYTES", kept_bytes)
    seen: list[int] = []
    write = language_model.generate_answers

    def watched(model, drafts, how, count_tokens):
        seen.append(len(drafts))
        return write(model, drafts, how, count_tokens)

    monkeypatch.setattr(language_model, "generate_answers", watched)
    model = LanguageModel(tiny_loaded_model(), batch_tokens=100)
    model.generate([example("Hi")] * 4, Generation(max_new_tokens=80))
    assert max(seen) == n_side_by_side


def test_whoever_watches_is_told_of_every_example() -> None:
    heard: list[tuple[int, int]] = []
    model = LanguageModel(tiny_loaded_model(max_tokens=200), batch_tokens=100).reporting_to(
        lambda n_examples, n_tokens: heard.append((n_examples, n_tokens))
    )

    model.choose([*choice_examples(), example("cat " * 300, "yes", "no")], "Answer:")
    chosen = sum(n for n, _ in heard)
    model.generate(open_examples(), SAMPLED)

    assert chosen == 5
    assert sum(n for n, _ in heard) == 9
    assert all(n_tokens >= 0 for _, n_tokens in heard)
    assert sum(n for _, n in heard) > 100
