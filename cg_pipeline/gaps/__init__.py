"""From numbers by concept to gaps: combining benchmarks, selecting, grouping, naming, drawing, reporting.

Reading order: suite, selection, headline and overlap (what is found); clustering and naming
(which belong together); excerpts, legible, drawing, charts and report (what people read).
"""
