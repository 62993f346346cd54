"""Benchmarks of the catalogue: one file each, holding one `BENCHMARK` and a raw row.

The embedded suite (`data/suite/`) was written for this project: ten small benchmarks that
a 135M-parameter model gets neither all right nor all wrong.
"""

from cg_pipeline.catalog import collect
from cg_pipeline.specs import Benchmark

BENCHMARKS = collect(__name__, __path__, "BENCHMARK", Benchmark)
