"""Labels of concepts: what is shown to whoever writes one, how it is tested, which of several is chosen.

Reading order: `choosing` (which concepts), `evidence` (excerpts about each), `trials` (the excerpts as
questions), `explaining` (label and test a concept), `merging` (all sources together, one chosen).
"""
