r"""The answer of a solution is what its last `\boxed` holds."""

import pytest

from cg_pipeline.benchmarks import math, math_500
from cg_pipeline.benchmarks.math import boxed_answer
from cg_pipeline.inference.stop_texts import cut_before


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        (r"So $x=\boxed{5}$.", "5"),
        (r"First \boxed{1}, then \boxed{\frac{1}{2}} in all.", r"\frac{1}{2}"),
        (r"The set is $\boxed{\{1,2\}}$.", r"\{1,2\}"),
        (r"It is $\boxed{\left(0, \frac{\pi}{2}\right]}$", r"\left(0, \frac{\pi}{2}\right]"),
        (r"We get $\boxed 7$.", "7"),
        (r"We get $\boxed 3.5.$", "3.5"),
        (r"Hence \fbox{12}.", "12"),
        (r"Spaced \boxed {  9 } out", "9"),
        (r"It is $\boxed{5}$, $\boxed{-3}$.", "-3"),  # a key has one answer
    ],
)
def test_the_answer_is_in_the_last_box(solution: str, answer: str):
    assert boxed_answer(solution) == answer


@pytest.mark.parametrize("solution", ["It is 5.", r"It is \boxed{5", r"It is \boxed{}.", r"\boxedfoo{5}", ""])
def test_a_solution_without_an_answer_is_refused(solution: str):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        boxed_answer(solution)
    assert str(error.value) == f"solution ends with {solution!r}; expected \\boxed{{…}}. Box its answer."


@pytest.mark.parametrize("benchmark", [math.BENCHMARK, math_500.BENCHMARK], ids=["math", "math_500"])
def test_a_problem_told_once_more_does_not_end_an_answer(benchmark):
    told = "**Problem:** What is $2+3$?\n\n**Solution:** It is $\\boxed{5}$."
    assert cut_before(told, benchmark.stop) == told
    assert (
        cut_before("It is $\\boxed{5}$.\n\nProblem:\nWhat is next?", benchmark.stop) == "It is $\\boxed{5}$."
    )
