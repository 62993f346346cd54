"""What is no plain file is refused in a sentence, at once."""

import os
import socket
from pathlib import Path

import pytest

from cg_pipeline.sources.plain_files import read_plain_file


def complaint(path: Path) -> str:
    with pytest.raises(OSError, match="expected rows") as error:
        read_plain_file(path, "rows. Put them there.")
    return str(error.value)


def test_a_plain_file_is_read_through_a_link_too(tmp_path):
    (tmp_path / "rows").write_bytes(b"one")
    (tmp_path / "link").symlink_to(tmp_path / "rows")
    assert read_plain_file(tmp_path / "link", "rows.") == b"one"


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "rows")
    assert complaint(tmp_path / "rows") == (
        f"{tmp_path}/rows is not a file but a pipe; expected rows. Put them there."
    )


def test_folders_sockets_and_devices(tmp_path, monkeypatch):
    assert "is not a file but a folder; expected" in complaint(tmp_path)
    monkeypatch.chdir(tmp_path)  # a socket's name has to be short
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind("plug")
        assert "is not a file but a socket; expected" in complaint(tmp_path / "plug")
    assert "is not a file but a device; expected" in complaint(Path("/dev/zero"))


def test_what_has_no_file(tmp_path):
    assert (
        complaint(tmp_path / "nothing") == f"{tmp_path}/nothing is not a file; expected rows. Put them there."
    )
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    assert "ring is not a file (Too many levels of symbolic links); expected" in complaint(tmp_path / "ring")


def test_names_that_no_file_has(tmp_path):
    long, nul = complaint(tmp_path / ("x" * 4000)), complaint(tmp_path / "a\0b")
    assert " is not a file (File name too long); expected rows" in long
    assert len(long) < 200
    assert "a\\x00b' is not a file (a name holds no NUL character); expected rows" in nul


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_is_forbidden(tmp_path):
    (tmp_path / "rows").write_bytes(b"one")
    (tmp_path / "rows").chmod(0)
    assert "rows cannot be read (Permission denied); expected rows" in complaint(tmp_path / "rows")
