import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from cg_pipeline.store.fits import load_fit, save_fit
from cg_pipeline.store.shards import ShardStore
from tests.health.cases import arrays, fit


def test_figures_and_counts_come_back_as_they_were(tmp_path: Path) -> None:
    shards = ShardStore(tmp_path).shard_set("reader_fit", "sae", fingerprint="f", n_shards=1)
    figures, counted = fit(zero_loss_recovered=math.nan), arrays(5)
    save_fit(shards, figures, counted)
    shards.commit({})
    found, again = load_fit(shards.directory)
    assert math.isnan(found.zero_loss_recovered)
    assert {k: v for k, v in asdict(found).items() if v == v} == {
        k: v for k, v in asdict(figures).items() if v == v
    }
    for name in counted.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(again, name), getattr(counted, name))


def test_an_incomplete_set_is_refused(tmp_path: Path) -> None:
    shards = ShardStore(tmp_path).shard_set("reader_fit", "sae", fingerprint="f", n_shards=1)
    save_fit(shards, fit(), arrays(5))
    with pytest.raises(FileNotFoundError, match="has no readable"):
        load_fit(shards.directory)
