"""How numbers are written: cases."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.answers.numbers import number_of, numbers_in, plain


@pytest.mark.parametrize(
    ("text", "values"),
    [
        # Thousands.
        ("1,250", ["1250"]),
        ("1,250,000.75", ["1250000.75"]),
        ("1 250 000", ["1250000"]),
        ("1\u202f250", ["1250"]),
        ("1\u00a0250", ["1250"]),
        ("1{,}250", ["1250"]),
        ("1\\,250", ["1250"]),
        ("1.250,50", ["1250.5"]),
        ("1,2,3", ["1", "2", "3"]),
        ("12,34", ["12", "34"]),
        # Currency and units.
        ("$5", ["5"]),
        ("-$5", ["-5"]),
        ("$-5", ["-5"]),
        ("\\$1,250.50", ["1250.5"]),
        ("US$5.50", ["5.5"]),
        ("€ 3", ["3"]),
        ("USD 7", ["7"]),
        ("20km", ["20"]),
        ("12th", ["12"]),
        ("3.", ["3"]),
        # Fractions.
        ("7/2", ["7/2"]),
        ("3 1/2", ["7/2"]),
        ("½", ["1/2"]),
        ("3½", ["7/2"]),
        ("-½", ["-1/2"]),
        ("\\frac{7}{2}", ["7/2"]),
        ("\\dfrac72", ["7/2"]),
        ("-\\frac{1}{2}", ["-1/2"]),
        ("3\\frac{1}{2}", ["7/2"]),
        ("1/0", [None]),
        ("1/2/2024", []),
        # Exponents.
        ("1.5e3", ["1500"]),
        ("1.5E-3", ["3/2000"]),
        ("1.5 × 10^3", ["1500"]),
        ("1.5 x 10³", ["1500"]),
        ("2 \\times 10^{-3}", ["1/500"]),
        ("10^6", ["1000000"]),
        ("10⁻³", ["1/1000"]),
        ("2^10", []),
        ("x^2 = 4", ["4"]),
        ("x² = 4", ["4"]),
        ("5²", []),
        ("5^2", []),
        ("(5)²", ["5"]),
        ("5² = 25", ["25"]),
        ("12 m²", ["12"]),
        ("5⁻¹", []),
        ("5^{-1}", []),
        ("x^{-2} is 7", ["7"]),
        ("10¹²", ["1000000000000"]),
        ("10¹²³", []),
        ("⁵", []),
        ("³⁄₄", ["3/4"]),
        ("1³⁄₄", ["7/4"]),
        ("6 x 10 = 60", ["6", "10", "60"]),
        ("1e999", []),
        # Signs.
        ("−4", ["-4"]),
        ("–4", ["-4"]),
        ("10-4", ["10", "4"]),
        ("5–10", ["5", "10"]),
        # What is no number.
        ("x1", []),
        ("1.2.3", []),
        ("9" * 41, [None]),
        ("١٢", []),
        ("１２", []),
        ("1٢", []),
        ("٢1", []),
        ("１2", []),
        ("12 of ١٢", ["12"]),
        ("0x5", []),
        ("-0X1f", []),
        ("0b101", []),
        ("0o17", []),
        ("0 x 5 = 0", ["0", "5", "0"]),
        ("0x5 = 5", ["5"]),
        ("10x5", ["10"]),
        ("0km", ["0"]),
        ("", []),
    ],
)
def test_numbers_in(text: str, values: list[str | None]) -> None:
    expected = [None if value is None else Fraction(value) for value in values]
    assert [number.value for number in numbers_in(plain(text))] == expected


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("5", ["5"]),
        ("5%", ["5", "1/20"]),
        ("5 \\%", ["5", "1/20"]),
        ("3 million", ["3", "3000000"]),
        ("1/0", []),
    ],
)
def test_a_unit_of_scale_leaves_two_readings(text: str, readings: list[str]) -> None:
    [number] = numbers_in(plain(text))
    assert number.readings == tuple(map(Fraction, readings))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18", "18"),
        (" 1,250. ", "1250"),
        ("-3.5", "-7/2"),
        ("18 eggs", None),
        ("5%", None),
        ("5²", None),
        ("0x5", None),
        ("", None),
        ("1" * 99, None),
    ],
)
def test_number_of_wants_a_number_and_nothing_else(text: str, value: str | None) -> None:
    assert number_of(text) == (None if value is None else Fraction(value))


@given(st.integers(-(10**9), 10**9))
def test_a_number_is_read_however_it_is_separated(value: int) -> None:
    assert number_of(f"{value}") == value
    assert number_of(f"{value:,}") == value
    assert number_of(f"{value:,}".replace(",", "\u202f")) == value
    assert number_of(f"{value:,}".replace("-", "−")) == value


@given(st.fractions(min_value=0, max_value=1000, max_denominator=1000))
def test_a_fraction_is_read_exactly(value: Fraction) -> None:
    assert number_of(f"{value.numerator}/{value.denominator}") == value
    assert number_of(f"\\frac{{{value.numerator}}}{{{value.denominator}}}") == value
