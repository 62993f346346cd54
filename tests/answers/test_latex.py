import pytest

from cg_pipeline.answers.latex import is_settled, latex_answer, squeezed


@pytest.mark.parametrize(
    ("text", "answer", "settled"),
    [
        (r"So \boxed{\frac{1}{2}}.", r"\frac{1}{2}", True),
        (r"\boxed{5", None, False),
        (r"The answer is $\frac12$. So", r"\frac12", True),
        ("The answer is 12.", "12", False),
        ("The answer is (2, 3).", "(2, 3)", False),
        (r"answer: \text{Tuesday}", r"\text{Tuesday}", False),
        ("It is $x=5$ and thus $x^2=25$.", "x^2=25", False),
        (r"so \(x+1\)", "x+1", False),
        ("so \\[\n7\n\\]", "7", False),
        ("Therefore\n42", "42", False),
        ("The answers are $5$, $7$, and $-3$. So", "5, 7, -3", True),
        ("The solutions are $5$ and $-3$.", "5, -3", False),
        ("It is $x^2=25$, $x=5$.", "x=5", False),  # a step, and what follows from it
        ("The sum of $a$ and $b$ is $5$.", "5", False),
        ("**12**", "12", False),
        ("no idea", None, False),
        ("<think>$5$</think>$6$", "6", False),
        ("", None, False),
        (r"\boxed{}", None, True),
    ],
)
def test_latex_answer(text: str, answer: str | None, settled: bool) -> None:
    assert (latex_answer(text), is_settled(text)) == (answer, settled)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\dfrac{1}{2}", r"\frac{1}{2}"),
        (r"\left( 1, 2 \right)", "(1,2)"),
        (r"\text{Tuesday}", "Tuesday"),
        (r"1{,}000", "1,000"),
        ("5.", "5"),
        ("−5", "-5"),
        (r"2\,\pi", r"2\pi"),
    ],
)
def test_squeezed(one: str, other: str) -> None:
    assert squeezed(one) == squeezed(other)


def test_what_matters_is_not_squeezed():
    assert squeezed(r"\frac{1}{2}") != squeezed(r"\frac{2}{1}")
    assert squeezed(r"\leftarrow") != squeezed("arrow")
