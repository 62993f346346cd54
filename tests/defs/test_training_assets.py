"""What the training of a reader is given, apart from the training itself."""

from pathlib import Path

import pytest

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.defs.training_assets import place_of, train_reader
from cg_pipeline.inference import training
from cg_pipeline.saes import SAES
from cg_pipeline.specs import HubRows
from cg_pipeline.store.layout import Layout
from tests.defs.tiny_study import N_ROWS, tiny_data


def test_its_gate_reads_the_benchmarks_whose_rows_lie_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Those of the hub are left out, fetched or not: a gate does not depend on what was run before."""
    data_dir = tiny_data(tmp_path / "data")
    (data_dir / "prompts").mkdir()
    (data_dir / "prompts" / "few.txt").write_text("What day is it?\n")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "one.txt").write_text("A passage of some length about tin and ice. " * 30)
    given: dict[str, list[str]] = {}

    def train(sae, passages, prompts, *, check_texts, **_):
        given.update(passages=passages, prompts=prompts, check_texts=check_texts)
        return {"held_out": {"explained_variance": 0.9}}

    monkeypatch.setattr(training, "train_sae", train)
    sae = SAES["smollm2_l12"]
    text_dir, out_dir = str(tmp_path / "text"), tmp_path / "out"
    figures = train_reader(sae, Layout(data_dir), "cpu", text_dir, out_dir=out_dir)

    here = [spec for spec in BENCHMARKS.values() if not isinstance(spec.source, HubRows)]
    assert 0 < len(here) < len(BENCHMARKS)
    assert len(given["check_texts"]) == N_ROWS * len(here)
    assert given["passages"]
    assert given["prompts"]
    assert figures == {"held_out": {"explained_variance": 0.9}}
    assert place_of(sae) == "saes/smollm2_l12"
