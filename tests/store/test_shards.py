import json
import os
import random
import shutil
import signal
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from cg_pipeline.records import Completion
from cg_pipeline.store.shards import ShardSet, ShardStore
from cg_pipeline.store.tables import table_of
from tests.store.workers import compute_shards, processes, wait_for, write_shards_for_ever

COMPLETIONS = table_of(Completion, name="completions")


def completion(number: int) -> Completion:
    return Completion(
        model="m",
        benchmark="b",
        example_id=str(number),
        text="it's 👍",
        choice_logprobs=(-1.5, -2.0),
        stop="choice",
        n_prompt_tokens=3,
        n_completion_tokens=2,
    )


@pytest.fixture
def shards(tmp_path: Path) -> ShardSet:
    return ShardStore(tmp_path).shard_set(
        "activations", "org/Model-7B", "o'brien", fingerprint="f1", n_shards=3
    )


def fill(shards: ShardSet) -> None:
    for index in range(shards.n_shards):
        shards.write(index, {"x": np.arange(100) + index}, n_rows=100)
    shards.commit({"model": "m"})


def file_of(shards: ShardSet, index: int) -> Path:
    [path] = shards.directory.glob(f"shard-{index:05d}-*")
    return path


def test_a_set_lives_where_its_keys_and_fingerprint_say(shards: ShardSet, tmp_path: Path) -> None:
    assert shards.directory == tmp_path / "activations" / "org%2FModel-7B" / "o%27brien" / "f1"


def test_shards_are_read_as_written(shards: ShardSet) -> None:
    arrays = {
        "strided": np.arange(20)[::3],
        "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        "empty": np.zeros((0, 4), dtype=np.int32),
        "flags": np.array([True, False]),
    }
    shards.write(0, arrays)
    back = shards.read(0)
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        np.testing.assert_array_equal(back[name], array)


def test_rows_are_read_as_written(shards: ShardSet) -> None:
    rows = [completion(number) for number in range(5)]
    shards.write_rows(0, COMPLETIONS, rows)
    shards.write_rows(1, COMPLETIONS, [])
    assert shards.read_rows(0, COMPLETIONS) == rows
    assert shards.read_rows(1, COMPLETIONS) == []
    assert shards.missing() == [2]
    shards.write_rows(2, COMPLETIONS, rows[:1])
    shards.commit({})
    assert (shards.manifest() or {})["n_rows"] == 6
    assert shards.verify() == []


def test_the_manifest_comes_last_and_tells_everything(shards: ShardSet) -> None:
    assert shards.missing() == [0, 1, 2]
    shards.write(1, {"x": np.zeros(2)})
    assert shards.missing() == [0, 2]
    with pytest.raises(ValueError, match=r"lacks 2 of 3 shards, the first \[0, 2\]; expected all of them"):
        shards.commit({})
    assert not shards.is_complete()
    fill(shards)
    assert shards.is_complete()
    assert shards.missing() == []
    manifest = shards.manifest() or {}
    assert (manifest["fingerprint"], manifest["n_shards"], manifest["n_rows"]) == ("f1", 3, 300)
    assert manifest["metadata"] == {"model": "m"}
    assert [entry["file"] for entry in manifest["shards"]] == [file_of(shards, i).name for i in range(3)]
    assert ShardSet.open(shards.directory) == shards


def test_writing_a_shard_anew_reopens_the_set(shards: ShardSet) -> None:
    fill(shards)
    shards.write(1, {"x": np.zeros(5)})
    assert not shards.is_complete()
    assert shards.missing() == []
    np.testing.assert_array_equal(shards.read(1)["x"], np.zeros(5))
    assert len(list(shards.directory.glob("shard-00001-*"))) == 1


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def move_in_from_another_fingerprint(path: Path) -> None:
    other = ShardSet(path.parent.parent / "f2", 3)
    strange = other.write(1, {"x": np.arange(100) + 7}, n_rows=100)
    path.unlink()
    shutil.copy(strange, path.parent)


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (truncate, "its content has checksum"),
        (flip_a_byte, "its content has checksum"),
        (move_in_from_another_fingerprint, "it belongs to fingerprint 'f2', expected 'f1'"),
    ],
)
def test_a_damaged_shard_is_named_refused_and_healed(
    shards: ShardSet, damage, sentence: str, complete: bool
) -> None:
    fill(shards)
    if not complete:
        (shards.directory / "manifest.json").unlink()
    damage(file_of(shards, 1))
    name = file_of(shards, 1).name
    with pytest.raises(ValueError, match=f"Shard 1 of 3 in .* cannot be trusted: {name}: {sentence}"):
        shards.read(1)
    found = shards.verify()
    assert any(problem.startswith(name) for problem in found)
    assert shards.verify() == found  # looking changes nothing
    shards.verify(heal=True)
    assert shards.missing() == [1]
    assert not shards.is_complete()
    fill(shards)
    assert shards.verify() == []
    assert shards.is_complete()


def test_a_truncated_shard_of_a_complete_set_is_told_by_its_size(shards: ShardSet) -> None:
    fill(shards)
    size = file_of(shards, 2).stat().st_size
    truncate(file_of(shards, 2))
    assert shards.verify() == [
        f"{file_of(shards, 2).name}: it has {size - 10} bytes, the manifest says {size}."
    ]
    assert not shards.is_complete()


def test_a_vanished_shard_is_named(shards: ShardSet) -> None:
    fill(shards)
    path = file_of(shards, 1)
    path.unlink()
    assert not shards.is_complete()
    assert shards.verify() == [f"{path.name}: it is listed in the manifest, but has vanished."]
    with pytest.raises(FileNotFoundError, match=r"Shard 1 of 3 is not in .*; expected it written"):
        shards.read(1)
    shards.verify(heal=True)
    assert shards.missing() == [1]


def test_a_renumbered_shard_is_refused(shards: ShardSet) -> None:
    shards.write(0, {"x": np.zeros(3)})
    path = file_of(shards, 0)
    path.rename(path.with_name(path.name.replace("shard-00000", "shard-00001")))
    with pytest.raises(ValueError, match="it was written as shard 0 of 3"):
        shards.read(1)
    assert shards.missing() == [0, 1, 2]


def test_a_file_that_was_never_a_shard_is_refused(shards: ShardSet) -> None:
    shards.write(0, {"x": np.zeros(3)})
    checksum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # of nothing
    for suffix in ("safetensors", "arrow"):
        (shards.directory / f"shard-00001-of-00003.{checksum}.{suffix}").touch()
    with pytest.raises(ValueError, match="it carries no stamp"):
        shards.read(1)
    assert len(shards.verify(heal=True)) == 2
    assert shards.missing() == [1, 2]


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b'{"n_shards": 3', b"\xff", b'{"n_shards": 3, "shards": []}']
)
def test_a_manifest_that_cannot_be_read_is_no_manifest(shards: ShardSet, content: bytes) -> None:
    fill(shards)
    (shards.directory / "manifest.json").write_bytes(content)
    assert not shards.is_complete()
    assert shards.manifest() is None
    assert shards.verify() == ["manifest.json: it is not the manifest of this set, or damaged."]
    with pytest.raises(FileNotFoundError, match=r"has no readable manifest\.json; expected a complete set"):
        ShardSet.open(shards.directory)
    shards.verify(heal=True)
    assert shards.missing() == []
    shards.commit({})
    assert shards.is_complete()


def test_flipped_bits_of_a_manifest_are_noticed_and_healed(shards: ShardSet) -> None:
    fill(shards)
    path = shards.directory / "manifest.json"
    whole = path.read_bytes()
    for at in range(0, 8 * len(whole), 5):
        flipped = bytearray(whole)
        flipped[at // 8] ^= 1 << at % 8
        path.write_bytes(flipped)
        if shards.is_complete():  # the bit was of a space, or a digit's exponent: the content is the same
            assert shards.manifest() == json.loads(whole, object_hook=_without_seal)
            continue
        shards.verify(heal=True)
        assert shards.missing() == []
        shards.commit({"model": "m"})
        assert path.read_bytes() == whole


def _without_seal(found: dict) -> dict:
    return {key: value for key, value in found.items() if not (key == "sha256" and "n_shards" in found)}


def test_a_directory_under_another_name_is_noticed(shards: ShardSet) -> None:
    fill(shards)
    moved = ShardSet(shards.directory.rename(shards.directory.with_name("f9")), 3)
    assert len(moved.verify()) == 4
    with pytest.raises(ValueError, match="it belongs to fingerprint 'f1', expected 'f9'"):
        moved.read(0)


def test_a_set_completed_with_another_number_of_shards_is_complete(shards: ShardSet) -> None:
    fill(shards)
    again = ShardSet(shards.directory, 8)
    assert again.is_complete()
    assert again.missing() == []
    assert ShardSet.open(shards.directory).n_shards == 3


def test_a_commit_clears_away_what_it_does_not_list(shards: ShardSet) -> None:
    ShardSet(shards.directory, 2).write(0, {"x": np.zeros(3)})
    (shards.directory / ".tmp-left-by-a-kill").touch()
    fill(shards)
    assert sorted(path.name for path in shards.directory.iterdir()) == [
        "manifest.json",
        *(file_of(shards, i).name for i in range(3)),
    ]


def test_numbers_out_of_range_are_refused(shards: ShardSet) -> None:
    with pytest.raises(ValueError, match="Shard index is 3; expected 0 to 2"):
        shards.write(3, {"x": np.zeros(1)})
    with pytest.raises(ValueError, match="n_shards is 0"):
        ShardSet(shards.directory, 0)


def test_two_processes_compute_a_set_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    runs = [processes.Process(target=compute_shards, args=(tmp_path, log), daemon=True) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0]
    assert log.read_text().split() == ["0", "1", "2", "3"]


def test_a_second_run_computes_what_a_killed_one_left(tmp_path: Path) -> None:
    chance = random.Random(3)
    shards = ShardStore(tmp_path).shard_set("toy", fingerprint="f", n_shards=4)
    for _ in range(4):
        (tmp_path / "written").unlink(missing_ok=True)
        writer = processes.Process(target=write_shards_for_ever, args=(tmp_path,), daemon=True)
        writer.start()
        wait_for(tmp_path / "written")
        sleep(chance.uniform(0, 0.1))
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
        assert shards.verify() == []  # whatever is there is whole
        for index in shards.missing():
            shards.write(index, {"x": np.zeros(3)})
        shards.commit({})
        assert shards.is_complete()
        assert not list(shards.directory.glob(".tmp-*"))
