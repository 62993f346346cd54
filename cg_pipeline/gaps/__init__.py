"""From numbers by concept to gaps: combining benchmarks, selecting, grouping, naming, drawing, reporting.

Reading order: suite, selection, headline and overlap (what is found); clustering, wording and
naming (what belongs together); findings, excerpts, glossary, phrases and fineprint (what a report
says); legible, drawing, charts, benchmark_charts, placement, landscape, terminal and report (how
people see it).
"""
