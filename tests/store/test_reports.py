from pathlib import Path

from cg_pipeline.store.layout import Layout
from cg_pipeline.store.reports import save_report


def test_files_are_below_the_models_directory_and_replaced(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    save_report(layout, "org/m", {"report.html": "<p>old</p>"})
    paths = save_report(layout, "org/m", {"report.html": "<p>“new”</p>", "report.md": "# ü"})
    assert paths["report.html"] == Path("reports/org%2Fm/report.html")
    assert {name: layout.declared(str(path)).read_text("utf-8") for name, path in paths.items()} == {
        "report.html": "<p>“new”</p>",
        "report.md": "# ü",
    }
