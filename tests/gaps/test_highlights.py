from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.gaps.highlights import Piece, bracketed, highlight
from cg_pipeline.gaps.legible import ELLIPSIS, visible
from tests.strategies import STORED_TEXT


def shown(pieces: list[Piece]) -> list[tuple[str, int]]:
    return [(piece.text, piece.level) for piece in pieces]


def test_tokens_are_marked_by_their_share_of_the_strongest():
    pieces = highlight("the cat sat on it", [0, 3, 7, 11], [3, 7, 11, 14], [1.0, 9.0, 4.0, 0.5], 50)
    assert shown(pieces) == [("the", 1), (" cat", 3), (" sat", 2), (" on", 1), (" it", 0)]


def test_one_character_may_be_several_tokens_the_strongest_counts():
    assert shown(highlight("a🦜b", [1, 1, 1], [2, 2, 2], [1.0, 9.0, 2.0], 50)) == [
        ("a", 0), ("🦜", 3), ("b", 0),
    ]  # fmt: skip


def test_tokens_outside_the_prompt_mark_nothing_and_set_no_scale():
    assert shown(highlight("cat dog", [0, 4], [0, 7], [100.0, 1.0], 50)) == [("cat ", 0), ("dog", 3)]


def test_a_long_prompt_is_shown_around_the_strongest_token():
    prompt = "start " + "word " * 100 + "HERE " + "tail " * 100
    at = prompt.index("HERE")
    pieces = highlight(prompt, [0, at], [5, at + 4], [1.0, 5.0], 60)
    text = "".join(piece.text for piece in pieces)
    assert text.startswith(f"{ELLIPSIS}word ")
    assert text.endswith(f"tail{ELLIPSIS}")
    assert ("HERE", 3) in shown(pieces)
    assert len(text) <= 62


def test_what_is_invisible_is_shown_in_its_piece():
    assert shown(highlight("a\nb\u202ec", [1, 3], [2, 4], [1.0, 1.0], 50)) == [
        ("a", 0), (" ⏎ ", 3), ("b", 0), ("⟨U+202E⟩", 3), ("c", 0),
    ]  # fmt: skip


def test_brackets_stand_around_runs_that_fire_clearly():
    pieces = highlight("the cat sat on it", [0, 3, 7, 11], [3, 7, 11, 14], [1.0, 9.0, 4.0, 0.5], 50)
    assert list(bracketed(pieces)) == [("the", False), (" cat sat", True), (" on it", False)]


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), st.floats(0.1, 9.0)), max_size=6)


@given(text=STORED_TEXT.filter(bool), spans=SPANS, length=st.integers(5, 80))
def test_pieces_are_the_text_in_order(text: str, spans: list[tuple[int, int, float]], length: int):
    """Joined, they are a stretch of the prompt, made visible, whatever the spans."""
    starts = [min(start, len(text)) for start, _, _ in spans]
    ends = [min(start + n, len(text)) for start, (_, n, _) in zip(starts, spans, strict=True)]
    pieces = highlight(text, starts, ends, [activation for *_, activation in spans], length)
    joined = "".join(piece.text for piece in pieces)
    assert all(piece.text and piece.level in range(4) for piece in pieces)
    if len(text) <= length:
        assert visible(joined).replace(" ", "") == visible(text).replace(" ", "")
    else:
        assert joined.startswith(ELLIPSIS) or joined.endswith(ELLIPSIS)
        marked = any(s < e for s, e in zip(starts, ends, strict=True))
        assert not marked or any(piece.level == 3 for piece in pieces)
