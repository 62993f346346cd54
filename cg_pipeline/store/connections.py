"""Connections to the live warehouse: under our lock, closed at once, published after each write."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from cg_pipeline.store import replica
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.locks import Deadline, hold
from cg_pipeline.store.sql import read_everything


@dataclass(frozen=True)
class Connections:
    """Opens the live file for one read or one write at a time; safe between processes and threads."""

    layout: Layout
    lock_timeout_s: float

    @contextlib.contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection inside a transaction: committed and published at the end, undone on an exception."""
        with self._locked(exclusive=True):
            with self._connect(read_only=False) as connection:
                connection.begin()
                yield connection  # an exception closes the connection, which rolls back
                connection.commit()
                connection.execute("CHECKPOINT")
            replica.copy_live(self.layout)

    @contextlib.contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection, to an empty database while nothing has been written."""
        with self._locked(exclusive=False):
            written = self.layout.live.exists()
            with self._connect(read_only=True) if written else duckdb.connect(":memory:") as connection:
                yield connection

    def publish(self) -> bool:
        """Publish if the replica is behind; returns whether it was.

        Every block of the live file is read first: at the start of work, a file that was damaged
        since it was last used replaces no good replica. Writing, later, does not look again.

        Raises:
            ValueError: the live file is damaged, or gone.
        """
        if self.layout.published.exists() and not self.layout.live.exists():
            raise ValueError(
                f"{self.layout.live} is missing, but there is {self.layout.published}; expected both. Put a "
                "writable copy of the latter in its place, or delete it to run everything again."
            )
        with self.reading() as connection:
            try:
                read_everything(connection)
            except (duckdb.IOException, duckdb.FatalException) as error:
                raise self._unusable(error) from error
        with self._locked(exclusive=True):
            if not self.layout.live.exists() or replica.is_current(self.layout):
                return False
            with self._connect(read_only=False) as connection:
                connection.execute("CHECKPOINT")
            replica.copy_live(self.layout)
            return True

    def _locked(self, *, exclusive: bool) -> contextlib.AbstractContextManager[None]:
        return hold(self.layout.lock, exclusive=exclusive, timeout_s=self.lock_timeout_s)

    def _connect(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        """Open the live file; wait for clients that opened it without our lock, and name them in the end."""
        deadline = Deadline(self.lock_timeout_s)
        while True:
            try:
                return duckdb.connect(self.layout.live, read_only=read_only, config=replica.SETTINGS)
            except (duckdb.IOException, duckdb.ConnectionException) as error:
                if "set lock" not in str(error) and "different configuration" not in str(error):
                    raise self._unusable(error) from error
                if deadline.passed():
                    raise TimeoutError(
                        f"Waited {deadline.waited_s:.1f} s for {self.layout.live}, which another client "
                        f"holds open: {error} Close it there; to read, open {self.layout.published} instead."
                    ) from error
                deadline.pause(str(self.layout.live), "a client outside the pipeline")

    def _unusable(self, error: duckdb.Error) -> ValueError:
        return ValueError(
            f"{self.layout.live} cannot be read ({str(error).splitlines()[0]}); expected the warehouse. "
            f"Put a writable copy of {self.layout.published} in its place, with no .wal file beside it, "
            "or delete it and run everything again."
        )
