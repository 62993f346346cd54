from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pytest

from cg_pipeline.records import Completion, Concept, Example, Gap, GapCluster, Score
from cg_pipeline.store.tables import Column, Table, table_of


@dataclass(frozen=True, kw_only=True)
class Odd:
    """A record."""

    mapping: dict[str, int]
    """Not a column type."""


@dataclass(frozen=True, kw_only=True)
class Undescribed:
    """A record."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """A record."""

    choice: Literal["a", 1]
    """Not a text."""


def types_of(table: Table) -> dict[str, str]:
    return {column.name: column.type for column in table.columns}


def test_columns_and_descriptions_come_from_the_record() -> None:
    table = table_of(Score, name="scores", keys=("model", "benchmark"))
    assert types_of(table) == {
        "model": "VARCHAR",
        "benchmark": "VARCHAR",
        "example_id": "VARCHAR",
        "sample": "BIGINT",
        "outcome": "VARCHAR",
        "value": "DOUBLE",
        "reason": "VARCHAR",
        "answer": "VARCHAR",
    }
    value = table.columns[5]
    assert value.nullable
    assert value.description == "Score in [0, 1]; NULL when unscored."
    assert table.description == "How good one completion is. Unscored is a third state, never 0."
    assert [column.name for column in table.columns if column.nullable] == ["value"]


def test_lists_literals_and_derived_fields_are_columns() -> None:
    completion = types_of(table_of(Completion, name="completions"))
    assert completion["choice_logprobs"] == "DOUBLE[]"
    assert completion["choice_tokens"] == "BIGINT[]"
    assert completion["stop"] == "VARCHAR"
    assert types_of(table_of(Example, name="examples"))["example_id"] == "VARCHAR"
    assert types_of(table_of(Example, name="examples"))["choices"] == "VARCHAR[]"


@pytest.mark.parametrize("record", [Example, Completion, Score, Concept, Gap, GapCluster])
def test_every_record_of_the_method_is_a_table(record: type) -> None:
    table = table_of(record, name="t")
    assert all(column.description for column in table.columns)
    assert table.record is record
    assert table.schema.names == [column.name for column in table.columns]


def test_a_field_that_is_no_column_is_refused_with_its_type() -> None:
    with pytest.raises(TypeError, match=r"Odd\.mapping is a dict\[str, int\]; expected str, int, float"):
        table_of(Odd, name="odd")
    with pytest.raises(TypeError, match=r"Mixed\.choice is a typing\.Literal\['a', 1\]; expected"):
        table_of(Mixed, name="mixed")


def test_a_field_without_description_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Undescribed\.name has no description; write one line"):
        table_of(Undescribed, name="undescribed")


def test_declarations_that_make_no_sense_are_refused() -> None:
    text = Column(name="a", type="VARCHAR", description="x")
    with pytest.raises(ValueError, match="Column 'a' has type 'FLOAT'; expected one of VARCHAR, BIGINT"):
        Column(name="a", type="FLOAT", description="x")
    with pytest.raises(ValueError, match="name is empty"):
        Column(name="", type="VARCHAR", description="x")
    with pytest.raises(ValueError, match=r"Table 't' repeats \['a'\]"):
        Table(name="t", columns=(text, Column(name="A", type="DOUBLE", description="x")))
    with pytest.raises(
        ValueError, match=r"Table 't' is keyed by \['model'\]; expected VARCHAR columns, of \['a'\]"
    ):
        Table(name="t", columns=(text,), keys=("model",))


def test_arrow_types() -> None:
    assert Column(name="a", type="DOUBLE[]", description="x").arrow == pa.list_(pa.float64())
    assert Column(name="a", type="TIMESTAMP", description="x").arrow == pa.timestamp("us")
