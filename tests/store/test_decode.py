from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.store.decode import from_arrow
from cg_pipeline.store.encode import to_arrow
from cg_pipeline.store.tables import Column, Table, table_of
from tests.store.toys import METRICS, frame
from tests.strategies import COMPLETION_FIELDS, EXAMPLE_FIELDS

SCORES = table_of(Score, name="scores")
EXAMPLE_TABLE = table_of(Example, name="examples")


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A record with a field that follows from another."""

    text: str
    """A text."""
    share: float = float("nan")
    """NaN when unknown."""
    shares: tuple[float, ...] = ()
    """Each NaN when unknown."""
    maybe: tuple[str, ...] | None = None
    """Texts, perhaps."""
    length: int = field(init=False)
    """Length of the text."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.text))


PAIRS = table_of(Pair, name="pairs")


@given(st.lists(EXAMPLE_FIELDS, max_size=4))
def test_examples_come_back_equal(drawn: list[dict[str, Any]]) -> None:
    rows = [Example(**fields) for fields in drawn]
    assert from_arrow(EXAMPLE_TABLE, to_arrow(EXAMPLE_TABLE, rows)) == rows


@given(st.lists(COMPLETION_FIELDS, max_size=4))
def test_completions_come_back_equal(drawn: list[dict[str, Any]]) -> None:
    table, rows = table_of(Completion, name="completions"), [Completion(**fields) for fields in drawn]
    assert from_arrow(table, to_arrow(table, rows)) == rows


def test_none_comes_back_as_none_and_nan_as_nan() -> None:
    unscored = Score(
        model="m", benchmark="b", example_id="e", outcome="unscored", value=None, reason="unparsed"
    )
    assert from_arrow(SCORES, to_arrow(SCORES, [unscored])) == [unscored]
    [pair] = from_arrow(PAIRS, to_arrow(PAIRS, [Pair(text="ab", shares=(1.0, float("nan")))]))
    assert np.isnan(pair.share)
    assert pair.shares[0] == 1.0
    assert np.isnan(pair.shares[1])
    assert pair.maybe is None
    assert pair.length == 2


def test_a_derived_field_that_does_not_follow_is_corruption() -> None:
    stored = to_arrow(PAIRS, [Pair(text="ab"), Pair(text="abc")])
    damaged = stored.set_column(stored.column_names.index("length"), "length", pa.array([2, 9]))
    with pytest.raises(
        ValueError, match="Stored row 1 of 'pairs' is corrupted: length is 9, but its content gives 3"
    ):
        from_arrow(PAIRS, damaged)


def test_an_example_whose_text_was_altered_is_corruption() -> None:
    example = Example(benchmark="b", category="c", cluster="", prompt="1 + 1?", targets=("2",))
    stored = to_arrow(EXAMPLE_TABLE, [example])
    damaged = stored.set_column(stored.column_names.index("prompt"), "prompt", pa.array(["1 + 2?"]))
    with pytest.raises(ValueError, match="Stored row 0 of 'examples' is corrupted: example_id is"):
        from_arrow(EXAMPLE_TABLE, damaged)


def test_a_stored_row_that_is_no_valid_record_is_named() -> None:
    score = Score(model="m", benchmark="b", example_id="e", outcome="right", value=1.0)
    stored = to_arrow(SCORES, [score, replace(score, value=0.5, outcome="partial")])
    damaged = stored.set_column(stored.column_names.index("value"), "value", pa.array([1.0, 7.0]))
    with pytest.raises(
        ValueError, match=r"Stored row 1 of 'scores' is no valid Score: score is 7\.0; expected"
    ):
        from_arrow(SCORES, damaged)


def test_a_column_that_is_absent_or_null_is_named() -> None:
    stored = to_arrow(PAIRS, [Pair(text="ab")])
    with pytest.raises(ValueError, match=r"Stored rows of 'pairs' lack columns \['text'\]; expected"):
        from_arrow(PAIRS, stored.drop_columns("text"))
    older = stored.set_column(0, "text", pa.array([None], pa.string()))
    with pytest.raises(
        ValueError, match="Column 'text' of 'pairs' is NULL in stored row 0; expected VARCHAR"
    ):
        from_arrow(PAIRS, older)


def test_a_frame_comes_back_with_its_types() -> None:
    rows = frame("m", "b", coverage=[0.5, np.nan])
    back = from_arrow(METRICS, to_arrow(METRICS, rows))
    pd.testing.assert_frame_equal(pd.DataFrame(back), rows)


@pytest.mark.parametrize(
    ("column_type", "values", "dtype"),
    [
        ("BIGINT", [1, None], "Int64"),
        ("BIGINT", [1, 2], "Int64"),
        ("BOOLEAN", [True, None], "boolean"),
        ("DOUBLE", [1.0, None], "float64"),
        ("VARCHAR", ["a", None], "object"),
        ("BIGINT[]", [(1, 2), None], "object"),
    ],
)
def test_a_nullable_columns_type_does_not_depend_on_its_values(
    column_type: str, values: list[Any], dtype: str
) -> None:
    column = Column(name="c", type=column_type, description="x", nullable=True)
    table = Table(name="t", columns=(column,))
    rows = pd.DataFrame({"c": pd.Series(values, dtype=object)})
    for part in (rows, rows[:0]):
        back = pd.DataFrame(from_arrow(table, to_arrow(table, part)))
        assert back["c"].dtype == dtype
        kept = [value if value is not pd.NA and value == value else None for value in back["c"].tolist()]
        assert kept == part["c"].tolist()
