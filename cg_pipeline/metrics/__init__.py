"""Metrics of the catalogue: one file each, holding one `METRIC`; each is a column of `concept_metrics`."""

from cg_pipeline.catalog import collect
from cg_pipeline.specs import Metric

METRICS = collect(__name__, __path__, "METRIC", Metric)
