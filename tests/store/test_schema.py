from cg_pipeline.metrics import METRICS
from cg_pipeline.store.materialisations import DIMENSIONS
from cg_pipeline.store.schema import TABLES


def test_every_table_is_keyed_by_known_dimensions_and_described() -> None:
    for name, table in TABLES.items():
        assert table.name == name
        assert table.keys or name == "near_duplicates"  # of a study's benchmarks together
        assert set(table.keys) <= set(DIMENSIONS)
        assert table.description
        assert all(column.description for column in table.columns)


def test_every_metric_of_the_catalogue_is_a_column() -> None:
    columns = {column.name: column for column in TABLES["concept_metrics"].columns}
    for metric in METRICS.values():
        assert columns[metric.name].description == metric.description
