"""Competency Gaps: which concepts benchmarks leave out, and which ones a model fails.

Where to start reading, in this order:
    pipeline.py   the method on one page: one function per stage, in running order
    records.py    what flows between the stages
    specs.py      what a contributor fills in to add a benchmark, model, SAE, metric or study
    benchmarks/, models/, saes/, metrics/, studies/   the catalogues, one file per thing
    defs/         the same stages as Dagster assets
    definitions.py   what Dagster loads
"""
