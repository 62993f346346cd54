"""A text that nobody can see is blank; joiners between letters are not."""

import pytest

from cg_pipeline.ink import as_read, has_ink, is_blank


@pytest.mark.parametrize(
    "text", ["", " \t\n", "\u200b", "\u200d\ufe0f", "\u3164", "\u2800", "\u034f", "\ufeff"]
)
def test_texts_that_leave_no_ink_are_blank(text):
    assert is_blank(text)
    assert not is_blank(f"{text}x")


def test_joiners_change_how_letters_look():
    assert has_ink("\u200c")
    assert is_blank("\u200c")


def test_what_nobody_sees_does_not_count():
    assert as_read("a\u200bb  c \n  d\u00a0e\n") == "ab c\n  d e"
    assert as_read("e\u0301") == as_read("\u00e9")
    assert as_read("a\u200cb") == "a\u200cb"
