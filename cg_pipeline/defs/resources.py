"""What assets are given: the warehouse, shards, the device, the study, the namer, the judge, the sandbox.

Only speed and place are configured here (data directory, device, batch size, lock
timeout); everything that changes results is in the catalogue's specs.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from cg_pipeline.catalog import lookup
from cg_pipeline.llm.endpoint import Endpoint, judge_endpoint
from cg_pipeline.specs import Model, Sae, Study
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.shards import ShardStore
from cg_pipeline.store.warehouse import Warehouse
from cg_pipeline.studies import STUDIES

if TYPE_CHECKING:
    from cg_pipeline.inference.encoder import SaeEncoder
    from cg_pipeline.inference.language_model import LanguageModel
    from cg_pipeline.inference.models import LoadedModel
    from cg_pipeline.llm.judging import LlmJudge
    from cg_pipeline.llm.naming import LlmNamer
    from cg_pipeline.processes.sandbox import Sandbox

CHECKOUT = Path(__file__).parents[2]


def data_directory() -> str:
    """The data directory: CG_DATA_DIR if set, else `data/` beside the package."""
    return os.environ.get("CG_DATA_DIR") or str(CHECKOUT / "data")


class Store(dg.ConfigurableResource):
    """The data directory: warehouse, shards, benchmark files and reports."""

    data_dir: str
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


class StudyChoice(dg.ConfigurableResource):
    """Which study's benchmarks and thresholds the gap assets use."""

    name: str = "embedded"

    @property
    def study(self) -> Study:
        """The study of the catalogue."""
        return lookup("study", self.name, STUDIES)


class Gpu(dg.ConfigurableResource):
    """The device that models run on, and how much goes through it at once."""

    device: str = "auto"
    """auto, cuda, cuda:N, mps or cpu."""
    batch_tokens: int = 4096
    """Padded tokens of one forward pass: bounds memory, changes no result."""
    store: dg.ResourceDependency[Store]

    def language_model(self, model: Model) -> "LanguageModel":
        """The model, ready to answer; loaded once per process."""
        return _language_model(model, self.store.layout, self.device, self.batch_tokens)

    def encoder(self, sae: Sae) -> "SaeEncoder":
        """The SAE on its model, ready to read; loaded once per process."""
        return _encoder(sae, self.store.layout, self.device, self.batch_tokens)


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

    at_once: int = 8
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


class CodeSandbox(dg.ConfigurableResource):
    """What runs programs that models wrote: a sandbox if CG_ALLOW_CODE is 1, or else nothing."""

    at_once: int = 2
    """Programs running at a time; too many for the machine make slow ones fail."""

    def load(self) -> "Sandbox | None":
        """The sandbox, or None when running code is not allowed."""
        from cg_pipeline.processes.sandbox import Sandbox

        allowed = os.environ.get("CG_ALLOW_CODE", "").strip()
        if allowed not in ("", "0", "1"):
            raise ValueError(
                f"CG_ALLOW_CODE is {allowed!r}; expected 1 to run the programs that models write, or 0."
            )
        return Sandbox() if allowed == "1" else None

    @property
    def source(self) -> str:
        """What will be recorded as having run programs."""
        sandbox = self.load()
        return sandbox.source if sandbox else "none"


@lru_cache(maxsize=2)
def _language_model(model: Model, layout: Layout, device: str, batch_tokens: int) -> "LanguageModel":
    from cg_pipeline.inference.language_model import LanguageModel

    return LanguageModel(_loaded(model, layout, device), batch_tokens=batch_tokens)


@lru_cache(maxsize=2)
def _encoder(sae: Sae, layout: Layout, device: str, batch_tokens: int) -> "SaeEncoder":
    from cg_pipeline.inference.encoder import SaeEncoder

    reader = _loaded(sae.model, layout, device)
    return SaeEncoder(sae, reader, data_dir=layout.data_dir, batch_tokens=batch_tokens)


@lru_cache(maxsize=2)
def _loaded(model: Model, layout: Layout, device: str) -> "LoadedModel":
    from cg_pipeline.inference.models import load_model

    return load_model(model, cache_dir=layout.cache, data_dir=layout.data_dir, device=device)
