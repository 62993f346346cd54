import pytest

from cg_pipeline.scoring import math_equivalence
from cg_pipeline.scoring.math_equivalence import POLICY
from tests.scoring.cases import completion, example


@pytest.mark.parametrize(
    ("text", "stop", "targets", "value", "reason"),
    [
        (r"So \boxed{\frac{1}{2}}.", "end", (r"\frac12",), 1.0, ""),
        (r"So \boxed{0.5}.", "end", (r"\frac12",), 1.0, ""),
        (r"\boxed{\text{Tuesday}}", "end", ("Tuesday",), 1.0, ""),
        (r"\boxed{3}", "end", ("2", "3"), 1.0, ""),
        (r"\boxed{3}", "end", (r"We get \boxed{3}.",), 1.0, ""),  # a worked solution as target
        (r"\boxed{3}", "end", ("$3$",), 1.0, ""),
        (r"\boxed{4}", "end", ("3",), 0.0, ""),
        ("The answer is $x^2 - 1$.", "end", ("(x-1)(x+1)",), 1.0, ""),
        ("I give up.", "end", ("3",), None, "unparsed"),
        (r"\boxed{3", "end", ("3",), None, "unparsed"),
        (r"\boxed{3", "length", ("3",), None, "truncated"),
        (r"\boxed{3} and", "length", ("3",), 1.0, ""),
        (r"The solutions are $\boxed{5}$ and $\boxed{-3}$.", "end", ("5,-3",), 1.0, ""),
        (r"$x = \boxed{-3}$ or $x = \boxed{5}$", "end", ("5,-3",), 1.0, ""),
        (r"It is $\boxed{\frac12}$, or $\boxed{0.5}$.", "end", (r"\frac{1}{2}",), 1.0, ""),
        (r"$\boxed{5}$ or $\boxed{3}$", "end", ("5",), 0.0, ""),
        (r"$\boxed{1}$, $\boxed{2}$, $\boxed{3}$, $\boxed{4}$, $\boxed{5}$", "end", ("5",), 0.0, ""),
        (r"First $\boxed{4}$. Then $\boxed{3}$.", "end", ("3",), 1.0, ""),
        ("", "overflow", ("3",), None, "overflow"),
    ],
)
def test_score(text, stop, targets, value, reason) -> None:
    score = POLICY.score(example(*targets), completion(text, stop))
    assert (score.value, score.reason) == (value, reason)


def test_what_cannot_be_compared_in_time_is_undecided(monkeypatch):
    monkeypatch.setattr(math_equivalence, "same_mathematics", lambda gold, answer: None)
    score = POLICY.score(example("9"), completion(r"\boxed{9^{9^{9}}}"))
    assert (score.value, score.reason, score.answer) == (None, "undecided", "9^{9^{9}}")
    assert POLICY.score(example("9"), completion(r"\boxed{9}")).value == 1.0
