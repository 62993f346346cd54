"""A warehouse in a temporary directory."""

from pathlib import Path

import pytest

from cg_pipeline.store.layout import Layout
from cg_pipeline.store.warehouse import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(Layout(tmp_path / "user's data"), lock_timeout_s=5.0)
