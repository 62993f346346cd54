"""What assets are given: the warehouse, shards, the device, the study and the namer.

Only speed and place are configured here (data directory, device, batch size, lock
timeout); everything that changes results is in the catalogue's specs.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from cg_pipeline.catalog import lookup
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.specs import Model, Sae, Study
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.shards import ShardStore
from cg_pipeline.store.warehouse import Warehouse
from cg_pipeline.studies import STUDIES, check_names

if TYPE_CHECKING:
    from cg_pipeline.inference.encoder import SaeEncoder
    from cg_pipeline.inference.language_model import LanguageModel
    from cg_pipeline.inference.models import LoadedModel
    from cg_pipeline.llm.naming import LlmNamer

CHECKOUT = Path(__file__).parents[2]


def data_directory() -> str:
    """The data directory: CG_DATA_DIR if set, else `data/` beside the package."""
    return str(Path(os.environ.get("CG_DATA_DIR") or CHECKOUT / "data").absolute())


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
        """The study of the catalogue.

        Raises:
            KeyError: there is none of this name.
            ValueError: it names a model, reader, benchmark or scoring policy that there is not.
        """
        study = lookup("study", self.name, STUDIES)
        check_names(study)
        return study


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
