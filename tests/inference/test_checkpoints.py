"""Only a whole checkpoint of the same run is trusted, whenever the process that wrote it died."""

import json
from pathlib import Path

import pytest
import torch

from cg_pipeline.inference import checkpoints as module
from cg_pipeline.inference.checkpoints import Checkpoints, optimiser_state, restore_optimiser


def save(kept: Checkpoints, step: int) -> Path:
    return kept.save(
        step, {"step": step}, {"a/weights": torch.full((3,), float(step)), "n": torch.tensor(step)}
    )


def newest(folder: Path, identity: str = "run") -> int | None:
    found = Checkpoints(folder, identity).load()
    if found is None:
        return None
    assert torch.equal(found.tensors["a/weights"], torch.full((3,), float(found.state["step"])))
    return found.state["step"]


def test_the_newest_comes_back_and_two_are_kept(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path, "run")
    assert kept.load() is None
    for step in (5, 10, 200):
        save(kept, step)
    assert newest(tmp_path) == 200
    assert sorted(path.name for path in tmp_path.glob("run/*")) == ["step_000000010", "step_000000200"]
    kept.clear()
    assert newest(tmp_path) is None


@pytest.mark.parametrize(
    "fault", ["cut", "changed", "no note", "half a note", "no tensors", "note of nothing", "other state"]
)
def test_a_damaged_one_is_passed_over(tmp_path: Path, fault: str) -> None:
    kept = Checkpoints(tmp_path, "run")
    save(kept, 1)
    path = save(kept, 2)
    tensors, note = path / "tensors.safetensors", path / "state.json"
    content = tensors.read_bytes()
    if fault == "cut":
        tensors.write_bytes(content[:-1])
    elif fault == "changed":
        tensors.write_bytes(content[:-1] + b"\x01")
    elif fault == "no note":
        note.unlink()
    elif fault == "half a note":
        note.write_text(note.read_text()[:-20])
    elif fault == "other state":
        note.write_text(note.read_text().replace('"step": 2', '"step": 3'))
    elif fault == "note of nothing":
        note.write_text("[]")
    else:
        tensors.unlink()
    assert newest(tmp_path) == 1


def test_one_of_another_run_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    save(Checkpoints(tmp_path, "run"), 3)
    (tmp_path / "run").rename(tmp_path / "another")
    assert newest(tmp_path, "another") is None
    assert "checkpoint step_000000003 is of another run; passing over it" in caplog.text


def test_a_run_s_checkpoints_outlive_later_steps_of_another(tmp_path: Path) -> None:
    """A setting was changed after a run had come far: the new one's first steps are kept."""
    former, later = Checkpoints(tmp_path, "run"), Checkpoints(tmp_path, "changed")
    for step in (900, 1000):
        save(former, step)
    save(later, 100)
    assert newest(tmp_path, "changed") == 100
    assert newest(tmp_path) == 1000
    later.clear()
    assert newest(tmp_path) is None


@pytest.mark.parametrize("name", ["save_file", "_file_hash", "_flush"])
def test_a_process_that_dies_while_writing_leaves_the_one_before(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Checkpoints(tmp_path, "run")
    save(kept, 1)
    whole = getattr(module, name)

    def dies(*given: object) -> None:
        whole(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, name, dies)
    with pytest.raises(KeyboardInterrupt):
        save(kept, 2)
    monkeypatch.undo()
    assert newest(tmp_path) == 1
    save(kept, 3)
    assert newest(tmp_path) == 3
    assert not (tmp_path / ".partial").exists()


def test_an_optimiser_comes_back_whole(tmp_path: Path) -> None:
    def step(parameter: torch.nn.Parameter, optimiser: torch.optim.Adam) -> None:
        (parameter**2).sum().backward()
        optimiser.step()
        optimiser.zero_grad()

    first, second = (torch.nn.Parameter(torch.tensor([1.0, 2.0])) for _ in range(2))
    mine, other = (torch.optim.Adam([each], lr=0.1) for each in (first, second))
    step(first, mine)
    moments, groups = optimiser_state(mine)
    second.data = first.data.clone()
    copied = {name: tensor.clone() for name, tensor in moments.items()}
    restore_optimiser(other, copied, json.loads(json.dumps(groups)))
    step(first, mine)
    step(second, other)
    assert torch.equal(first, second)
