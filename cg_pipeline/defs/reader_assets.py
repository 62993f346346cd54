"""Assets about the reader: its concept dictionary, and what it sees in a benchmark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.partitions import (
    BENCHMARK_OF_CELL,
    CELL,
    MODEL_OF_CELL,
    SAE,
    benchmark_of,
    model_of,
    reader_of,
)
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.defs.results import declared, effort, links, preview, refuse_change, result
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.health.gate import require_gate
from cg_pipeline.health_records import GateFinding
from cg_pipeline.identity import STAGES, activations_id, concepts_id, reader_id
from cg_pipeline.records import ConceptActivations, Example, StoredActivations
from cg_pipeline.saes import SAES
from cg_pipeline.sources.broad_sample import read_sample, sample_hash
from cg_pipeline.sources.sae_files import is_fetched, weights_hash
from cg_pipeline.specs import Benchmark, Model, Sae
from cg_pipeline.store.activations import load_activations, save_activations
from cg_pipeline.store.resume import blocks_of, fill


def stored_weights(sae: Sae, gpu: Gpu, store: Store) -> str:
    """Hash of an SAE's weights; those of a release are fetched first, or nothing would say which they are."""
    if not is_fetched(sae):
        gpu.encoder(sae)
    return weights_hash(sae, store.layout.data_dir, store.layout.cache)


def gated_reader(model: Model, reader_gate: list[GateFinding], gpu: Gpu, store: Store) -> tuple[Sae, str]:
    """The SAE that reads a model's texts, and the hash of its weights; refused if the gate did."""
    sae = reader_of(model)
    with lasting_faults_end_the_run():
        weights = stored_weights(sae, gpu, store)
        require_gate(reader_gate, model.name, reader_id(sae, weights))
    return sae, weights


@dg.asset(
    partitions_def=SAE,
    group_name="reader",
    kinds={"pytorch", "duckdb"},
    pool="gpu",
    retry_policy=RETRIES,
    code_version=str(STAGES["concepts"]),
    metadata=declared("concepts"),
)
def concepts(context: dg.AssetExecutionContext, gpu: Gpu, store: Store) -> dg.MaterializeResult:
    """The concept dictionary: every latent of the SAE with an automatic label, firing rate and status."""
    sae, data_dir = SAES[context.partition_key], store.layout.data_dir

    def hashes() -> tuple[str, str]:
        return sample_hash(data_dir), stored_weights(sae, gpu, store)

    with lasting_faults_end_the_run():
        before = hashes()
        found = pipeline.describe_concepts(read_sample(data_dir), gpu.encoder(sae))
    refuse_change("The sample of texts or the SAE", before, hashes())
    alive = [concept for concept in found if concept.status == "alive"]
    return result(
        found,
        concepts_id(before[0], sae, before[1]),
        {
            "n_concepts": len(found),
            "n_alive": len(alive),
            "n_dead": sum(concept.status == "dead" for concept in found),
            "n_dense": sum(concept.status == "dense" for concept in found),
            "sae": sae.title,
            "hookpoint": sae.hookpoint,
            "preview": preview(alive),
        },
    )


@dg.asset(
    partitions_def=CELL,
    ins={"examples": BENCHMARK_OF_CELL, "reader_gate": MODEL_OF_CELL},
    io_manager_key="activation_io_manager",
    group_name="reader",
    kinds={"pytorch", "duckdb"},
    pool="gpu",
    retry_policy=RETRIES,
    code_version=str(STAGES["activations"]),
    metadata=declared("activations"),
)
def activations(
    context: dg.AssetExecutionContext,
    examples: list[Example],
    reader_gate: list[GateFinding],
    gpu: Gpu,
    store: Store,
) -> dg.MaterializeResult:
    """Which concepts fire in each example, and how strongly: pooled SAE activations as sparse tensors."""
    benchmark, model = benchmark_of(context.partition_key), model_of(context.partition_key)
    sae, weights = gated_reader(model, reader_gate, gpu, store)
    fingerprint = activations_id(examples, sae, weights)

    def read(block: Sequence[Example]) -> ConceptActivations:
        return pipeline.read_concepts(block, gpu.encoder(sae))

    # Keyed by reader and texts, not by model: models that share a reader share the shards.
    at_once, shelf = gpu.examples_at_once("reading"), ShardShelf("activations", model, benchmark, store)
    stored, told = keep_activations(shelf, fingerprint, blocks_of(examples, at_once), read)
    return result(stored, fingerprint, {**told, **links(context, {"examples": [benchmark.name]})})


@dataclass(frozen=True)
class ShardShelf:
    """Where an asset keeps what a model's reader saw in a benchmark."""

    asset: str
    model: Model
    benchmark: Benchmark
    store: Store


R = TypeVar("R")


def keep_activations(
    shelf: ShardShelf,
    fingerprint: str,
    blocks: Sequence[Sequence[R]],
    read: Callable[[Sequence[R]], ConceptActivations],
) -> tuple[StoredActivations, dict[str, Any]]:
    """Read what was not read before, a shard to each block, and say where it is, and what is told of it."""
    sae, benchmark, layout = reader_of(shelf.model), shelf.benchmark.name, shelf.store.layout
    shards = shelf.store.shards.shard_set(
        shelf.asset, sae.name, benchmark, fingerprint=fingerprint, n_shards=len(blocks)
    )

    def save(index: int, block: Sequence[R]) -> None:
        save_activations(shards, index, read(block))

    with lasting_faults_end_the_run():
        filled = fill(shards, blocks, save, {"sae": sae.name, "benchmark": benchmark})
    found = load_activations(shards.directory)
    stored = StoredActivations(
        model=shelf.model.name,
        benchmark=benchmark,
        sae=sae.name,
        fingerprint=fingerprint,
        n_examples=len(found.example_ids),
        n_tokens=int(found.n_tokens.sum()),
        n_pairs=len(found.concept_ids),
        n_active_concepts=len(set(found.concept_ids.tolist())),
        path=str(shards.directory.relative_to(layout.data_dir)),
    )
    return stored, {
        "n_examples": stored.n_examples,
        "n_tokens": stored.n_tokens,
        "concepts_per_example": stored.n_pairs / max(stored.n_examples, 1),
        "n_active_concepts": stored.n_active_concepts,
        "share_of_dictionary": stored.n_active_concepts / found.n_concepts,
        **effort(filled, stored.n_tokens),
        "sae": sae.title,
        "preview": preview([stored]),
        "shards": dg.MetadataValue.path(str(shards.directory)),
    }
