"""Which short answers are one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.answers.normal import is_number, normal_text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Beatles!", "beatles"),
        ("  a   Dog ", "dog"),
        ("U.S.A.", "USA"),
        ("O'Brien", "O’Brien"),
        ("twenty-one", "twenty one"),
        ("1,000", "1000"),
        ("3.50", "3.5"),
        ("$5", "5"),
        ("5%", "5"),
        ("−5", "-5"),
        ("(Paris)", "Paris"),
        ("(A).", "A"),
        ("The.", "the"),
        ("STRASSE", "straße"),
        ("ＡＢＣ", "abc"),
        ("«Пари»", "пари"),
        ("東京。", "東京"),
        ("Ca²⁺", "Ca2+"),
        ("SO4²⁻", "SO42-"),
        ("²³⁵U", "235U"),
        ("12 m²", "12 m2"),
        ("mc²", "mc2"),
        ("(x)²", "x2"),
        ("5²", "5^2"),
        ("10⁻³", "10^-3"),
        ("3 × 10¹²", "3 × 10^12"),
        ("1½", "1 1/2"),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert normal_text(one) == normal_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-5", "5"),
        ("3.5", "35"),
        ("C++", "C"),
        ("the", "a"),
        ("] )", ") ]"),
        ("+", "×"),
        ("", "the"),
        ("1/2", "12"),
        ("5²", "52"),
        ("(5)²", "52"),
        ("10⁻³", "10-3"),
        ("1½", "11/2"),
    ],
)
def test_not_the_same(one: str, other: str) -> None:
    assert normal_text(one) != normal_text(other)


def test_numbers_in_normal_form():
    assert is_number("3.5") is is_number("-7/2") is True
    assert is_number("nan") is is_number("x") is is_number("1/0") is False


@given(st.text(max_size=40))
def test_normal_form_is_a_resting_point(text: str) -> None:
    assert normal_text(normal_text(text)) == normal_text(text)
