"""vLLM's engine behind our prompts and records; where vLLM is absent, a stand-in of the same shape.

The stand-in computes with a tiny model what the engine would, so that the answers and likelihoods
must equal those of `LanguageModel`. Nothing here shows how fast or exact vLLM itself is.
"""

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from cg_pipeline.inference.generation import stop_ids
from cg_pipeline.inference.language_model import LanguageModel
from cg_pipeline.inference.vllm_engine import VllmLanguageModel, load_vllm_model
from cg_pipeline.protocols import Generation, TextGenerator
from cg_pipeline.records import Example
from cg_pipeline.specs import LocalWeights, Model, ServedModel
from tests.fakes import tiny_loaded_model

MODEL = tiny_loaded_model()


@dataclass
class SamplingParams:
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    max_tokens: int = 16
    stop: list[str] = field(default_factory=list)
    stop_token_ids: list[int] = field(default_factory=list)
    prompt_logprobs: int | None = None


@dataclass
class Engine:
    """Greedy answers and prompt log-probabilities, one request at a time."""

    asked: list[Any] = field(default_factory=list)

    def generate(self, prompts, settings, use_tqdm):
        self.asked.extend(settings)
        return [
            self._answer(each["prompt_token_ids"], how) for each, how in zip(prompts, settings, strict=True)
        ]

    @torch.no_grad()
    def _answer(self, ids: list[int], how: SamplingParams):
        logprobs = MODEL.module(torch.tensor([ids])).logits[0].log_softmax(-1)
        rows = [None, *({t: SimpleNamespace(logprob=float(logprobs[i, t]))} for i, t in enumerate(ids[1:]))]
        written, stops, reason = list[int](), set(stop_ids(MODEL)), "length"
        while len(written) < how.max_tokens and reason == "length":
            written.append(int(MODEL.module(torch.tensor([ids + written])).logits[0, -1].argmax()))
            reason = "stop" if written[-1] in stops else "length"
        text = MODEL.tokenizer.decode(written, skip_special_tokens=True)
        output = SimpleNamespace(text=text, token_ids=written, finish_reason=reason, stop_reason=None)
        return SimpleNamespace(outputs=[output], prompt_logprobs=rows if how.prompt_logprobs == 0 else None)


@pytest.fixture
def vllm(monkeypatch) -> ModuleType:
    module = ModuleType("vllm")
    module.SamplingParams = SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    return module


def example(prompt: str, *choices: str, **fields) -> Example:
    targets = choices[:1] or ("x",)
    standard = {"benchmark": "b", "category": "c", "cluster": "", "prompt": prompt}
    return Example(**standard, choices=choices, targets=targets, **fields)


def test_likelihoods_are_those_of_the_model_in_memory(vllm):
    examples = [example("What is two plus three?", "five", "the cat", "5"), example("Hi", "a", "b")]
    expected = LanguageModel(MODEL).choose(examples, unconditional="Answer")
    found = VllmLanguageModel(MODEL, Engine()).choose(examples, unconditional="Answer")
    for own, other in zip(found, expected, strict=True):
        assert own.choice_logprobs == pytest.approx(other.choice_logprobs, abs=1e-4)
        assert own.unconditional_logprobs == pytest.approx(other.unconditional_logprobs, abs=1e-4)
        assert (own.text, own.choice_tokens, own.prompt_token_ids) == (
            other.text,
            other.choice_tokens,
            other.prompt_token_ids,
        )


def test_answers_are_those_of_the_model_in_memory(vllm):
    examples = [example("What is two plus three?"), example("The capital of France is")]
    how = Generation(max_new_tokens=6, opening="It is")
    assert VllmLanguageModel(MODEL, Engine()).generate(examples, how) == LanguageModel(MODEL).generate(
        examples, how
    )


def test_each_sample_has_a_seed_of_its_own_and_the_same_one_again(vllm):
    how = Generation(max_new_tokens=3, n_samples=2, temperature=0.7, top_p=0.9, seed=1, stop=("\n",))
    seeds = []
    for _ in range(2):
        engine = Engine()
        VllmLanguageModel(MODEL, engine).generate([example("a"), example("b")], how)
        seeds.append([settings.seed for settings in engine.asked])
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 4
    assert (engine.asked[0].stop, engine.asked[0].top_p, engine.asked[0].max_tokens) == (["\n"], 0.9, 3)


def test_it_reports_and_stays_what_it_is(vllm):
    told: list[tuple[int, int]] = []
    model = VllmLanguageModel(MODEL, Engine()).reporting_to(lambda *done: told.append(done))
    assert isinstance(model, VllmLanguageModel)
    assert isinstance(model, TextGenerator)
    model.choose([example("Hi", "a", "b"), example("Ho", "a", "b")])
    assert sum(n for n, _ in told) == 2


def test_what_does_not_fit_is_not_asked(vllm):
    engine = Engine()
    [found] = VllmLanguageModel(MODEL, engine).choose([example("word " * 600, "a", "b")])
    assert (found.stop, engine.asked) == ("overflow", [])


def test_without_vllm_one_sentence_says_what_to_install(monkeypatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"needs the package vllm, which is not installed\. Install"
    ):
        load_vllm_model(MODEL.spec, cache_dir=tmp_path, data_dir=tmp_path, memory_share=0.5)


def served() -> Model:
    return Model(
        name="api",
        title="t",
        weights=ServedModel(base_url="http://h/v1", model="m"),
        licence="l",
        chat=True,
        max_tokens=8,
        reader="r",
    )


def test_a_served_model_has_no_weights(tmp_path: Path):
    with pytest.raises(ValueError, match="'api' is served at http://h/v1; expected weights to load"):
        load_vllm_model(served(), cache_dir=tmp_path, data_dir=tmp_path, memory_share=0.5)


def test_an_engine_is_started_on_the_models_files(vllm, tmp_path: Path):
    directory = tmp_path / "models" / "tiny"
    MODEL.module.save_pretrained(directory)
    MODEL.tokenizer.save_pretrained(directory)
    started: dict[str, Any] = {}

    class Starting(Engine):
        def __init__(self, **settings: Any) -> None:
            super().__init__()
            started.update(settings)

        def get_tokenizer(self):
            return MODEL.tokenizer

    vllm.LLM = Starting
    assert isinstance(MODEL.spec.weights, LocalWeights)
    model = load_vllm_model(MODEL.spec, cache_dir=tmp_path, data_dir=tmp_path, memory_share=0.5)
    assert (started["model"], started["max_model_len"]) == (str(directory), MODEL.spec.max_tokens + 1)
    assert (started["gpu_memory_utilization"], started["trust_remote_code"]) == (0.5, False)
    [found] = model.choose([example("Hi", "a", "b")])
    assert all(math.isfinite(value) for value in found.choice_logprobs)
