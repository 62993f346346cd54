"""One of the example's lettered choices, read out of a generated answer.

What counts as choosing one is told in `answers.options`; a text that chooses none, or more
than one, is unscored, never wrong (faults F10 and F11 of neighbouring tools).
"""

from cg_pipeline.answers.chosen_option import grade_chosen
from cg_pipeline.specs import ScoringPolicy

POLICY = ScoringPolicy(name="option", score=grade_chosen, needs_choices=True)
