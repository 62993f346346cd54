"""The tables of the toy study, number by number, as they were last agreed on."""

import pandas as pd
import pytest

from tests.golden import toy


@pytest.fixture(scope="module")
def results() -> dict[str, pd.DataFrame]:
    return dict(toy.results())


def test_every_table_is_compared(results: dict[str, pd.DataFrame]) -> None:
    assert set(results) == set(toy.TABLES)


@pytest.mark.parametrize("name", toy.TABLES)
def test_a_table_is_as_agreed(name: str, results: dict[str, pd.DataFrame]) -> None:
    """Texts and counts are equal, other numbers to 1e-12 of themselves, and undefined is undefined."""
    try:
        pd.testing.assert_frame_equal(
            results[name], toy.agreed(name), check_dtype=False, check_exact=False, rtol=1e-12, atol=1e-15
        )
    except AssertionError as difference:
        pytest.fail(
            f"tests/golden/{name}.csv differs: {difference}\nIf the change is meant, run `{toy.COMMAND}` "
            "in the checkout and look through the difference before you commit it.",
            pytrace=False,
        )
