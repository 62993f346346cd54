"""Scoring policies: one file each, holding one `POLICY`.

A policy reads an answer out of a completion and grades it. What it cannot read is
unscored with a reason, never wrong (faults F10, F11 of neighbouring tools).
"""

from cg_pipeline.catalog import collect
from cg_pipeline.specs import ScoringPolicy

POLICIES = collect(__name__, __path__, "POLICY", ScoringPolicy)
