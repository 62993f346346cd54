"""Work kept shard by shard, so that what was computed before a crash is not computed again.

A set of shards lives in a directory named by the fingerprint of what it is made from. Each
shard appears in one rename and is trusted only while its content matches its checksum; the
manifest comes last and says that the set is complete.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cg_pipeline.store.encode import Rows
from cg_pipeline.store.files import write_whole
from cg_pipeline.store.layout import slug
from cg_pipeline.store.locks import hold
from cg_pipeline.store.manifest import MANIFEST, absences, read_manifest, write_manifest
from cg_pipeline.store.shard_files import (
    ShardName,
    Stamp,
    decode_arrays,
    decode_rows,
    encode_arrays,
    encode_rows,
    inspect,
)
from cg_pipeline.store.tables import Table

_DAY_S = 86_400.0


@dataclass(frozen=True)
class ShardStore:
    """Finds the directory of a set of shards: root / kind / parts / fingerprint."""

    root: Path

    def shard_set(self, kind: str, *parts: str, fingerprint: str, n_shards: int) -> "ShardSet":
        """The set of this kind for these keys, made from inputs with this fingerprint."""
        directory = self.root.joinpath(*(slug(part) for part in (kind, *parts, fingerprint)))
        return ShardSet(directory, n_shards)


@dataclass(frozen=True)
class ShardSet:
    """A directory of shards, numbered from 0; its name is their fingerprint."""

    directory: Path
    n_shards: int

    def __post_init__(self) -> None:
        if self.n_shards < 1:
            raise ValueError(f"n_shards is {self.n_shards} for {self.directory}; expected at least 1.")

    @classmethod
    def open(cls, directory: Path) -> "ShardSet":
        """A complete set, with the number of shards its manifest gives.

        Raises:
            FileNotFoundError: there is no readable manifest: the set is not complete.
        """
        manifest = read_manifest(directory)
        if manifest is None:
            raise FileNotFoundError(
                f"{directory} has no readable {MANIFEST}; expected a complete set of shards. "
                "Run the step that writes it; finished shards are kept."
            )
        return cls(directory, int(manifest["n_shards"]))

    @property
    def fingerprint(self) -> str:
        """What the shards are made from."""
        return self.directory.name

    def lock(self, timeout_s: float = _DAY_S) -> AbstractContextManager[None]:
        """Hold the set while computing it: a second run waits, and then finds it complete."""
        return hold(self.directory / ".lock", exclusive=True, timeout_s=timeout_s)

    def write(self, index: int, arrays: Mapping[str, np.ndarray], n_rows: int = 0) -> Path:
        """Keep one shard of arrays; `n_rows` is how many examples it covers."""
        return self._write(index, "safetensors", encode_arrays(arrays, self._stamp(index, n_rows)))

    def write_rows(self, index: int, table: Table, rows: Rows) -> Path:
        """Keep one shard of rows."""
        return self._write(index, "arrow", encode_rows(table, rows, self._stamp(index, len(rows))))

    def read(self, index: int) -> dict[str, np.ndarray]:
        """The arrays of one shard. Raises as `payload` does."""
        return decode_arrays(self.payload(index))

    def read_rows(self, index: int, table: Table) -> Any:
        """The rows of one shard, as records or a data frame. Raises as `payload` does."""
        return decode_rows(table, self.payload(index))

    def payload(self, index: int) -> bytes:
        """The content of one shard, checked.

        Raises:
            FileNotFoundError: there is no such shard.
            ValueError: there is, but it cannot be trusted.
        """
        problems = []
        for path, name in self._files(index):
            try:
                return inspect(path, name, self.fingerprint)[0]
            except ValueError as error:
                problems.append(f"{path.name}: {error}")
        if problems:
            raise ValueError(
                f"Shard {index} of {self.n_shards} in {self.directory} cannot be trusted: "
                f"{'; '.join(problems)}. Heal the set and compute the shard again."
            )
        raise FileNotFoundError(
            f"Shard {index} of {self.n_shards} is not in {self.directory}; expected it written."
        )

    def missing(self) -> list[int]:
        """Shards still to be computed: absent or not to be trusted; none once the set is complete.

        A set that was completed with another number of shards is complete all the same.
        """
        if self.is_complete():
            return []
        return [index for index in range(self.n_shards) if self._trusted(index) is None]

    def is_complete(self) -> bool:
        """Whether there is a manifest and every file it lists has its size; `verify` also reads them."""
        manifest = read_manifest(self.directory)
        return manifest is not None and not any(absences(self.directory, manifest))

    def commit(self, metadata: Mapping[str, Any]) -> Path:
        """Write the manifest, the last act; afterwards only the shards it lists are left.

        Raises:
            ValueError: shards are missing.
        """
        found = [self._trusted(index) for index in range(self.n_shards)]
        shards = [entry for entry in found if entry is not None]
        if absent := [index for index, entry in enumerate(found) if entry is None]:
            raise ValueError(
                f"{self.directory} lacks {len(absent)} of {self.n_shards} shards, the first {absent[:5]}; "
                "expected all of them before the set is complete. Compute them and commit again."
            )
        n_rows = sum(entry["n_rows"] for entry in shards)
        content = {"fingerprint": self.fingerprint, "n_shards": self.n_shards, "n_rows": n_rows}
        manifest = {**content, "shards": shards, "metadata": dict(metadata)}
        path = write_manifest(self.directory, manifest)
        self._sweep({entry["file"] for entry in shards})
        return path

    def manifest(self) -> dict[str, Any] | None:
        """What `commit` wrote; None when there is none that can be read."""
        return read_manifest(self.directory)

    def verify(self, *, heal: bool = False) -> list[str]:
        """Everything wrong with the files here, one sentence each; empty when all is well.

        With `heal`, what is wrong is removed, and the manifest with it, so that `missing`
        lists those shards and they are computed again.
        """
        problems = {**self._damaged(), **self._broken_promises()}
        if heal and problems:
            for name in (*problems, MANIFEST):
                (self.directory / name).unlink(missing_ok=True)
        return [f"{name}: {problem}." for name, problem in sorted(problems.items())]

    def _stamp(self, index: int, n_rows: int) -> Stamp:
        if not 0 <= index < self.n_shards:
            raise ValueError(
                f"Shard index is {index}; expected 0 to {self.n_shards - 1} in {self.directory}."
            )
        return Stamp(fingerprint=self.fingerprint, index=index, n_shards=self.n_shards, n_rows=n_rows)

    def _write(self, index: int, suffix: str, payload: bytes) -> Path:
        name = ShardName(index, self.n_shards, hashlib.sha256(payload).hexdigest(), suffix)
        (self.directory / MANIFEST).unlink(missing_ok=True)  # the set is being made anew
        write_whole(self.directory / str(name), payload)
        for path, other in self._files(index):
            if other != name:
                path.unlink(missing_ok=True)
        return self.directory / str(name)

    def _files(self, index: int) -> Iterator[tuple[Path, ShardName]]:
        for path in sorted(self.directory.glob(f"shard-{index:05d}-of-{self.n_shards:05d}.*")):
            if name := ShardName.parse(path.name):
                yield path, name

    def _trusted(self, index: int) -> dict[str, Any] | None:
        for path, name in self._files(index):
            try:
                payload, stamp = inspect(path, name, self.fingerprint)
            except ValueError:
                continue
            return {"file": path.name, "sha256": name.sha256, "n_bytes": len(payload), "n_rows": stamp.n_rows}
        return None

    def _damaged(self) -> dict[str, str]:
        problems = {}
        for path in self.directory.glob("shard-*"):
            name = ShardName.parse(path.name)
            try:
                if name:
                    inspect(path, name, self.fingerprint)
            except ValueError as error:
                problems[path.name] = str(error)
        return problems

    def _broken_promises(self) -> dict[str, str]:
        manifest = read_manifest(self.directory)
        if manifest is None:
            unreadable = (self.directory / MANIFEST).exists()
            return {MANIFEST: "it is not the manifest of this set, or damaged"} if unreadable else {}
        return dict(absences(self.directory, manifest))

    def _sweep(self, keep: set[str]) -> None:
        for pattern in ("shard-*", ".tmp-*"):
            for path in self.directory.glob(pattern):
                if path.name not in keep:
                    path.unlink(missing_ok=True)
