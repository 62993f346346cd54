"""Scoring policies: one file each, holding one `POLICY`.

A policy reads an answer out of a completion and grades it. What it cannot read is
unscored with a reason, never wrong (faults F10, F11 of neighbouring tools).
"""
