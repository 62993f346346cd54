"""Files that people name: read where they are plain ones, else refused in a sentence, and never waited for.

*Why look before reading:* who opens a pipe waits until somebody writes into it.
"""

import stat
from pathlib import Path

from cg_pipeline.sources.json_lines import show

_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def read_plain_file(path: Path, expected: str) -> bytes:
    """The content of a file; `expected` says what it should have been, and what to do.

    Raises:
        FileNotFoundError: it is missing or no plain file, or nothing can have its name.
        OSError: it cannot be read, of the kind that the system says.
    """
    shown = str(path) if str(path).isprintable() and len(path.name) < 255 else show(str(path))
    if (lack := _lack(path)) is not None:
        raise FileNotFoundError(f"{shown} is not a file{lack}; expected {expected}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise type(error)(f"{shown} cannot be read ({error.strerror}); expected {expected}") from None


def _lack(path: Path) -> str | None:
    """What stands in the way, in words; None for a plain file, and nothing to add to one that is missing."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f" ({error.strerror})"
    except ValueError:  # what Python says of a NUL
        return " (a name holds no NUL character)"
    return None if kind == stat.S_IFREG else f" but {_KINDS.get(kind, 'a device')}"
