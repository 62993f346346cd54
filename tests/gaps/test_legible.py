import math
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cg_pipeline.gaps.legible import (
    ELLIPSIS,
    counted,
    cut_at_word,
    decimal,
    escape_markdown,
    exact_percent,
    percent,
    shorten,
    signed,
    significant,
    visible,
)
from tests.strategies import ANY_TEXT

PLAIN = {"text", "text_special", "paragraph_open", "paragraph_close", "bullet_list_open", "bullet_list_close"}
HOSTILE = [
    *("a|b", "a\\|b", "| a | b |", "`code`", "``", "**bold** _it_", "* * *", "~~gone~~", "$x^2$"),
    *("[x](http://evil.example)", "![i](x)", "https://evil.example/a", "www.evil.example"),
    *("<script>alert(1)</script>", "<!-- x -->", "&lt;b&gt;", "line\nbreak", "a\\", "\\"),
    *("# head", "- item", "+ item", "12. item", "3) x", "> quote", "===", "---"),
]


def test_direction_marks_and_controls_are_shown():
    assert visible("abc\u202exyz") == "abc⟨U+202E⟩xyz"
    assert visible("a\x00b\x1b[31m") == "a⟨U+0000⟩b⟨U+001B⟩[31m"
    assert visible("a\u200bb\ufeff") == "a⟨U+200B⟩b⟨U+FEFF⟩"
    assert visible("x\ud800") == "x⟨U+D800⟩"
    assert visible("two\r\nlines\u2028three") == "two ⏎ lines ⏎ three"
    assert visible("  tab\there  ") == "tab here"


def test_letters_of_every_script_stay():
    text = "наука 数学 می‌خواهم 👩‍🔬 é"
    assert visible(text) == text


@given(text=ANY_TEXT)
def test_nothing_invisible_is_left(text: str):
    shown = visible(text)
    assert all(unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"} for char in shown)
    assert not any("\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069" for char in shown)
    shown.encode("utf-8")


@given(text=ANY_TEXT, length=st.integers(2, 30))
def test_short_means_short(text: str, length: int):
    cut = shorten(text, length)
    assert len(cut) <= length
    assert cut == visible(text) or cut.endswith("…")


def test_a_long_text_is_cut_with_an_ellipsis_and_keeps_its_accents():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
    assert shorten("abcde\u0301fgh", 6) == "abcd…"
    assert len(shorten("x" * 10**6, 80)) == 80


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_hostile_text_as_it_stands(text: str):
    renderer = MarkdownIt("gfm-like", {"linkify": False})
    for page in (escape_markdown(text), f"- {escape_markdown(text)}", f"so {escape_markdown(text)}"):
        tokens = [child for token in renderer.parse(page) for child in (token.children or [token])]
        kinds = {token.type for token in tokens} - {"inline", "list_item_open", "list_item_close"}
        assert kinds <= PLAIN, page
        assert "".join(token.content for token in tokens).removeprefix("so ") == visible(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_table_cell(text: str):
    page = f"| a | b |\n|--|--|\n| {escape_markdown(text)} | end |\n"
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page)
    cells = [token for token in tokens if token.type == "inline"]
    assert [len(cells), cells[3].content] == [4, "end"]
    assert "".join(child.content for child in cells[2].children) == visible(text)


@given(text=ANY_TEXT)
def test_any_text_survives_markdown(text: str):
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"| {escape_markdown(text)} | b |\n|--|--|\n")
    cells = [token for token in tokens if token.type == "inline"]
    assert "".join(child.content for child in cells[0].children) == visible(text)


def test_links_are_broken_for_renderers_that_find_them_in_text():
    assert escape_markdown("see http://a.b and www.c.d") == "see http\\://a.b and www\\.c.d"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00"),
        (0.125, "0.12"),
        (-0.5, "−0.50"),
        (1234.5, "1,234.50"),
        (0.004, "0.004"),
        (-0.0012, "−0.0012"),
    ],
)
def test_decimals(value: float, shown: str):
    assert decimal(value) == shown


def test_what_is_no_number_is_a_dash():
    assert [
        show(value) for show in (decimal, significant, signed, percent) for value in (None, math.nan)
    ] == ["–"] * 8


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.000442, "0.000442"),
        (0.0022, "0.00220"),
        (0.5, "0.500"),
        (9.996, "10.0"),
        (0.09996, "0.100"),
        (27.26, "27.3"),
        (1262.1, "1,262"),
        (-0.0123, "−0.0123"),
        (1.234e-12, "1.23e−12"),
    ],
)
def test_three_digits_at_any_size(value: float, shown: str):
    assert significant(value) == shown


@given(value=st.floats(1e-15, 1e9), ratio=st.floats(1.02, 10))
def test_values_that_differ_by_a_fiftieth_look_different(value: float, ratio: float):
    assert significant(value) != significant(value * ratio)


@settings(deadline=None)
@given(text=ANY_TEXT, length=st.integers(2, 30))
def test_cut_at_a_word_is_as_short(text: str, length: int):
    cut = cut_at_word(text, length)
    assert len(cut) <= length
    assert cut == visible(text) or ELLIPSIS in cut[-2:]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Requests to decline", "Requests to decline"),
        ("Requests to decline or answer", "Requests to decline…"),
        ("Requests to declining, then", "Requests to…"),
        ("“or” as in “bone or cartilage”", "“or” as in “bone or…”"),
        ("Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahrt…"),
    ],
)
def test_words_are_kept_whole_where_there_are_any(text: str, shown: str):
    assert cut_at_word(text, 22) == shown


def test_differences_shares_and_counts():
    assert [signed(0.1), signed(-0.1), signed(-0.003)] == ["+0.10", "−0.10", "0.00"]
    assert [percent(share) for share in (0.0, 0.00012, 0.004, 0.3456, 1.0)] == [
        "0.0%",
        "0.012%",
        "0.40%",
        "34.6%",
        "100.0%",
    ]
    assert [exact_percent(0.1), exact_percent(0.005)] == ["10%", "0.5%"]
    assert [counted(1, "example"), counted(1200, "example"), counted(0, "example")] == [
        "1 example",
        "1,200 examples",
        "0 examples",
    ]
