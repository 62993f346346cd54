import pytest

from cg_pipeline.answers.boxed import closing_brace, has_open_box, last_boxed


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
        ("", None, False),
    ],
)
def test_boxes(text: str, inside: str | None, is_open: bool) -> None:
    assert (last_boxed(text), has_open_box(text)) == (inside, is_open)


def test_closing_brace():
    assert closing_brace("a{b{c}d}e", 2) == 7
    assert closing_brace("{{", 1) is None
