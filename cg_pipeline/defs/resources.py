"""What assets are given: places, devices, servers, the study, and who names, judges and runs programs.

Only speed and place are configured here (data directory, device, batch size, lock
timeout); what changes results is in the catalogue's specs. What is chosen here and changes
results all the same (the engine, who names, judges and runs programs) counts in their fingerprints.
"""

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import dagster as dg
from pydantic import Field

from cg_pipeline.identity import DEFAULT_ENGINE
from cg_pipeline.llm.endpoint import Endpoint, judge_endpoint
from cg_pipeline.specs import Model, Sae, ServedModel
from cg_pipeline.store.layout import Layout, slug
from cg_pipeline.store.shards import ShardStore
from cg_pipeline.store.warehouse import Warehouse

if TYPE_CHECKING:
    from cg_pipeline.inference.encoder import SaeEncoder
    from cg_pipeline.inference.language_model import LanguageModel
    from cg_pipeline.inference.models import LoadedModel
    from cg_pipeline.llm.judging import LlmJudge
    from cg_pipeline.llm.naming import LlmNamer
    from cg_pipeline.llm.served import ServedLanguageModel
    from cg_pipeline.processes.sandbox import Sandbox
    from cg_pipeline.progress import Advance


_DEVICES = "auto, cuda, cuda:N, mps or cpu"
_ON_A_CPU = {"choice": 256, "generation": 64, "reading": 256}
_ON_A_GPU = {"choice": 4096, "generation": 512, "reading": 2048}


class Store(dg.ConfigurableResource):
    """The data directory: warehouse, shards, benchmark files and reports."""

    data_dir: str
    benchmarks_dir: str = ""
    """Directory of benchmark files in normal form, preferred to the hub; empty for none."""
    lock_timeout_s: float = 600.0

    @property
    def layout(self) -> Layout:
        """Every path below the data directory."""
        return Layout(Path(self.data_dir))

    @property
    def warehouse(self) -> Warehouse:
        """The tables."""
        return Warehouse(self.layout, self.lock_timeout_s)

    @property
    def shards(self) -> ShardStore:
        """Arrays, and work that is not finished."""
        return ShardStore(self.layout.shards)


class Gpu(dg.ConfigurableResource):
    """The device that models run on, and how much goes through it at once."""

    device: str = Field(default="auto", pattern=r"^(auto|cuda(:\d+)?|mps|cpu)$", description=_DEVICES)
    batch_tokens: int = Field(default=4096, ge=1)
    """Padded tokens of one forward pass; on a GPU of the first, which shows how many more fit."""
    engine: Literal["transformers", "vllm"] = DEFAULT_ENGINE
    """What runs models that answer; vllm where it is installed."""
    vllm_memory_share: float = Field(default=0.8, gt=0, le=1)
    """Share of the device's memory that vLLM takes; the reader SAE has to fit into the rest."""
    store: dg.ResourceDependency[Store]

    def language_model(self, model: Model, advance: "Advance") -> "LanguageModel":
        """The model, ready to answer; loaded once per process. `advance` is told how far it is."""
        if self.engine == "vllm":
            loaded = _vllm_model(model, self.store.layout, self.vllm_memory_share)
        else:
            loaded = _language_model(model, self.store.layout, self.device, self.batch_tokens)
        return loaded.reporting_to(advance)

    def examples_at_once(self, work: Literal["choice", "generation", "reading"]) -> int:
        """Examples answered, or read for concepts, and kept at a time: what an interruption can lose.

        *Why these:* likelihoods are packed and batched within a shard: with 256 examples a CPU reads 2
        to 11 % fewer tokens than with 32, padding included, and a GPU is kept busy by thousands. Texts
        take a CPU long, so fewer are at stake; a GPU and vLLM write hundreds side by side. Of the
        tokens of 256 texts read for concepts, 5 % are padding on a CPU; of 64, 6 %.
        """
        from cg_pipeline.inference.devices import resolve_device

        large = self.engine == "vllm" or resolve_device(self.device).type == "cuda"
        return (_ON_A_GPU if large else _ON_A_CPU)[work]

    def encoder(self, sae: Sae) -> "SaeEncoder":
        """The SAE on its model, ready to read; loaded once per process."""
        return _encoder(sae, self.store.layout, self.device, self.batch_tokens)


class Servers(dg.ConfigurableResource):
    """How models behind a server are asked: how many questions at once, how patiently, at what price."""

    concurrency: int = Field(default=8, ge=1, le=1024)
    """Requests under way at once, to one model."""
    timeout_s: float = Field(default=120.0, gt=0, le=86400, allow_inf_nan=False)
    """Longest wait for one answer."""
    max_retries: int = Field(default=6, ge=0)
    """Tries after the first one, with growing waits, for faults that waiting may cure."""
    max_wait_s: float = Field(default=120.0, ge=0, le=86400, allow_inf_nan=False)
    """Longest wait before a retry; a server that asks for more is given up."""
    prices: dict[str, list[float]] = Field(default_factory=dict[str, list[float]])
    """For each model of the catalogue: price per million prompt tokens, and per million answer tokens."""
    store: dg.ResourceDependency[Store]

    def language_model(self, model: Model, report: Callable[[str], None]) -> "ServedLanguageModel":
        """The model, ready to be asked; nothing of it is loaded. `report` is told how far it is.

        Raises:
            ValueError: the environment variable of its key is not set, or its address is none.
        """
        from cg_pipeline.llm.asking import Asker
        from cg_pipeline.llm.served import ServedLanguageModel, endpoint_of

        if not isinstance(model.weights, ServedModel):
            raise TypeError(f"Model {model.name!r} has weights to load; expected one behind a server.")
        patience = {
            "timeout_s": self.timeout_s,
            "max_retries": self.max_retries,
            "max_wait_s": self.max_wait_s,
        }
        asker = Asker(
            endpoint_of(model, model.weights, self.prices.get(model.name), **patience),
            self.store.layout.cache / "answers" / slug(model.name),
            identity={
                "version": str(model.version),
                "revision": model.weights.revision,
                **({"sampling": "own"} if model.weights.own_sampling else {}),
            },
            concurrency=self.concurrency,
            own_sampling=model.weights.own_sampling,
            report=report,
        )
        return ServedLanguageModel(model, asker)


class Namer(dg.ConfigurableResource):
    """Who names clusters: the language model of the CG_LLM_* environment variables, or nobody."""

    store: dg.ResourceDependency[Store]

    def load(self) -> "LlmNamer | None":
        """The namer, or None when no endpoint is set."""
        from cg_pipeline.llm.chat import ChatModel
        from cg_pipeline.llm.naming import LlmNamer

        endpoint = Endpoint.from_environment()
        return None if endpoint is None else LlmNamer(ChatModel(endpoint, self.store.layout.cache / "llm"))

    @property
    def source(self) -> str:
        """Who will be recorded as the source of names."""
        endpoint = Endpoint.from_environment()
        return endpoint.source if endpoint else "automatic"


class Judging(dg.ConfigurableResource):
    """Who judges answers: the model of the CG_JUDGE_* variables, else of the CG_LLM_* ones, or nobody."""

    at_once: int = Field(default=8, ge=1)
    """Questions under way at a time; changes no verdict."""
    store: dg.ResourceDependency[Store]

    def load(self) -> "LlmJudge | None":
        """The judge, or None when no endpoint is set."""
        from cg_pipeline.llm.chat import ChatModel
        from cg_pipeline.llm.judging import LlmJudge

        endpoint = judge_endpoint()
        return None if endpoint is None else LlmJudge(ChatModel(endpoint, self.store.layout.cache / "llm"))

    @property
    def source(self) -> str:
        """Who will be recorded as the source of verdicts."""
        endpoint = judge_endpoint()
        return endpoint.source if endpoint else "none"

    @property
    def identity(self) -> str:
        """What scores depend on: who judges, and how it is asked."""
        if judge_endpoint() is None:
            return "none"
        from cg_pipeline.llm.judging import way_of_asking

        return f"{self.source}, asked {way_of_asking()}"


class CodeSandbox(dg.ConfigurableResource):
    """What runs programs that models wrote: a sandbox if CG_ALLOW_CODE says so, or else nothing."""

    at_once: int = Field(default=2, ge=1)
    """Programs running at a time. It makes none fail: processor time counts, not time on the clock."""

    def load(self) -> "Sandbox | None":
        """The sandbox, or None when running code is not allowed."""
        from cg_pipeline.processes.sandbox import Sandbox

        allowed = os.environ.get("CG_ALLOW_CODE", "").strip()
        if allowed not in ("", "0", "1", "unisolated"):
            raise ValueError(
                f"CG_ALLOW_CODE is {allowed!r}; expected 1 to run the programs that models write, isolated, "
                "'unisolated' to run them also where that is impossible, or 0. Set one of these."
            )
        return None if allowed in ("", "0") else Sandbox(isolate=allowed == "1")

    @property
    def source(self) -> str:
        """What will be recorded as having run programs."""
        return sandbox.source if (sandbox := self.load()) else "none"


@lru_cache(maxsize=2)
def _language_model(model: Model, layout: Layout, device: str, batch_tokens: int) -> "LanguageModel":
    from cg_pipeline.inference.language_model import LanguageModel

    return LanguageModel(_loaded(model, layout, device), batch_tokens=batch_tokens)


@lru_cache(maxsize=1)
def _vllm_model(model: Model, layout: Layout, memory_share: float) -> "LanguageModel":
    from cg_pipeline.inference.vllm_engine import load_vllm_model

    return load_vllm_model(model, cache_dir=layout.cache, data_dir=layout.data_dir, memory_share=memory_share)


@lru_cache(maxsize=2)
def _encoder(sae: Sae, layout: Layout, device: str, batch_tokens: int) -> "SaeEncoder":
    from cg_pipeline.inference.encoder import SaeEncoder
    from cg_pipeline.inference.pickled_files import check_pickled

    check_pickled(sae)  # before its model is fetched
    where, reader = layout.data_dir, _loaded(sae.model, layout, device)
    return SaeEncoder(sae, reader, data_dir=where, batch_tokens=batch_tokens)


@lru_cache(maxsize=2)
def _loaded(model: Model, layout: Layout, device: str) -> "LoadedModel":
    from cg_pipeline.inference.models import load_model

    return load_model(model, cache_dir=layout.cache, data_dir=layout.data_dir, device=device)
