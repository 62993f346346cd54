"""What a program sees and reaches in isolation."""

import os
import threading

import pytest

from cg_pipeline.processes import sandbox
from tests.processes.cases import LIMITS, everybodys_directory, needs_linux, run_isolated, run_unisolated

pytestmark = [needs_linux, pytest.mark.integration]


def test_without_isolation_nothing_is_run(monkeypatch, tmp_path):
    ended = run_unisolated(monkeypatch, f"open('{tmp_path}/a', 'w')", isolate=True)
    assert (ended.outcome, ended.detail, ended.isolated) == ("unusable", "no isolation: refused", False)
    assert list(tmp_path.iterdir()) == []


def test_a_program_sees_python_and_an_empty_directory_alone(tmp_path):
    (tmp_path / "mine").write_text("mine")
    seen = f"""
import os, sys
assert os.getcwd() == "/program" and os.listdir(".") == []
assert not os.path.exists({str(tmp_path)!r}) and not os.path.exists({__file__!r})
for path in ("/proc", "/sys", "/home", "/run", "/var", "/etc/passwd", "/dev/shm", "/dev/tty"):
    assert not os.path.exists(path), path
assert os.path.exists(sys.executable)
import decimal, json, sqlite3, zoneinfo
"""
    assert run_isolated(seen).detail == ""


def test_a_program_has_no_environment(monkeypatch):
    monkeypatch.setenv("CG_LLM_API_KEY", "secret-key")
    assert run_isolated("import os; assert 'secret-key' not in os.environ.values()").outcome == "passed"


@pytest.mark.parametrize(
    "deed",
    [
        "open('{}/kept', 'a')",
        "open('{}/new', 'w')",
        "os.truncate('{}/kept', 0)",
        "os.chmod('{}/kept', 0o700)",
        "os.chown('{}/kept', 0, 0)",
        "os.utime('{}/kept')",
        "os.setxattr('{}/kept', 'user.a', b'a')",
        "os.remove('{}/kept')",
        "os.mkdir('{}/new')",
    ],
)
def test_the_mounts_alone_refuse_every_change(monkeypatch, deed: str) -> None:
    """Of files that anybody may change, shown for once, and without Landlock."""
    with everybodys_directory() as directory:
        shown = f"confined.room._SYSTEM += ({str(directory)!r},)"
        bare = f"{shown}\nconfined.rights._write_only_here = lambda: None\nconfined.main()"
        monkeypatch.setattr(sandbox, "_WARDEN", sandbox._WARDEN.replace("confined.main()", bare))
        refused = f"import errno, os\ntry: {deed.format(directory)}\n"
        refused += "except OSError as error: assert error.errno == errno.EROFS\nelse: assert False"
        assert run_isolated(refused).detail == ""


@pytest.mark.parametrize("deed", ["os.mkdir('/a')", "os.mknod('a', 0o60666, 1)", "os.chroot('..')"])
def test_nothing_is_added_to_the_room(deed: str) -> None:
    assert run_isolated(f"import os\n{deed}").detail in ("PermissionError", "OSError")


def test_it_writes_in_its_directory_and_no_more_than_that_holds():
    assert run_isolated("open('a', 'w').write('x'); assert open('a').read() == 'x'").outcome == "passed"
    fill = "\n".join(["import os"] + [f"open('{n}', 'wb').write(bytes(4 << 20))" for n in range(5)])
    assert LIMITS.directory_bytes < 5 * (4 << 20)
    assert run_isolated(fill).detail == "OSError"
    assert run_isolated("import os; assert os.listdir('.') == []").outcome == "passed"


def test_a_program_is_not_root_and_becomes_nothing_else():
    who = """
import ctypes, os
assert os.getuid() != 0 and os.geteuid() != 0 and os.getgid() != 0
found = (ctypes.c_uint32 * 6)()
ctypes.CDLL(None).capget((ctypes.c_uint32 * 2)(0x20080522, 0), found)
assert not any(found)
NEW_USER, NEW_NET = 0x10000000, 0x40000000
assert ctypes.CDLL(None).unshare(NEW_USER) == -1
assert ctypes.CDLL(None).unshare(NEW_NET) == -1
"""
    assert run_isolated(who).detail == ""
    assert run_isolated("import os; os.setuid(0)").detail == "PermissionError"


def test_there_is_no_network():
    alone = "import socket\nassert [name for _, name in socket.if_nameindex()] == ['lo']"
    assert run_isolated(alone).detail == ""
    assert run_isolated("import socket\nsocket.create_connection(('127.0.0.1', 80), 1)").outcome == "failed"


def test_no_other_process_is_in_reach():
    assert run_isolated(f"import os; os.kill({os.getpid()}, 0)").detail == "ProcessLookupError"
    assert run_isolated("import os; os.kill(os.getppid(), 9)").outcome == "failed"


def test_two_programs_share_no_limit():
    """Each may have as many processes as its limit says, whatever the other does."""
    fork = "    if not os.fork(): time.sleep(1); os._exit(0)"
    many = f"import os, time\nfor _ in range(10):\n{fork}\ntime.sleep(0.5)"
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(run_isolated(many).outcome)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["passed"] * 3
