r"""Numbers as people and models write them, read by value.

Thousands separators (`1,250`, `1 250`, `1{,}250`), currency signs, units, fractions (`7/2`,
`3 1/2`, `½`, `\frac{7}{2}`), exponents (`1.5e3`, `1.5 × 10^3`) and every minus sign are
understood. A power of anything but ten (`5²`, `5^2`) is none, for it is to be worked out, and nor is a
number of another base (`0x5`). Digits of other scripts (Arabic-Indic, full-width …) are not read, nor is
what stands beside them: what they stand for in a text set from right to left is not for a regular
expression to say. Endless digits, as small models sometimes write, are no number.
"""

import re
import unicodedata
from fractions import Fraction

_LONGEST = 40
_MIXED = r"\d+ {1,3}\d+/\d+"
_FRACTION = r"\d+/\d+"
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
_DECIMAL = r"\d*\.\d+|\d+"
_EXPONENT = (
    r"(?:[eE](?P<e>[-+]?\d{1,2})(?![\d.])"
    r"|\s?(?:[x×*]|\\times|\\cdot)\s?10\s?\^\s?\{?(?P<power>-?\d{1,2})\}?)?"
)
_POWER_OF_TEN = r"10\s?\^\s?\{?(?P<tens>-?\d{1,2})\}?"
_OTHER_BASE = r"(?!0(?:[xX][\da-fA-F]+|[bB][01]+|[oO][0-7]+)\b)"
_NUMBER = re.compile(
    rf"(?<![\w./^])(?<!\^\{{)(?<!\^-)(?<!\^\{{-)(?P<sign>-?){_OTHER_BASE}"
    rf"(?:{_POWER_OF_TEN}|(?P<digits>{_MIXED}|{_FRACTION}|{_THOUSANDS}|{_DECIMAL}))"
    rf"(?!\d|/\s?[\d.(]|,\d{{3}}|\.\d|\s?\^){_EXPONENT}(?![eE][-+]?\d)"
    r"(?P<unit>\s?\\?%|\s?(?:thousand|million|billion|trillion)\b)?",
    re.ASCII,
)
_UNITS = {"%": Fraction(1, 100), "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_MARKS = str.maketrans(
    {
        **dict.fromkeys("−–﹣－‐‑", "-"),
        **{sign: str(i) for i, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
        "⁻": "-",
        "\u00a0": " ",
        "⁄": "/",
    }
)
_THIN_SPACE = re.compile(r"(?<=\d)(?:\{,\}|\\,|\\!,?|[\u202f\u2009])(?=\d{3}(?!\d))", re.ASCII)
_EUROPEAN = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d{1,2})(?!\d)", re.ASCII)
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d/]| ?\d)", re.ASCII)
_CURRENCY = re.compile(r"(?:US|CA|AU|HK)?\\?[$€£¥₹]|\b(?:USD|EUR|GBP)(?= ?\d)")
_TEX_FRACTION = re.compile(r"(\d?)\\[dt]?frac\s?(?:\{(-?\d{1,20})\}\s?\{(\d{1,20})\}|(\d)(\d))")
_SUPERSCRIPT = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile("[¼-¾⅐-⅞]|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}⁄[₀-₉]{1,3}")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")


class Number:
    """A number where it stands in a text."""

    def __init__(self, match: re.Match[str]) -> None:
        self._match = match
        self.start, self.end = match.span()

    @property
    def value(self) -> Fraction | None:
        """Its value, units left aside; None for endless digits and for division by zero."""
        return _value(self._match)

    @property
    def readings(self) -> tuple[Fraction, ...]:
        """What it may mean: "5 %" is 5 where a percentage is asked for, and 1/20."""
        value, unit = self.value, (self._match["unit"] or "").strip().lstrip("\\")
        if value is None:
            return ()
        return (value, value * _UNITS[unit]) if unit else (value,)


def plain(text: str) -> str:
    """The text with every sign written one way: ASCII minus, no currency, no emphasis, `1 1/2` for `1½`."""
    if not text.isascii():
        text = _FOREIGN_DIGIT.sub("^", on_one_line(text))  # beside a caret nothing is a number
    text = _THIN_SPACE.sub("", text.translate(_MARKS).replace("**", ""))
    text = _EUROPEAN.sub(lambda match: f"{match[1].replace('.', '')}.{match[2]}", text)
    text = _TEX_FRACTION.sub(_tex_fraction, text)
    text = re.sub(r"-\s?(?=\\?[$€£¥₹])", "-", text)
    text = re.sub(r"(?<=-)" + _CURRENCY.pattern, "", text)
    return _SPACED.sub(lambda match: match.group().replace(" ", ""), _CURRENCY.sub(" ", text))


def on_one_line(text: str) -> str:
    """Vulgar fractions written out (`1 1/2` for `1½`), superscripts after a caret: `5²` is never 52."""
    return _SUPERSCRIPT.sub(r"^\g<0>", with_fractions(text))


def with_fractions(text: str) -> str:
    """Vulgar fractions written out: `1 1/2` for `1½`."""
    return _VULGAR.sub(_vulgar, text)


def numbers_in(plain_text: str) -> list[Number]:
    """Every number of a text that has been through `plain`, in order."""
    return [Number(match) for match in _NUMBER.finditer(plain_text)]


def number_of(text: str) -> Fraction | None:
    """The value of a text that is one number and nothing else; None for anything more."""
    if len(text) > 2 * _LONGEST:
        return None
    written = plain(text).strip().rstrip(".").strip()
    match = _NUMBER.fullmatch(written)
    return Number(match).value if match and not match["unit"] else None


def _value(match: re.Match[str]) -> Fraction | None:
    if match["tens"]:
        return Fraction(-1 if match["sign"] else 1) * Fraction(10) ** int(match["tens"])
    digits = match["digits"].replace(",", "")
    if len(digits) > _LONGEST:
        return None
    try:
        value = sum((Fraction(part) for part in digits.split()), Fraction(0))
    except ZeroDivisionError:
        return None
    value *= Fraction(10) ** int(match["e"] or match["power"] or 0)
    return -value if match["sign"] else value


def _vulgar(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return " " * before.isdigit() + unicodedata.normalize("NFKC", match.group()).replace("⁄", "/")


def _tex_fraction(match: re.Match[str]) -> str:
    whole, over, under, digit_over, digit_under = match.groups()
    return f"{whole} {over or digit_over}/{under or digit_under}".strip(" ")
