"""What a model is given for an example, against texts put together by hand."""

from dataclasses import replace

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.inference.example_inputs import ExampleInput, choice_input, neutral_text, open_input
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.items import Item
from cg_pipeline.llm.likelihoods import contexts_of
from cg_pipeline.pipeline import pose
from cg_pipeline.records import Example
from tests.fakes import tiny_loaded_model

SHOTS = ("What is two?", "The dog", "Is it five?", "yes")
ASSISTANT = "<|im_end|>\n<|im_start|>assistant\n"
USER = "<|im_end|>\n<|im_start|>user\n"
SYSTEM = "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n"

raw_or_chat = pytest.mark.parametrize(
    "model",
    [tiny_loaded_model(chat=False), tiny_loaded_model(chat=False, adds_bos=True), tiny_loaded_model()],
    ids=["raw", "bos", "chat"],
)


def example(prompt: str = "The cat sat", **fields: tuple[str, ...]) -> Example:
    choices = {"choices": ("a dog", "the park"), "targets": ("a dog",)}
    return Example(benchmark="quiz", category="any", cluster="", prompt=prompt, **{**choices, **fields})


def limited(model: LoadedModel, max_tokens: int) -> LoadedModel:
    return replace(model, spec=replace(model.spec, max_tokens=max_tokens, overlong="truncate"))


def shown(model: LoadedModel, asked: ExampleInput) -> list[tuple[str, str]]:
    """Context and continuation of each text, as text."""
    decode = model.tokenizer.decode
    return [(decode(text.context), decode(text.continuation)) for text in asked.texts]


def model_text(asked: ExampleInput) -> str:
    """What comes before every answer, as text."""
    return str(tiny_loaded_model().tokenizer.decode(asked.prompt))


def before(model: LoadedModel) -> str:
    return "<s>" if model.tokenizer("a")["input_ids"][0] == 3 else ""


@raw_or_chat
def test_choices_follow_the_prompt(model: LoadedModel) -> None:
    asked = choice_input(model, example())
    head = f"{SYSTEM}The cat sat{ASSISTANT}" if model.spec.chat else f"{before(model)}The cat sat"
    space = "" if model.spec.chat else " "

    assert shown(model, asked) == [(head, f"{space}a dog"), (head, f"{space}the park")]
    assert model.tokenizer.decode(asked.prompt) == head
    assert (asked.fits, asked.n_cut_tokens) == (True, 0)


@raw_or_chat
def test_continuations_stand_in_for_choices(model: LoadedModel) -> None:
    asked = choice_input(model, example(continuations=("A", "B")))

    assert [continuation.strip() for _, continuation in shown(model, asked)] == ["A", "B"]


@raw_or_chat
def test_each_choice_follows_its_stem(model: LoadedModel) -> None:
    asked = choice_input(
        model, example("x _ y", stems=("The cat", "The dog on"), continuations=("sat.",) * 2)
    )
    head = before(model)  # no chat template around it, and nothing of the prompt before it

    assert shown(model, asked) == [(f"{head}The cat", " sat."), (f"{head}The dog on", " sat.")]
    assert model.tokenizer.decode(asked.prompt) == f"{head}The"


PAIR = BENCHMARKS["crows_pairs"].to_item(
    {
        "sent_more": "The cat sat on the mat.",
        "sent_less": "The dog sat on the mat.",
        "stereo_antistereo": "stereo",
        "bias_type": "age",
    }
)
BLANK = Item(question="The dog ran to the park: the _ sat.", choices=("cat", "dog"), answers=("dog",))


@pytest.mark.parametrize("adds_bos", [False, True])
@pytest.mark.parametrize(("name", "item"), [("crows_pairs", PAIR), ("winogrande", BLANK)])
def test_a_chat_model_is_not_shown_what_is_rated(name: str, item: Item, adds_bos: bool) -> None:
    """After a message with both sentences, or with the blank and what follows it, it would only copy."""
    chatting, plain = (tiny_loaded_model(chat=chat, adds_bos=adds_bos) for chat in (True, False))
    posed = pose(BENCHMARKS[name], item)

    asked, expected = choice_input(chatting, posed), choice_input(plain, posed)

    assert shown(chatting, asked) == shown(plain, expected)
    for text in asked.texts:
        whole = chatting.tokenizer.decode(np.concatenate([text.context, text.continuation]))
        assert whole.count(posed.continuations[0]) == 1
        assert "<|im_start|>" not in whole
        assert text.context.tolist().count(3) == adds_bos  # one BOS where the tokenizer adds it
    assert asked.prompt.tolist() == expected.prompt.tolist()


@pytest.mark.parametrize("adds_bos", [False, True])
def test_a_server_is_sent_the_same_texts(adds_bos: bool) -> None:
    """Whatever its tokenizer puts before a text by itself, what it measures is what is measured here."""
    model = tiny_loaded_model(adds_bos=adds_bos)
    posed = replace(pose(BENCHMARKS["crows_pairs"], PAIR), shots=SHOTS)
    sent = [
        f"{before} {text}" for before, text in zip(contexts_of(posed, 0), posed.continuations, strict=True)
    ]

    for text, whole in zip(choice_input(model, posed).texts, sent, strict=True):
        ids = np.concatenate([text.context, text.continuation]).tolist()
        assert ids == model.tokenizer(whole)["input_ids"]


def test_a_prompt_that_all_choices_follow_stays_in_the_chat() -> None:
    asked = choice_input(tiny_loaded_model(), example(continuations=("A", "B")))

    assert model_text(asked).startswith(f"{SYSTEM}The cat sat{ASSISTANT}")


def test_only_texts_that_choices_bring_are_cut_as_raw_text() -> None:
    """What a chat model's limit leaves of one is the end of its own text."""
    whole = choice_input(tiny_loaded_model(), pose(BENCHMARKS["crows_pairs"], PAIR))
    room = max(len(text.context) + len(text.continuation) for text in whole.texts) - 1

    cut = choice_input(limited(tiny_loaded_model(), room), pose(BENCHMARKS["crows_pairs"], PAIR))

    assert (cut.fits, cut.n_cut_tokens) == (True, 1)
    assert [text.continuation.tolist() for text in cut.texts] == [
        text.continuation.tolist() for text in whole.texts
    ]


@raw_or_chat
def test_worked_examples_come_first(model: LoadedModel) -> None:
    asked = choice_input(model, example(shots=SHOTS))
    if model.spec.chat:
        turns = (f"{each}{mark}" for each, mark in zip(SHOTS, (ASSISTANT, USER) * 2, strict=True))
        head = f"{SYSTEM}{''.join(turns)}The cat sat{ASSISTANT}"
    else:
        head = f"{before(model)}What is two? The dog\n\nIs it five? yes\n\nThe cat sat"

    assert {context for context, _ in shown(model, asked)} == {head}
    assert model.tokenizer.decode(open_input(model, example(shots=SHOTS), "", 5).prompt) == head


def test_raw_context_and_continuation_are_encoded_together() -> None:
    """White space at the end of the context counts as the continuation's; ids are those of the whole."""
    model = tiny_loaded_model(chat=False, adds_bos=True)

    for prompt in ("The cat sat", "The cat sat ", "The cat\n"):
        for text, choice in zip(
            choice_input(model, example(prompt)).texts, ("a dog", "the park"), strict=True
        ):
            whole = np.concatenate([text.context, text.continuation]).tolist()
            assert whole == model.tokenizer(f"{prompt} {choice}")["input_ids"]
            assert text.context.tolist() == model.tokenizer(prompt.rstrip())["input_ids"]


def merging_tokenizer() -> PreTrainedTokenizerFast:
    """One whose tokens run across spaces."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(["the cat sat", "the cat sat on", "a dog"], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="!", eos_token="#")


def test_a_merge_across_the_border_loses_no_character() -> None:
    """A token may lie on both sides of the border; then it is scored as a whole."""
    model = replace(tiny_loaded_model(chat=False), tokenizer=merging_tokenizer())
    assert len(model.tokenizer("the cat sat")["input_ids"]) == 1

    asked = choice_input(model, example("a dog. the", choices=("cat sat", "cat"), targets=("cat",)))

    for (context, continuation), choice in zip(shown(model, asked), ("cat sat", "cat"), strict=True):
        assert context + continuation == f"a dog. the {choice}"
        assert continuation.endswith(choice)
    assert len(asked.texts[0].continuation) >= 1


def test_an_empty_stem_follows_the_token_that_begins_a_text() -> None:
    texts = choice_input(tiny_loaded_model(chat=False), example(stems=("", ""))).texts

    assert [text.context.tolist() for text in texts] == [[3], [3]]
    model = tiny_loaded_model(chat=False, adds_bos=True)
    assert [text.context.tolist() for text in choice_input(model, example(stems=("", ""))).texts] == [
        [3],
        [3],
    ]


@raw_or_chat
def test_an_opening_is_part_of_the_prompt(model: LoadedModel) -> None:
    shorter, longer = (open_input(model, example(), opening, 5) for opening in ("", "The dog"))
    space = "" if model.spec.chat else " "

    assert model.tokenizer.decode(longer.prompt) == model.tokenizer.decode(shorter.prompt) + f"{space}The dog"


@raw_or_chat
def test_a_neutral_text_has_the_neutral_prompt_before_it(model: LoadedModel) -> None:
    text = neutral_text(model, "Answer:", "yes")
    head = f"{SYSTEM}Answer:{ASSISTANT}" if model.spec.chat else f"{before(model)}Answer:"

    assert model.tokenizer.decode(text.context) == head
    assert model.tokenizer.decode(text.continuation).strip() == "yes"


@raw_or_chat
def test_worked_examples_are_dropped_from_the_first_on(model: LoadedModel) -> None:
    item = example(shots=SHOTS)
    whole = choice_input(model, item)
    [shorter] = {len(choice_input(model, example(shots=SHOTS[2:])).prompt)}
    longest = max(len(text.context) + len(text.continuation) for text in whole.texts)

    cut = choice_input(limited(model, longest - 1), item)

    assert cut.fits
    assert cut.prompt.tolist() == choice_input(model, example(shots=SHOTS[2:])).prompt.tolist()
    assert cut.n_cut_tokens == len(whole.prompt) - shorter > 0


@raw_or_chat
@pytest.mark.parametrize("n_cut", [1, 3])
def test_then_the_start_of_the_text_is_cut(model: LoadedModel, n_cut: int) -> None:
    """The template and the BOS stay; every text is cut alike."""
    bare, item = example("The cat sat on the mat"), example("The cat sat on the mat", shots=SHOTS)
    whole, longest = choice_input(model, item), choice_input(model, bare)
    room = max(len(text.context) + len(text.continuation) for text in longest.texts) - n_cut

    cut = choice_input(limited(model, room), item)

    assert max(len(text.context) + len(text.continuation) for text in cut.texts) == room
    assert cut.n_cut_tokens == len(whole.prompt) - len(longest.prompt) + n_cut
    shown_whole, shown_cut = (model.tokenizer.decode(each.prompt) for each in (longest, cut))
    assert shown_cut.endswith(f"the mat{ASSISTANT}" if model.spec.chat else "the mat")
    assert shown_cut.startswith(SYSTEM if model.spec.chat else before(model))
    assert len(shown_cut) < len(shown_whole)


@raw_or_chat
def test_what_cannot_be_cut_does_not_fit(model: LoadedModel) -> None:
    small = limited(model, 6)

    asked = choice_input(small, example("Hi", choices=("the dog ran to the park", "yes"), targets=("yes",)))

    assert (asked.fits, asked.n_cut_tokens) == (False, 0)
    assert not open_input(small, example("Hi"), "", 6).fits


def test_nothing_is_cut_unless_the_spec_says_so() -> None:
    model = tiny_loaded_model(chat=False, max_tokens=10)
    asked = choice_input(model, example("cat " * 20, shots=SHOTS))

    assert (asked.fits, asked.n_cut_tokens) == (False, 0)
    assert len(asked.prompt) > 10


def test_a_continuation_without_a_token_is_named() -> None:
    item = example(continuations=("", "yes"))

    with pytest.raises(ValueError, match=f"Example {item.example_id} of 'quiz' has continuations"):
        choice_input(tiny_loaded_model(), item)
