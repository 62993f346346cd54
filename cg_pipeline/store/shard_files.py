"""One shard as a file: arrays (safetensors) or rows (Arrow), stamped, and named by its checksum.

The stamp says what the shard belongs to, so that one that was moved is not taken for another.

*Why the checksum is in the name:* file and checksum then appear in one rename; a sidecar
could be left behind by a crash, or survive its shard.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from safetensors import numpy as safetensors

from cg_pipeline.store.decode import from_arrow
from cg_pipeline.store.encode import Rows, to_arrow
from cg_pipeline.store.tables import Table

_NAME = re.compile(r"shard-(\d{5})-of-(\d{5})\.([0-9a-f]{64})\.(safetensors|arrow)")


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """What a shard belongs to; kept inside the file."""

    fingerprint: str
    index: int
    n_shards: int
    n_rows: int
    """Rows, or examples, in it."""

    def plain(self) -> dict[str, str]:
        """As text, which is all that the file formats keep."""
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def parse(cls, plain: Mapping[str, str]) -> "Stamp":
        """From text; a `KeyError` or `ValueError` when it is not a stamp."""
        numbers = {name: int(plain[name]) for name in ("index", "n_shards", "n_rows")}
        return cls(fingerprint=plain["fingerprint"], **numbers)


@dataclass(frozen=True, order=True)
class ShardName:
    """What a shard's file name tells."""

    index: int
    n_shards: int
    sha256: str
    suffix: str

    def __str__(self) -> str:
        return f"shard-{self.index:05d}-of-{self.n_shards:05d}.{self.sha256}.{self.suffix}"

    @classmethod
    def parse(cls, name: str) -> "ShardName | None":
        """Read a file name; None when it is not a shard's."""
        found = _NAME.fullmatch(name)
        return found and cls(int(found[1]), int(found[2]), found[3], found[4])


def encode_arrays(arrays: Mapping[str, np.ndarray], stamp: Stamp) -> bytes:
    """The arrays as a safetensors file.

    They are made contiguous first: safetensors writes the memory of a strided or
    Fortran-ordered array as it lies, which is another array.
    """
    return safetensors.save(
        {name: np.ascontiguousarray(a) for name, a in arrays.items()}, metadata=stamp.plain()
    )


def decode_arrays(payload: bytes) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file."""
    return safetensors.load(payload)


def encode_rows(table: Table, rows: Rows, stamp: Stamp) -> bytes:
    """The rows as an Arrow IPC file."""
    arrow = to_arrow(table, rows).replace_schema_metadata(stamp.plain())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    return sink.getvalue().to_pybytes()


def decode_rows(table: Table, payload: bytes) -> Any:
    """The rows of an Arrow IPC file, as records or a data frame."""
    with pa.ipc.open_file(payload) as reader:
        return from_arrow(table, reader.read_all())


def stamp_of(name: ShardName, payload: bytes) -> Stamp:
    """The stamp inside a shard's file; a `ValueError` or `KeyError` when there is none."""
    if name.suffix == "arrow":
        with pa.ipc.open_file(payload) as reader:
            plain = {key.decode(): value.decode() for key, value in (reader.schema.metadata or {}).items()}
    else:
        length = int.from_bytes(payload[:8], "little")
        plain = json.loads(payload[8 : 8 + length]).get("__metadata__", {})
    return Stamp.parse(plain)


def inspect(path: Path, name: ShardName, fingerprint: str) -> tuple[bytes, Stamp]:
    """The content and stamp of a shard that can be trusted.

    Raises:
        ValueError: it is damaged, or belongs elsewhere; the message says how.
    """
    payload = path.read_bytes()
    checksum = hashlib.sha256(payload).hexdigest()
    if checksum != name.sha256:
        raise ValueError(f"its content has checksum {checksum[:12]}…, its name says {name.sha256[:12]}…")
    try:
        stamp = stamp_of(name, payload)
    except (KeyError, ValueError) as error:
        raise ValueError(f"it carries no stamp ({error})") from error
    if stamp.fingerprint != fingerprint:
        raise ValueError(f"it belongs to fingerprint {stamp.fingerprint!r}, expected {fingerprint!r}")
    if (stamp.index, stamp.n_shards) != (name.index, name.n_shards):
        raise ValueError(f"it was written as shard {stamp.index} of {stamp.n_shards}")
    return payload, stamp
