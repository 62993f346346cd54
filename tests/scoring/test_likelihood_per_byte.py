from dataclasses import replace

from cg_pipeline.scoring.likelihood_per_byte import POLICY
from tests.scoring.cases import chosen, example


def test_bytes_are_those_of_the_text_that_was_scored():
    """Choices may stand for other texts: then these are what is long or short."""
    whole = example("b", choices=("a very long choice", "b"))
    assert POLICY.score(whole, chosen(-8.0, -1.0)).answer == "a very long choice"
    lettered = replace(whole, continuations=("A", "B"))
    assert POLICY.score(lettered, chosen(-8.0, -1.0)).answer == "b"
