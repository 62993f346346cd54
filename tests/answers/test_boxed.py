import pytest

from cg_pipeline.answers.boxed import closing_brace, has_open_box, last_box, last_boxed, last_boxes


@pytest.mark.parametrize(
    ("text", "inside", "is_open"),
    [
        (r"\boxed{5}", "5", False),
        (r"\boxed{ \frac{1}{2} }", r"\frac{1}{2}", False),
        (r"\boxed{1}, no, \boxed{2}", "2", False),
        (r"\boxed{\boxed{5}}", "5", False),
        (r"\fbox{1} \boxed {7}", "7", False),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}", False),
        (r"\boxed{}", "", False),
        (r"\boxed{5", None, True),
        (r"\boxed{1} and \boxed{5", None, True),
        ("boxed{5}", None, False),
        (r"$\boxed{5}$ and $\boxed{-3}$", "5, -3", False),
        (r"$x = \boxed{5}$ or $x = \boxed{-3}$.", "5, -3", False),
        (r"\(\boxed{1}\), \(\boxed{2}\), and \(\boxed{3}\)", "1, 2, 3", False),
        (r"\boxed{1},\ \boxed{2}", "1, 2", False),
        (r"\boxed{1} \text{ or } \boxed{2}", "1, 2", False),
        (r"\[\boxed{1} \quad \text{and} \quad \boxed{2}\]", "1, 2", False),
        (r"\boxed{7} or \boxed{7}", "7", False),
        (r"\boxed{1}. Then \boxed{2} and \boxed{3}", "2, 3", False),  # a result on the way
        (r"\boxed{1} and then \boxed{2}", "2", False),
        ("\\boxed{1}\n\n\\boxed{2}", "2", False),
        (r"\boxed{\boxed{1}, \boxed{2}}", "1, 2", False),
        (r"\boxed{1} and \boxed{2", None, True),
        (r"\boxed 7.", None, True),  # may go on
        (r"$\boxed 7$.", "7", False),
        (r"\boxedfoo{1}", None, False),
        ("", None, False),
    ],
)
def test_boxes(text: str, inside: str | None, is_open: bool) -> None:
    assert (last_boxed(text), has_open_box(text)) == (inside, is_open)


def test_each_different_box_counts_once():
    assert last_boxes(r"\boxed{1}, \boxed{2} and \boxed{1}") == ("1", "2")
    assert last_box(r"\boxed{1}, \boxed{2}") == "2"


def test_closing_brace():
    assert closing_brace("a{b{c}d}e", 2) == 7
    assert closing_brace("{{", 1) is None
