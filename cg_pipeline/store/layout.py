"""Where everything is: every path below one data directory, and names that are safe in a path."""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote

_LONGEST = 200  # a file name may have 255 bytes; leave room for suffixes


def slug(key: str) -> str:
    """A file name for a key: `org/Model-7B` becomes `org%2FModel-7B`; different keys never share one.

    What is not a letter, a digit, '.', '_' or '-' is percent-encoded, and so are leading
    dots. A very long key ends in `%-` and a hash, which no encoding produces.

    Raises:
        ValueError: the key is empty.
    """
    if not key:
        raise ValueError("A key is empty; expected at least one character to name a file after.")
    encoded = quote(key, safe="", errors="surrogatepass").replace("~", "%7E")
    inner = encoded.lstrip(".")
    encoded = "%2E" * (len(encoded) - len(inner)) + inner
    if len(encoded) <= _LONGEST:
        return encoded
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{encoded[: _LONGEST - 34]}%-{digest}"


@dataclass(frozen=True)
class Layout:
    """Every path of the project, from the data directory down."""

    data_dir: Path
    """The one directory that holds data; it may move as a whole."""

    @property
    def live(self) -> Path:
        """The warehouse that is written; open it only through `Warehouse`, which holds the lock."""
        return self.data_dir / "warehouse" / "live.duckdb"

    @property
    def lock(self) -> Path:
        """Taken shared by readers and exclusively by writers of the live file."""
        return self.data_dir / "warehouse" / "live.lock"

    @property
    def published(self) -> Path:
        """The replica for everybody else: complete, read-only, replaced as a whole."""
        return self.data_dir / "warehouse.duckdb"

    @property
    def shards(self) -> Path:
        """Arrays and unfinished work, addressed by the fingerprint of what they are made from."""
        return self.data_dir / "shards"

    @property
    def cache(self) -> Path:
        """What may be deleted at any time, for it can be fetched or computed again."""
        return self.data_dir / "cache"

    def rows(self, benchmark: str) -> Path:
        """Directory of the rows fetched for one benchmark, a file for each fingerprint."""
        return self.data_dir / "rows" / slug(benchmark)

    @property
    def suite(self) -> Path:
        """Benchmark rows."""
        return self.data_dir / "suite"

    def report(self, model: str) -> Path:
        """Directory of one model's report."""
        return self.data_dir / "reports" / slug(model)

    def declared(self, path: str) -> Path:
        """The absolute path of what a spec declares relative to the data directory.

        Raises:
            ValueError: it points outside the data directory.
        """
        root = self.data_dir.resolve()
        target = (root / path).resolve()
        if not target.is_relative_to(root):
            raise ValueError(
                f"Path {path!r} leads to {target}; expected a place below the data directory {root}."
            )
        return target
