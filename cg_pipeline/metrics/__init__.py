"""Metrics of the catalogue: one file each, holding one `METRIC`; each is a column of `concept_metrics`."""
