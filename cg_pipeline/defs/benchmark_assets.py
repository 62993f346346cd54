"""Assets about benchmarks alone: their examples."""

from collections import Counter

import dagster as dg

from cg_pipeline.defs.partitions import BENCHMARK, benchmark_of
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import declared, preview, refuse_change, result
from cg_pipeline.identity import STAGES, examples_id
from cg_pipeline.sources.local_files import content_hash, read_examples


@dg.asset(
    partitions_def=BENCHMARK,
    group_name="benchmarks",
    kinds={"python", "duckdb"},
    code_version=str(STAGES["examples"]),
    metadata=declared("examples"),
)
def examples(context: dg.AssetExecutionContext, store: Store) -> dg.MaterializeResult:
    """What a benchmark asks: one row per example, with its choices, targets, category and cluster."""
    benchmark = benchmark_of(context.partition_key)
    rows_hash = content_hash(benchmark, store.layout.data_dir)
    found = read_examples(benchmark, store.layout.data_dir)
    refuse_change(benchmark.source.path, rows_hash, content_hash(benchmark, store.layout.data_dir))
    categories = Counter(example.category for example in found)
    return result(
        found,
        examples_id(benchmark, rows_hash),
        {
            "n_examples": len(found),
            "n_categories": len(categories),
            "categories": dict(categories.most_common()),
            "scope": benchmark.scope,
            "licence": benchmark.licence,
            "source": dg.MetadataValue.path(store.layout.declared(benchmark.source.path)),
            "preview": preview(found),
        },
    )
