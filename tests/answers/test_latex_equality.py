"""Same mathematics or not, decided by math-verify; and that no formula holds a run up."""

import threading
import time

import pytest

from cg_pipeline.answers.latex_equality import same_mathematics


@pytest.mark.parametrize(
    ("gold", "said", "same"),
    [
        (r"\frac{1}{2}", "0.5", True),
        (r"-\frac12", "-.5", True),
        (r"2\sqrt{3}", r"\sqrt{12}", True),
        ("(1,2)", "(1, 2)", True),
        ("x^2+2x+1", "(x+1)^2", True),
        ("5", r"5\text{ cm}", True),
        (r"50\%", "0.5", True),
        ("10{,}000", "10000", True),
        ("x=5", "5", True),
        ("1,2,3", r"\{3,2,1\}", True),
        (r"90^\circ", "90", True),
        ("25", "5²", True),
        ("52", "5²", False),
        ("x^{12}", "x¹²", True),
        (r"\frac{1}{5}", "5⁻¹", True),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}", True),
        ("[0,1)", "[0,1]", False),
        (r"\pi", "3.14", False),
        (r"\frac{1}{3}", "0.333", False),
        ("(1,2)", "(2,1)", False),
        (r"\text{Tuesday}", r"\text{Monday}", False),
        ("5", "", False),
        ("5", "\\", False),
        ("5", r"\frac{1}{0}", False),
        ("5", "x" * 500, False),
        ("5", "\x00\u202e", False),
        ("5", '"\n6', False),
    ],
)
def test_same_mathematics(gold: str, said: str, same: bool) -> None:
    assert same_mathematics(gold, said, 30.0) is same


def test_a_tower_of_powers_is_undecided_and_the_next_question_is_answered():
    started = time.monotonic()
    assert same_mathematics("9", "9^{9^{9^{9^9}}}", 0.5) is None
    assert time.monotonic() - started < 5
    assert same_mathematics("9", "3^2", 30.0) is True


def test_it_works_in_any_thread():
    found: list[bool | None] = []
    threads = [
        threading.Thread(target=lambda i=i: found.append(same_mathematics(str(2 * i), f"{i}+{i}", 30.0)))
        for i in range(1, 5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4
