from typing import Any

import numpy as np
import pandas as pd
import pytest

from cg_pipeline.records import Completion, Example
from cg_pipeline.store.materialisations import Provenance
from cg_pipeline.store.tables import Column, Table, table_of
from cg_pipeline.store.warehouse import Warehouse
from tests.store.toys import HOSTILE_KEYS, MADE, METRICS, cell, frame

EXAMPLES = table_of(Example, name="examples", keys=("benchmark",))
HOSTILE_TEXTS = (
    "it's",
    '"; DROP TABLE completions; --',
    "x') or 1=1 --",
    "$1 ? {} %s \\ \n\r\t\x7f",
    "👩‍👩‍👧 🏴‍☠️",
    "مرحبا \u202e abc",
    "",
    "\ufeff\u200b\ufffd",
    "x" * 1_000_000,
)


def load(warehouse: Warehouse, table: Table, *partitions: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(warehouse.load(table, partitions))


def put(warehouse: Warehouse, model: str, benchmark: str, **columns: Any) -> int:
    return warehouse.replace(METRICS, cell(model, benchmark), frame(model, benchmark, **columns), MADE)


def test_what_was_written_is_read(warehouse: Warehouse) -> None:
    assert put(warehouse, "m", "b") == 2
    pd.testing.assert_frame_equal(load(warehouse, METRICS, cell("m", "b")), frame("m", "b"))


def test_records_come_back_as_records_in_order(warehouse: Warehouse) -> None:
    rows = [
        Example(benchmark="b", category="c", cluster="", prompt=f"{i}?", choices=("x", "y"), targets=("x",))
        for i in range(50)
    ]
    warehouse.replace(EXAMPLES, {"benchmark": "b"}, rows, MADE)
    assert warehouse.load(EXAMPLES, [{"benchmark": "b"}]) == rows
    warehouse.replace(EXAMPLES, {"benchmark": "b"}, rows[::-1], MADE)
    assert warehouse.load(EXAMPLES) == rows[::-1]


def test_another_order_of_columns_changes_nothing(warehouse: Warehouse) -> None:
    put(warehouse, "m1", "b")
    rows = frame("m2", "b")
    warehouse.replace(METRICS, cell("m2", "b"), rows[rows.columns[::-1]], MADE)
    pd.testing.assert_frame_equal(load(warehouse, METRICS, cell("m2", "b")), rows)


def test_integers_first_and_fractions_later(warehouse: Warehouse) -> None:
    put(warehouse, "m1", "b", coverage=[1, 2])
    put(warehouse, "m2", "b", coverage=[0.5, 0.25])
    assert load(warehouse, METRICS, cell("m2", "b"))["coverage"].tolist() == [0.5, 0.25]


def test_only_nulls_first_and_values_later(warehouse: Warehouse) -> None:
    put(warehouse, "m1", "b", note=[None, None], coverage=[None, None])
    put(warehouse, "m2", "b", note=["x", "y"])
    assert load(warehouse, METRICS, cell("m2", "b"))["note"].tolist() == ["x", "y"]
    assert load(warehouse, METRICS, cell("m1", "b"))["coverage"].isna().all()


def test_no_rows_are_a_result(warehouse: Warehouse) -> None:
    assert warehouse.replace(METRICS, cell("m", "b"), frame("m", "b")[:0], MADE) == 0
    assert len(load(warehouse, METRICS, cell("m", "b"))) == 0
    note = warehouse.materialisation("metrics", cell("m", "b"))
    assert note is not None
    assert note.n_rows == 0


def test_rows_of_another_partition_are_refused(warehouse: Warehouse) -> None:
    put(warehouse, "m", "b")
    rows = pd.concat([frame("m", "b"), frame("other", "b")])
    with pytest.raises(
        ValueError, match=r"Rows for partition model=m, benchmark=b of 'metrics' have model \['other'\]"
    ):
        warehouse.replace(METRICS, cell("m", "b"), rows, MADE)
    assert len(pd.DataFrame(warehouse.load(METRICS))) == 2


def test_writing_again_replaces(warehouse: Warehouse) -> None:
    for coverage in ([0.1, 0.2], [0.3, 0.4]):
        put(warehouse, "m", "b", coverage=coverage)
    assert load(warehouse, METRICS, cell("m", "b"))["coverage"].tolist() == [0.3, 0.4]
    assert len(warehouse.materialisations("metrics")) == 1


def test_a_failed_write_keeps_the_old_rows(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    put(warehouse, "m", "b")
    with pytest.raises(ValueError, match=r"has unknown columns \['surprise'\]"):
        put(warehouse, "m", "b", surprise=1)

    def fail(*_: object) -> None:
        raise RuntimeError("after the rows, before the commit")

    with monkeypatch.context() as patch:
        patch.setattr("cg_pipeline.store.warehouse._put_note", fail)
        with pytest.raises(RuntimeError, match="before the commit"):
            put(warehouse, "m", "b", coverage=[7, 7])
        with pytest.raises(RuntimeError, match="before the commit"):
            put(warehouse, "new", "b")
    pd.testing.assert_frame_equal(pd.DataFrame(warehouse.load(METRICS)), frame("m", "b"))
    assert warehouse.materialisation("metrics", cell("new", "b")) is None


def test_a_new_column_is_added_and_is_null_in_older_rows(warehouse: Warehouse) -> None:
    put(warehouse, "m1", "b")
    lift = Column(name="lift", type="DOUBLE", description="Lift; NULL if unknown.")
    wider = Table(name="metrics", columns=(*METRICS.columns, lift), keys=METRICS.keys, description="Wider.")
    assert load(warehouse, wider, cell("m1", "b"))["lift"].isna().all()  # before any row has it
    warehouse.replace(wider, cell("m2", "b"), frame("m2", "b", lift=[1.5, 2.5]), MADE)
    assert load(warehouse, wider, cell("m1", "b"))["lift"].isna().all()
    assert load(warehouse, wider, cell("m2", "b"))["lift"].tolist() == [1.5, 2.5]
    put(warehouse, "m3", "b")  # a writer that does not know it yet
    assert load(warehouse, METRICS, cell("m2", "b")).columns.tolist() == METRICS.schema.names
    assert comments(warehouse)["lift"] == "Lift; NULL if unknown."


def test_a_new_column_that_may_not_be_null_asks_for_the_partition_again(warehouse: Warehouse) -> None:
    put(warehouse, "m1", "b")
    size = Column(name="size", type="BIGINT", description="Size.")
    wider = Table(name="metrics", columns=(*METRICS.columns, size), keys=METRICS.keys)
    with pytest.raises(
        ValueError, match=r"Column 'size' of 'metrics' is NULL in stored row 0; .* partition again"
    ):
        warehouse.load(wider, [cell("m1", "b")])


def test_a_column_keeps_its_type(warehouse: Warehouse) -> None:
    put(warehouse, "m", "b")
    columns = [
        Column(name=c.name, type="DOUBLE", description="x") if c.name == "n" else c for c in METRICS.columns
    ]
    changed = Table(name="metrics", columns=tuple(columns), keys=METRICS.keys)
    with pytest.raises(
        ValueError, match="Column 'n' of 'metrics' is stored as BIGINT, but declared DOUBLE; expected"
    ):
        warehouse.replace(changed, cell("m", "b"), frame("m", "b"), MADE)
    pd.testing.assert_frame_equal(load(warehouse, METRICS, cell("m", "b")), frame("m", "b"))


def test_any_text_is_a_key(warehouse: Warehouse) -> None:
    for number, key in enumerate(HOSTILE_KEYS):
        put(warehouse, key, "b", n=[number, number])
    for number, key in enumerate(HOSTILE_KEYS):
        assert load(warehouse, METRICS, cell(key, "b"))["n"].tolist() == [number, number]
    assert len(pd.DataFrame(warehouse.load(METRICS))) == 2 * len(HOSTILE_KEYS)
    assert {note.model for note in warehouse.materialisations("metrics")} == set(HOSTILE_KEYS)
    assert warehouse.fingerprint_of("metrics", cell("o'brien", "b")) == "f1"


def test_any_text_is_a_value(warehouse: Warehouse) -> None:
    table = table_of(Completion, name="completions", keys=("model", "benchmark"))
    numbers: dict[str, Any] = {"stop": "end", "n_prompt_tokens": 1, "n_completion_tokens": 1}
    rows = [
        Completion(**cell("m", "b"), example_id=str(i), text=t, **numbers)
        for i, t in enumerate(HOSTILE_TEXTS)
    ]
    warehouse.replace(table, cell("m", "b"), rows, MADE)
    assert warehouse.load(table, [cell("m", "b")]) == rows


def test_tables_and_columns_may_have_any_name(warehouse: Warehouse) -> None:
    names = ('order"; DROP TABLE x; --', "select", "it's", "rows for metrics")
    for name in names:
        key = Column(name="model", type="VARCHAR", description=f"{name} -- it's")
        table = Table(
            name=name, columns=(key, Column(name=name, type="DOUBLE", description=name)), keys=("model",)
        )
        for share in (0.5, 1.5):
            warehouse.replace(table, {"model": "m"}, pd.DataFrame({"model": ["m"], name: [share]}), MADE)
        assert load(warehouse, table, {"model": "m"})[name].tolist() == [1.5]


def test_listed_partitions_are_read_and_no_others(warehouse: Warehouse) -> None:
    for benchmark in ("b1", "b2", "b3"):
        put(warehouse, "m", benchmark)
    put(warehouse, "n", "b1")
    wanted = [cell("m", "b3"), cell("m", "b1")]
    rows = load(warehouse, METRICS, *wanted, *wanted)
    assert list(zip(rows["model"], rows["benchmark"], strict=True)) == [("m", "b1")] * 2 + [("m", "b3")] * 2
    assert len(load(warehouse, METRICS, cell("n", "b1"), cell("m", "b2"))) == 4
    assert load(warehouse, METRICS).columns.tolist() == METRICS.schema.names
    assert len(load(warehouse, METRICS)) == 0


def test_a_partition_that_was_never_materialised_is_named(warehouse: Warehouse) -> None:
    with pytest.raises(
        LookupError, match="Table 'metrics' was never materialised for model=m, benchmark=b; expected"
    ):
        warehouse.load(METRICS, [cell("m", "b")])
    with pytest.raises(LookupError, match="Table 'metrics' was never materialised for the whole table"):
        warehouse.load(METRICS)
    put(warehouse, "m", "b1")
    put(warehouse, "m", "b3")
    with pytest.raises(LookupError, match="for model=m, benchmark=b2; expected every partition"):
        warehouse.load(METRICS, [cell("m", b) for b in ("b1", "b2", "b3")])
    with pytest.raises(LookupError, match="benchmark=c4 and 3 more; expected"):
        warehouse.load(METRICS, [cell("m", f"c{i}") for i in range(8)])


def test_partitions_are_given_by_the_tables_keys(warehouse: Warehouse) -> None:
    with pytest.raises(
        ValueError, match=r"of 'metrics' is given by \['model'\]; expected \['benchmark', 'model'\]"
    ):
        warehouse.replace(METRICS, {"model": "m"}, frame("m", "b"), MADE)
    with pytest.raises(ValueError, match="is given by"):
        warehouse.load(METRICS, [{"model": "m"}])
    odd = Table(name="odd", columns=(Column(name="layer", type="VARCHAR", description="x"),), keys=("layer",))
    with pytest.raises(
        ValueError, match=r"partition of 'odd' is keyed by \['layer'\]; expected some of \['model'"
    ):
        warehouse.replace(odd, {"layer": "1"}, pd.DataFrame({"layer": ["1"]}), MADE)


def test_a_table_without_keys_is_replaced_as_a_whole(warehouse: Warehouse) -> None:
    table = Table(name="all", columns=(Column(name="x", type="DOUBLE", description="x"),))
    for values in ([1.0, 2.0], [3.0]):
        warehouse.replace(table, {}, pd.DataFrame({"x": values}), MADE)
    assert pd.DataFrame(warehouse.load(table))["x"].tolist() == [3.0]
    assert pd.DataFrame(warehouse.load(table, [{}]))["x"].tolist() == [3.0]


def test_provenance_is_kept_with_the_rows(warehouse: Warehouse) -> None:
    put(warehouse, "m", "b")
    note = warehouse.materialisation("metrics", cell("m", "b"))
    assert note is not None
    assert (note.model, note.benchmark, note.sae, note.fingerprint, note.n_rows) == ("m", "b", None, "f1", 2)
    assert note.versions == '{"numpy": "2"}'
    again = Provenance(fingerprint="f2")
    warehouse.replace(METRICS, cell("m", "b"), frame("m", "b"), again)
    assert warehouse.fingerprint_of("metrics", cell("m", "b")) == "f2"
    with pytest.raises(LookupError, match="'metrics' was never materialised for model=m, benchmark=c"):
        warehouse.fingerprint_of("metrics", cell("m", "c"))


def test_what_is_kept_elsewhere_can_be_noted(warehouse: Warehouse) -> None:
    assert warehouse.materialisations() == []
    warehouse.note("activations", {"sae": "s"}, 7, MADE)
    warehouse.note("activations", {"sae": "s"}, 8, MADE)
    [note] = warehouse.materialisations()
    assert (note.asset, note.model, note.sae, note.n_rows) == ("activations", None, "s", 8)


def test_nan_is_null_for_every_client(warehouse: Warehouse) -> None:
    put(warehouse, "m", "b", coverage=[np.nan, 0.5])
    [row] = warehouse.read_published("SELECT avg(coverage) AS mean FROM metrics").to_pylist()
    assert row == {"mean": 0.5}


def comments(warehouse: Warehouse) -> dict[str, str]:
    rows = warehouse.read_published(
        "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'metrics'"
    )
    return {row["column_name"]: row["comment"] for row in rows.to_pylist()}


def test_descriptions_are_comments_that_any_client_sees_and_follow_the_declaration(
    warehouse: Warehouse,
) -> None:
    put(warehouse, "m", "b")
    assert comments(warehouse)["model"] == "Model's name."
    assert comments(warehouse)["coverage"] == 'Coverage; 1 is "even".'
    columns = (Column(name="model", type="VARCHAR", description="Who?"), *METRICS.columns[1:])
    table = Table(name="metrics", columns=columns, keys=METRICS.keys, description="It's new.")
    warehouse.replace(table, cell("m", "b"), frame("m", "b"), MADE)
    assert comments(warehouse)["model"] == "Who?"
    [row] = warehouse.read_published(
        "SELECT comment FROM duckdb_tables() WHERE table_name = 'metrics'"
    ).to_pylist()
    assert row["comment"] == "It's new."
