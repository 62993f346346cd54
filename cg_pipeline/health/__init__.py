"""Whether an SAE and its concepts can be trusted on a study's own examples: bounds, verdicts, counts.

Reading order: `sample` (which examples are looked at), `gate` (an SAE as a whole), `concepts` (each
concept), `quarantine` (who leaves them out). Figures in, verdicts out: no model is run here.
"""
