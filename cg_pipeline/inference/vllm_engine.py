"""A language model run by vLLM in this process: the same prompts, records and rules, another engine.

An optional extra, `pip install 'cg-pipeline[vllm]'`. Only two things differ from `LanguageModel`: who
writes the answers, and who computes the likelihoods. Prompts are handed over as token ids, so no
template is applied twice, and the module kept here is a shell without weights.

*When not to use it:* for one small model, where starting the engine takes longer than the answers.
Sampled answers are reproducible within an engine, not between engines: each draws in its own way.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from cg_pipeline.inference.chat_templates import end_of_turn
from cg_pipeline.inference.example_inputs import ExampleInput
from cg_pipeline.inference.generation import Answer
from cg_pipeline.inference.gguf_conversion import converted_gguf
from cg_pipeline.inference.language_model import LanguageModel
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.packing import Continued
from cg_pipeline.progress import Advance, unwatched
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Example, content_id
from cg_pipeline.specs import HubWeights, LocalWeights, Model, PackagedGguf


class VllmLanguageModel(LanguageModel):
    """`protocols.TextGenerator` by vLLM's offline engine."""

    def __init__(self, shell: LoadedModel, engine: Any, *, advance: Advance = unwatched) -> None:
        """Wrap an engine; `shell` is the model's spec, tokenizer and configuration without weights."""
        super().__init__(shell, advance=advance)
        self._engine = engine

    def reporting_to(self, advance: Advance) -> "VllmLanguageModel":
        """The same model, telling somebody how it gets on."""
        return VllmLanguageModel(self._model, self._engine, advance=advance)

    def _answers(
        self,
        examples: Sequence[Example],
        asked: Sequence[ExampleInput],
        wanted: Sequence[tuple[int, int]],
        how: Generation,
    ) -> list[Answer]:
        settings = [self._sampling(examples[i], sample, how) for i, sample in wanted]
        found = self._run([asked[i].prompt.tolist() for i, _ in wanted], settings)
        for (i, sample), output in zip(wanted, found, strict=True):
            self._advance(int(sample == 0), len(asked[i].prompt) + len(output.outputs[0].token_ids))
        return [_answer(output.outputs[0]) for output in found]

    def _logprobs(self, texts: Sequence[Sequence[Continued]], advance: Advance) -> list[tuple[float, ...]]:
        flat = [text for group in texts for text in group]
        whole = [[*text.context.tolist(), *text.continuation.tolist()] for text in flat]
        measuring = _vllm().SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0)
        found = iter(self._run(whole, [measuring] * len(whole)))
        totals = []
        for group in texts:
            totals.append(tuple(_total(text, next(found)) for text in group))
            advance(1, sum(len(text.inputs) for text in group))
        return totals

    def _run(self, prompts: Sequence[list[int]], settings: Sequence[Any]) -> list[Any]:
        """What the engine makes of all prompts, in order; it batches them itself."""
        if not prompts:
            return []
        given = [{"prompt_token_ids": ids} for ids in prompts]
        return self._engine.generate(given, list(settings), use_tqdm=False)

    def _sampling(self, example: Example, sample: int, how: Generation) -> Any:
        turn = end_of_turn(self._model.tokenizer) if self._model.spec.chat else None
        return _vllm().SamplingParams(
            temperature=how.temperature,
            top_p=how.top_p,
            seed=int(content_id(example.example_id, sample, how.seed)[:7], 16),
            max_tokens=how.max_new_tokens,
            stop=list(how.stop),
            stop_token_ids=[] if turn is None else [turn],
        )


def load_vllm_model(
    model: Model, *, cache_dir: Path, data_dir: Path, memory_share: float
) -> VllmLanguageModel:
    """The model in a vLLM engine of its own.

    Args:
        model: what to load.
        cache_dir: where a packaged GGUF is converted once.
        data_dir: what a relative `LocalWeights` path is relative to.
        memory_share: share of the device's memory that the engine takes; a reader SAE needs some too.

    Raises:
        ModuleNotFoundError: vLLM is not installed.
        ValueError: the model is served elsewhere.
    """
    where, revision = _place(model, cache_dir, data_dir)
    engine = _vllm().LLM(
        model=where,
        revision=revision,
        tokenizer_revision=revision,
        dtype=model.dtype,
        max_model_len=model.max_tokens + 1,  # a measured text is followed by one token that nobody wants
        gpu_memory_utilization=memory_share,
        trust_remote_code=False,
        load_format="safetensors",
    )
    config = AutoConfig.from_pretrained(where, revision=revision, trust_remote_code=False)
    with torch.device("meta"):
        module = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    shell = LoadedModel(
        spec=model, module=module, tokenizer=engine.get_tokenizer(), device=torch.device("meta")
    )
    return VllmLanguageModel(shell, engine)


def _vllm() -> Any:
    try:
        import vllm  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Engine 'vllm' needs the package vllm, which is not installed. Install it with: "
            "pip install 'cg-pipeline[vllm]', or use engine 'transformers'."
        ) from None
    return vllm


def _place(model: Model, cache_dir: Path, data_dir: Path) -> tuple[str, str | None]:
    """A directory, or a repository of the hub and its revision."""
    weights = model.weights
    if isinstance(weights, HubWeights):
        return weights.repo, weights.revision
    if isinstance(weights, PackagedGguf):
        return str(converted_gguf(weights, cache_dir)), None
    if isinstance(weights, LocalWeights):
        return str(data_dir / weights.path), None
    raise ValueError(f"Model {model.name!r} is served at {weights.base_url}; expected weights to load.")


def _answer(output: Any) -> Answer:
    """What was written; the token that ends a turn is not counted, a stop text is no token."""
    ended = output.finish_reason == "stop"
    by_token = ended and not isinstance(output.stop_reason, str)
    text = output.text.replace("\0", "\ufffd")
    return Answer(text=text, n_tokens=len(output.token_ids) - by_token, ended=ended)


def _total(text: Continued, output: Any) -> float:
    """Sum of the log-probabilities of the continuation's tokens."""
    start = len(text.context)
    rows = output.prompt_logprobs[start : start + len(text.continuation)]
    ids = text.continuation.tolist()
    return float(sum(row[token].logprob for row, token in zip(rows, ids, strict=True)))
