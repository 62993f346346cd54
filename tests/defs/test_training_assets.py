"""What the training of a reader is given, apart from the training itself."""

from itertools import chain
from pathlib import Path

import dagster as dg
import pytest

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.defs import training_assets
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.defs.training_assets import place_of, train_reader, trained_sae
from cg_pipeline.inference import training
from cg_pipeline.inference.training import TrainedReader
from cg_pipeline.saes import SAES
from cg_pipeline.specs import HubRows
from cg_pipeline.store.layout import Layout
from cg_pipeline.training_records import CurvePoint
from tests.defs.tiny_study import N_ROWS, tiny_data

POINT = CurvePoint(
    n_tokens=2048, loss=2.0, explained_variance=0.9, l0=32.0, dead_share=0.1, learning_rate=1e-3
)
TRAINED = TrainedReader({"held_out": {"explained_variance": 0.9, "loss_recovered": 0.95}}, [POINT], True)


def test_its_gate_reads_the_benchmarks_whose_rows_lie_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Those of the hub are left out, fetched or not: a gate does not depend on what was run before."""
    data_dir = tiny_data(tmp_path / "data")
    (data_dir / "prompts").mkdir()
    (data_dir / "prompts" / "few.txt").write_text("What day is it?\n")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "one.txt").write_text("A passage of some length about tin and ice. " * 30)
    given: dict[str, list[str]] = {}

    def train(sae, documents, prompts, *, check_texts, **_):
        given.update(passages=[*chain(*documents(0))], prompts=prompts, check_texts=check_texts)
        return TRAINED

    monkeypatch.setattr(training, "train_sae", train)
    sae = SAES["smollm2_l12"]
    text_dir, out_dir = str(tmp_path / "text"), tmp_path / "out"
    trained = train_reader(sae, Layout(data_dir), "cpu", text_dir, out_dir=out_dir, report=print)

    here = [spec for spec in BENCHMARKS.values() if not isinstance(spec.source, HubRows)]
    assert 0 < len(here) < len(BENCHMARKS)
    assert len(given["check_texts"]) == N_ROWS * len(here)
    assert given["passages"]
    assert given["prompts"]
    assert trained is TRAINED
    assert place_of(sae) == "saes/smollm2_l12"


def test_two_trainings_of_one_sae_do_not_share_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    data_dir = tiny_data(tmp_path / "data")
    (data_dir / "prompts").mkdir()
    (data_dir / "prompts" / "few.txt").write_text("What day is it?\n")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "one.txt").write_text("A passage about tin. " * 30)
    monkeypatch.setattr(training_assets, "_PATIENCE_S", 0.1)
    sae, layout = SAES["smollm2_l12"], Layout(data_dir)

    def another(*_, **__):
        train_reader(sae, layout, "cpu", str(tmp_path / "text"), out_dir=tmp_path / "out", report=print)

    monkeypatch.setattr(training, "train_sae", another)
    with pytest.raises(TimeoutError, match=r"smollm2_l12\.lock, held by process \d+; expected it to be free"):
        another()


def test_figures_and_curves_are_metadata_of_the_asset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(training_assets, "train_reader", lambda *_, **__: TRAINED)
    store = Store(data_dir=str(tmp_path))
    result = dg.materialize(
        [trained_sae],
        partition_key="smollm2_l12",
        resources={"gpu": Gpu(store=store), "store": store},
        instance=dg.DagsterInstance.ephemeral(),
    )
    metadata = result.asset_materializations_for_node("trained_sae")[0].metadata
    assert metadata["held_out_explained_variance"].value == 0.9
    assert metadata["held_out_loss_recovered"].value == 0.95
    assert metadata["n_tokens_trained"].value == 2048
    assert metadata["stopped_early"].value is True
    assert "data:image/png;base64," in str(metadata["training_explained_variance"].value)
    assert {"training_l0", "training_dead_share", "training_loss"} < set(metadata)
