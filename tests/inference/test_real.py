"""The embedded model and SAE themselves."""

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.gguf_conversion import converted_gguf, locate_gguf
from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.language_model import LanguageModel
from cg_pipeline.inference.models import LoadedModel, load_model
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.models.smollm2_135m import MODEL
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Example
from cg_pipeline.saes.smollm2_l12 import SAE
from cg_pipeline.specs import PackagedGguf
from tests.closeness import relative_distances

pytestmark = pytest.mark.real
DATA = Path(__file__).parents[2] / "data"
IDS = torch.tensor([[504, 3575, 282, 4649, 314]])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """SmolLM2, converted for this test run."""
    return load_model(MODEL, cache_dir=tmp_path_factory.mktemp("models"), data_dir=DATA)


@pytest.fixture(scope="module")
def prompts() -> list[str]:
    """A few rows of every benchmark that ships."""
    lines = [
        line
        for path in sorted((DATA / "suite").glob("*.jsonl"))
        for line in path.read_text().splitlines()[:3]
    ]
    return [" ".join(str(value) for value in json.loads(line).values()) for line in lines]


def test_the_converted_model_is_the_gguf(model: LoadedModel) -> None:
    assert isinstance(MODEL.weights, PackagedGguf)
    source = locate_gguf(MODEL.weights)
    original = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)

    torch.testing.assert_close(model.module(IDS).logits, original(IDS).logits, rtol=0, atol=0)


def test_it_knows_the_capital_of_france(model: LoadedModel) -> None:
    question = "What is the capital of France?"
    cities = ("Berlin", "Paris", "Madrid")
    example = Example(
        benchmark="b", category="c", cluster="", prompt=question, choices=cities, targets=("Paris",)
    )

    [chosen] = LanguageModel(model).choose([example])
    [written] = LanguageModel(model).generate([example], Generation(max_new_tokens=20))

    assert chosen.text == "Paris"
    assert "Paris" in written.text
    assert written.stop == "end"


def test_rendering_is_the_chat_template_with_an_empty_system_message(
    model: LoadedModel, prompts: list[str]
) -> None:
    """F21."""
    for text in [*prompts, "\n\n 12  x \n", "  é日本🦜"]:
        messages = [{"role": "system", "content": ""}, {"role": "user", "content": text}]
        expected = model.tokenizer.apply_chat_template(
            messages, add_generation_prompt=True, return_dict=False
        )
        assert render_prompt(model.tokenizer, MODEL, text).input_ids.tolist() == expected


def test_hidden_states_are_those_after_the_block(model: LoadedModel) -> None:
    """F23."""
    states = read_hidden_states(model.module, SAE.hookpoint, IDS, torch.ones_like(IDS))

    expected = model.module(IDS, output_hidden_states=True).hidden_states[13]
    torch.testing.assert_close(states, expected, rtol=1e-5, atol=1e-4)


def test_answers_do_not_depend_on_batching(model: LoadedModel, prompts: list[str]) -> None:
    """F6."""
    choices = ("yes", "no", "I do not know")
    examples = [
        Example(
            benchmark="b",
            category="c",
            cluster="",
            prompt=text,
            choices=choices,
            targets=("no",),
        )
        for text in prompts[:8]
    ]
    together, alone = LanguageModel(model), LanguageModel(model, batch_tokens=1)

    some, others = together.choose(examples), alone.choose(examples)
    found, expected = ([done.choice_logprobs for done in answers] for answers in (some, others))
    assert relative_distances(found, expected).max() <= 1e-4
    assert [done.text for done in some] == [done.text for done in others]
    how = Generation(max_new_tokens=12)
    assert [a.text for a in together.generate(examples, how)] == [
        a.text for a in alone.generate(examples, how)
    ]


def test_reading_does_not_depend_on_batching(model: LoadedModel, prompts: list[str]) -> None:
    """F6."""
    names = [str(i) for i in range(len(prompts))]
    together = SaeEncoder(SAE, model, data_dir=DATA).read(names, prompts).matrix().toarray()
    alone = SaeEncoder(SAE, model, data_dir=DATA, batch_tokens=1).read(names, prompts).matrix().toarray()

    assert relative_distances(alone, together).max() <= 1e-4


def test_the_dictionary_is_readable(model: LoadedModel, prompts: list[str]) -> None:
    concepts = SaeEncoder(SAE, model, data_dir=DATA).describe(prompts)

    assert len(concepts) == SAE.d_sae
    assert all(concept.label and concept.promoted_tokens for concept in concepts)
    shown = [text for concept in concepts for text in (concept.label, *concept.top_tokens, *concept.contexts)]
    assert not any(mark in text for text in shown for mark in ("Ġ", "Ċ", "\ufffd"))


def test_a_second_load_reads_the_copy(
    model: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(MODEL.weights, PackagedGguf)
    cache = Path(model.module.name_or_path).parent
    monkeypatch.setattr("sys.path", [])  # the package is not even looked for

    assert converted_gguf(MODEL.weights, cache) == Path(model.module.name_or_path)
