"""Which weights a reader has is known only once they are on this machine."""

from pathlib import Path

import pytest

from cg_pipeline.defs import reader_assets
from cg_pipeline.defs.resources import Store
from cg_pipeline.saes import SAES
from tests.defs.tiny_study import LOADS, FakeGpu

CONTENT = "0123456789abcdef" * 4


@pytest.mark.parametrize(("fetched", "loads"), [(False, ["gemma_2_2b_l20_16k"]), (True, [])])
def test_weights_of_the_hub_are_fetched_before_they_are_identified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fetched: bool, loads: list[str]
) -> None:
    """Otherwise results would be kept under the name of weights that nobody has looked at."""
    store = Store(data_dir=str(tmp_path))
    monkeypatch.setattr(reader_assets, "is_fetched", lambda sae: fetched)
    monkeypatch.setattr(
        reader_assets, "weights_hash", lambda sae, *_: CONTENT if fetched or LOADS[before:] else ""
    )
    before = len(LOADS)

    found = reader_assets.stored_weights(SAES["gemma_2_2b_l20_16k"], FakeGpu(store=store), store)

    assert (found, LOADS[before:]) == (CONTENT, loads)
