"""A text that nobody can see is blank; joiners between letters are not."""

import pytest

from cg_pipeline.ink import has_ink, is_blank


@pytest.mark.parametrize(
    "text", ["", " \t\n", "\u200b", "\u200d\ufe0f", "\u3164", "\u2800", "\u034f", "\ufeff"]
)
def test_texts_that_leave_no_ink_are_blank(text):
    assert is_blank(text)
    assert not is_blank(f"{text}x")


def test_joiners_change_how_letters_look():
    assert has_ink("\u200c")
    assert is_blank("\u200c")
