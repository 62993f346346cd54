"""A process that trains is killed for good, and the next one ends as an undisturbed one."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import load_file

from cg_pipeline.inference import training
from tests.fakes import tiny_loaded_model
from tests.inference.test_training import STREAMED, tiny_sae_spec, train

pytestmark = pytest.mark.integration

TRAIN = """
import sys, time
from dataclasses import replace
from pathlib import Path
import torch
torch.set_num_threads(1)
from sae_lens import SAETrainer
from cg_pipeline.inference import training
from tests.inference.test_training import STREAMED, tiny_loaded_model, tiny_sae_spec, train

folder, pause_s = Path(sys.argv[1]), float(sys.argv[2])
tiny, step = tiny_loaded_model(), SAETrainer.step
training.load_model = lambda model, **where: replace(tiny, spec=model)

def slow(self, batch):
    time.sleep(pause_s)
    return step(self, batch)

SAETrainer.step = slow
train(folder, tiny_sae_spec(STREAMED), lambda told: print(told, flush=True), checkpoint_every_s=0.0)
print("published", flush=True)
"""


def process(folder: Path, pause_s: float) -> "subprocess.Popen[str]":
    root = Path(__file__).parents[2]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", TRAIN, str(folder), str(pause_s)]
    return subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE, text=True)


def newest(folder: Path) -> str:
    return max((path.name for path in (folder / "work" / "checkpoints").glob("*/step_*")), default="")


def kill_after_a_checkpoint(folder: Path) -> None:
    """SIGKILL some moments after a further checkpoint was put down: in a step, a reading or a writing."""
    running, before = process(folder, 0.05), newest(folder)
    try:
        while newest(folder) == before:
            assert running.poll() is None, "it ended before it could be killed"
            time.sleep(0.005)
        time.sleep(0.07)
    finally:
        running.kill()
        running.communicate()


def test_killed_it_publishes_what_an_undisturbed_run_publishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_after_a_checkpoint(tmp_path / "killed")
    said, _ = process(tmp_path / "killed", 0.0).communicate(timeout=240)
    assert "going on from step" in said
    assert "published" in said
    tiny = tiny_loaded_model()
    monkeypatch.setattr(training, "load_model", lambda model, **where: replace(tiny, spec=model))
    train(tmp_path / "whole", tiny_sae_spec(STREAMED))
    ours, theirs = (tmp_path / name / "saes" / "tiny" for name in ("killed", "whole"))
    found, wanted = (load_file(each / "sae_weights.safetensors") for each in (ours, theirs))
    assert all((found[name] == wanted[name]).all() for name in wanted)
    assert (ours / "figures.json").read_text() == (theirs / "figures.json").read_text()
