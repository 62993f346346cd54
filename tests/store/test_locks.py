import logging
import os
import re
from pathlib import Path

import pytest

from cg_pipeline.store import locks
from cg_pipeline.store.locks import hold, holders
from tests.store.workers import hold_lock, processes, share_lock_again_and_again, wait_for


def start(target, *arguments):
    process = processes.Process(target=target, args=arguments, daemon=True)
    process.start()
    wait_for(arguments[0].with_suffix(f".{process.pid}"))
    return process


def is_refused(lock: Path, *, exclusive: bool) -> bool:
    try:
        with hold(lock, exclusive=exclusive, timeout_s=0.1):
            return False
    except TimeoutError:
        return True


def test_readers_share_and_a_writer_excludes_everybody(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with hold(lock, exclusive=False, timeout_s=1.0):
        assert not is_refused(lock, exclusive=False)
        assert is_refused(lock, exclusive=True)
    with hold(lock, exclusive=True, timeout_s=1.0):
        assert is_refused(lock, exclusive=False)
        assert is_refused(lock, exclusive=True)
    assert not is_refused(lock, exclusive=True)


def test_the_sentence_names_who_holds_it_and_how_long_we_waited(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    other = start(hold_lock, lock, True, 30.0)
    with pytest.raises(TimeoutError) as error, hold(lock, exclusive=True, timeout_s=0.3):
        pass
    assert re.sub(r"^Waited 0\.[3-9] s", "Waited 0.3 s", str(error.value)) == (  # a busy machine waits longer
        f"Waited 0.3 s for {lock}, held by process {other.pid}; expected it to be free within 0.3 s. "
        "Let that process finish or stop it, or allow a longer lock timeout."
    )
    other.kill()
    with hold(lock, exclusive=True, timeout_s=5.0):  # the kernel freed it
        pass
    other.join()


def test_all_who_share_it_are_named(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    others = [start(hold_lock, lock, False, 30.0) for _ in range(2)]
    assert holders(lock) == "processes {}, {}".format(*sorted(other.pid for other in others))
    for other in others:
        other.kill()
        other.join()
    assert holders(lock) == "a process that has just let go, or is not visible from here"


def test_readers_who_never_pause_do_not_keep_a_writer_out(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    readers = [start(share_lock_again_and_again, lock, 60.0) for _ in range(4)]
    with hold(lock, exclusive=True, timeout_s=10.0):
        assert all(reader.is_alive() for reader in readers)
    for reader in readers:
        reader.kill()
        reader.join()


def test_an_exception_frees_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with pytest.raises(KeyError), hold(lock, exclusive=True, timeout_s=1.0):
        raise KeyError("x")
    with hold(lock, exclusive=True, timeout_s=0.0):
        pass


def test_a_long_wait_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(locks, "_SAY_AFTER_S", 0.0)
    lock = tmp_path / "lock"
    with hold(lock, exclusive=True, timeout_s=1.0), caplog.at_level(logging.WARNING):
        assert is_refused(lock, exclusive=False)
    assert caplog.messages == [f"Waiting for {lock}, held by process {os.getpid()}; giving up after 0.1 s."]
