"""Partition sets, read from the catalogue, and how they map onto each other.

A cell is one model on one benchmark. A model names its reader SAE, so no third dimension
is needed; a study's report is partitioned by model alone.
"""

import dagster as dg

from cg_pipeline.defs.catalogue import BENCHMARKS
from cg_pipeline.models import MODELS
from cg_pipeline.saes import SAES
from cg_pipeline.specs import Benchmark, Model, Sae

BENCHMARK = dg.StaticPartitionsDefinition(list(BENCHMARKS))
MODEL = dg.StaticPartitionsDefinition(list(MODELS))
SAE = dg.StaticPartitionsDefinition(list(SAES))
OWN_SAE = dg.StaticPartitionsDefinition([name for name, sae in SAES.items() if sae.training])
"""Those that this project trains."""
CELL = dg.MultiPartitionsDefinition({"model": MODEL, "benchmark": BENCHMARK})

# What a partition reads of an asset with another partition set:
BENCHMARK_OF_CELL = dg.AssetIn(partition_mapping=dg.MultiToSingleDimensionPartitionMapping("benchmark"))
MODEL_OF_CELL = dg.AssetIn(partition_mapping=dg.MultiToSingleDimensionPartitionMapping("model"))
EVERY_CELL = dg.AssetIn(partition_mapping=dg.MultiToSingleDimensionPartitionMapping("model"))
EVERY_BENCHMARK = dg.AssetIn(partition_mapping=dg.AllPartitionMapping())
READER = dg.AssetIn(
    partition_mapping=dg.StaticPartitionMapping(
        {
            sae: models
            for sae in SAES
            if (models := [name for name, model in MODELS.items() if model.reader == sae])
        }
    )
)


def cell_key(model: str, benchmark: str) -> dg.MultiPartitionKey:
    """Dagster's key of one model on one benchmark."""
    return dg.MultiPartitionKey({"model": model, "benchmark": benchmark})


def benchmark_of(key: str) -> Benchmark:
    """The benchmark that a partition key names, alone or as half of a cell."""
    return BENCHMARKS[key.keys_by_dimension["benchmark"] if isinstance(key, dg.MultiPartitionKey) else key]


def model_of(key: str) -> Model:
    """The model that a partition key names, alone or as half of a cell."""
    return MODELS[key.keys_by_dimension["model"] if isinstance(key, dg.MultiPartitionKey) else key]


def reader_of(model: Model) -> Sae:
    """The SAE that reads a model's examples."""
    return SAES[model.reader]
