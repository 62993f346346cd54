from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from cg_pipeline.store.encode import to_arrow
from cg_pipeline.store.tables import Column, Table, table_of
from tests.store.toys import METRICS, frame


@dataclass(frozen=True, kw_only=True)
class Thing:
    """A record that checks nothing itself."""

    name: str = "n"
    """A text."""
    count: int = 1
    """A number."""
    share: float = 0.5
    """A fraction."""
    maybe: int | None = None
    """A number, perhaps."""
    good: bool = True
    """A truth."""
    words: tuple[str, ...] = ()
    """Texts."""
    numbers: tuple[float, ...] = ()
    """Fractions."""


THINGS = table_of(Thing, name="things")


def one(column_type: str, values: object, *, nullable: bool = False) -> list[object]:
    column = Column(name="c", type=column_type, description="x", nullable=nullable)
    return to_arrow(Table(name="t", columns=(column,)), pd.DataFrame({"c": values}))["c"].to_pylist()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"name": 5}, "Column 'name' of 'things', row 1: 5 is a int; expected VARCHAR."),
        (
            {"name": None},
            "Column 'name' of 'things', row 1: a value is missing, and the column is not nullable",
        ),
        ({"count": 0.5}, "Column 'count' of 'things', row 1: 0.5 is a float; expected BIGINT."),
        ({"count": 1.0}, "Column 'count' of 'things', row 1: 1.0 is a float; expected BIGINT."),
        ({"count": True}, "Column 'count' of 'things', row 1: True is a bool; expected BIGINT."),
        ({"count": "1"}, "Column 'count' of 'things', row 1: '1' is a str; expected BIGINT."),
        (
            {"count": 2**63},
            "Column 'count' of 'things', row 1: 9223372036854775808 is a int; expected BIGINT",
        ),
        ({"share": True}, "Column 'share' of 'things', row 1: True is a bool; expected DOUBLE."),
        (
            {"share": 2**53 + 1},
            "Column 'share' of 'things', row 1: 9007199254740993 is a int; expected DOUBLE",
        ),
        ({"share": None}, "Column 'share' of 'things', row 1: None is a NoneType; expected DOUBLE."),
        ({"maybe": 0.5}, "Column 'maybe' of 'things', row 1: 0.5 is a float; expected BIGINT."),
        ({"good": 1}, "Column 'good' of 'things', row 1: 1 is a int; expected BOOLEAN."),
        ({"words": "abc"}, "Column 'words' of 'things', row 1: 'abc' is a str; expected VARCHAR[]."),
        ({"words": ("a", 1)}, "Column 'words' of 'things', row 1: 1 is a int; expected VARCHAR."),
        ({"words": ("a", None)}, "Column 'words' of 'things': a list holds a missing item; expected VARCHAR"),
        ({"words": None}, "Column 'words' of 'things', row 1: a value is missing"),
        ({"numbers": (0.5, "x")}, "Column 'numbers' of 'things', row 1: 'x' is a str; expected DOUBLE."),
        ({"name": "a\0b"}, r"Column 'name' of 'things', row 1: 'a\x00b' holds a NUL character"),
        ({"words": ("a", "\0")}, r"Column 'words' of 'things', row 1: '\x00' holds a NUL character"),
        ({"name": "\ud800"}, r"Column 'name' of 'things', row 1: '\ud800' is a str; expected VARCHAR ("),
        (
            {"words": ("a", "\udfff")},
            r"Column 'words' of 'things', row 1: '\udfff' is a str; expected VARCHAR (",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_named(wrong: dict[str, object], sentence: str) -> None:
    rows = [Thing(words=("x", "y"), numbers=(1.0,)), Thing(**wrong), Thing(words=("z",))]  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)) as error:
        to_arrow(THINGS, rows)
    assert str(error.value).startswith(sentence)


def test_rows_of_another_record_are_refused() -> None:
    with pytest.raises(TypeError, match="A row of 'things' is 'x', a str; expected a Thing"):
        to_arrow(THINGS, [Thing(), "x"])
    with pytest.raises(TypeError, match="Rows of 'metrics' are a list; expected a data frame"):
        to_arrow(METRICS, [Thing()])


def test_columns_are_matched_by_name_not_by_place() -> None:
    rows = frame("m", "b")
    assert to_arrow(METRICS, rows[rows.columns[::-1]]).equals(to_arrow(METRICS, rows))


def test_missing_unknown_and_repeated_columns_are_named() -> None:
    rows = frame("m", "b").rename(columns={"accuracy": "acc"})
    with pytest.raises(
        ValueError, match=r"for 'metrics' lacks columns \['accuracy'\], has unknown columns \['acc'\]"
    ):
        to_arrow(METRICS, rows)
    rows = pd.concat([frame("m", "b"), frame("m", "b")[["n"]]], axis=1)
    with pytest.raises(ValueError, match=r"repeats \['n'\]; expected exactly \['model', 'benchmark'"):
        to_arrow(METRICS, rows)
    with pytest.raises(ValueError, match="lacks columns"):
        to_arrow(METRICS, pd.DataFrame())


def test_an_empty_frame_and_an_empty_list_have_the_declared_types() -> None:
    for rows in (frame("m", "b")[:0], pd.DataFrame(columns=METRICS.schema.names)):
        assert to_arrow(METRICS, rows).schema == METRICS.schema
    assert to_arrow(THINGS, []).schema == THINGS.schema


def test_nan_is_null_in_doubles_and_infinity_stays() -> None:
    assert one("DOUBLE", [np.nan, np.inf, -0.0]) == [None, np.inf, -0.0]
    assert one("DOUBLE", np.array([np.nan, 0.1], dtype=np.float32)) == [None, float(np.float32(0.1))]
    assert one("DOUBLE", [None, None]) == [None, None]
    assert to_arrow(THINGS, [Thing(numbers=(1.0, float("nan")))])["numbers"].to_pylist() == [[1.0, None]]


def test_a_frames_numbers_are_never_rounded() -> None:
    assert one("DOUBLE", [1, 2]) == [1.0, 2.0]
    assert one("BIGINT", [1.0, np.nan], nullable=True) == [1, None]
    assert one("BIGINT", pd.array([1, None], dtype="Int64"), nullable=True) == [1, None]
    assert one("BOOLEAN", pd.array([True, None], dtype="boolean"), nullable=True) == [True, None]
    assert one("VARCHAR", pd.Categorical(["a", "b"])) == ["a", "b"]
    assert one("VARCHAR", ["a", np.nan, None, pd.NA], nullable=True) == ["a", None, None, None]
    for kind, values, culprit in (
        ("BIGINT", [1.0, 0.5], "row 1: .*0.5.* is a float64; expected BIGINT"),
        ("BIGINT", [1.0, np.inf], "row 1: .*inf.* is a float64; expected BIGINT"),
        ("DOUBLE", [1, 2**53 + 1], "row 1: .*9007199254740993.* is a int64; expected DOUBLE"),
        (
            "BIGINT",
            np.array([1, 2**63], dtype=np.uint64),
            "row 1: .*9223372036854775808.* is a uint64; expected",
        ),
        ("BIGINT", [True, False], "row 0: .*True.* is a bool; expected BIGINT"),
        ("BOOLEAN", [0, 1], "row 0: .*0.* is a int64; expected BOOLEAN"),
        ("VARCHAR", [1, 2], "row 0: .*1.* is a int64; expected VARCHAR"),
        (
            "BIGINT",
            [1.0, np.nan],
            "row 1: a value is missing, and the column is not nullable; expected BIGINT",
        ),
        ("VARCHAR", ["a", 1.5], "row 1: 1.5 is a float; expected VARCHAR"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"Column 'c' of 't', {culprit}"):
            one(kind, values)


def test_lists_may_be_arrays() -> None:
    assert one("DOUBLE[]", [np.array([1.0, 2.0]), [], (3,)]) == [[1.0, 2.0], [], [3.0]]
    assert one("BIGINT[]", [None, [1]], nullable=True) == [None, [1]]


def test_a_long_value_is_shown_short() -> None:
    with pytest.raises(ValueError, match="holds a NUL character") as error:
        to_arrow(THINGS, [Thing(name="x" * 1_000_000 + "\0")])
    assert len(str(error.value)) < 400
