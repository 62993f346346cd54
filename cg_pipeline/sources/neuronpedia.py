"""Explanations of one source of Neuronpedia, from its public bucket: listed, fetched, checked, as label rows.

The bucket is a plain S3 one that anybody may read: below `v1/<model>/<source>/<folder>/` lie files
`batch-<n>.jsonl.gz`, a JSON object a line with `modelId`, `layer` (the source's id), `index` (the
latent, as text), `description`, `typeName`, `explanationModelName`, dates, an embedding, and in some
exports `scores`. Every row must say the model and source asked for: a wrong one is another SAE's.

The bucket changes under the same names and has no versions (fault F28 of neighbouring tools: new
explanations are absent from an old copy), so what is fetched is kept with its date, count and hash.

Source: docs.neuronpedia.org/api-and-data/exports.
"""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

from cg_pipeline.label_specs import NeuronpediaExport
from cg_pipeline.sources.label_files import unpacked
from cg_pipeline.sources.label_rows import Fetched, read_labels
from cg_pipeline.specs import Sae

BUCKET = "https://neuronpedia-datasets.s3.us-east-1.amazonaws.com"
TRIES = 4
TIMEOUT_S = 60.0

_FIRST_WAIT_S = 2.0
_LARGEST_ANSWER = 2**28
_S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"
_WANTED = (
    "modelId", "layer", "index", "description", "typeName", "explanationModelName", "createdAt", "updatedAt",
)  # fmt: skip
_WANTED_OF_SCORES = ("value", "explanationScoreTypeName", "explanationScoreModelName")


def fetch_export(
    export: NeuronpediaExport,
    sae: Sae,
    bucket: str = BUCKET,
    sleep: Callable[[float], None] = time.sleep,
) -> Fetched:
    """All explanations of a source.

    Raises:
        LookupError: the bucket has no such export.
        ConnectionError: it cannot be reached, or refuses for now; worth another try.
        ValueError: what it sent are no explanations, or those of another model, source or width.
    """
    prefix = f"v1/{export.model_id}/{export.source_id}/{export.folder}/"
    found = list(_listed(bucket, prefix, sleep))
    if not found:
        raise LookupError(
            f"Neuronpedia has no export at {prefix}; expected explanations of {sae.name!r}. Look at "
            f"{bucket}/index.html?prefix=v1/{export.model_id}/ and correct model_id, source_id or folder."
        )
    lines = [line for key, _ in sorted(found, key=_natural) for line in _rows(bucket, key, sleep)]
    must_say = {"modelId": export.model_id, "layer": export.source_id}
    reading = read_labels(f"{prefix}(all).jsonl", b"".join(lines), sae, must_say=must_say)
    return Fetched(reading=reading, dated=max(modified for _, modified in found)[:10])


def _natural(entry: tuple[str, str]) -> tuple[int, str]:
    """batch-2 before batch-10."""
    digits = "".join(filter(str.isdigit, entry[0].rpartition("/")[2]))
    return int(digits or 0), entry[0]


def _listed(bucket: str, prefix: str, sleep: Callable[[float], None]) -> Iterator[tuple[str, str]]:
    """Key and time of change of every file below a prefix."""
    token = ""
    while True:
        asked = {"list-type": "2", "prefix": prefix, **({"continuation-token": token} if token else {})}
        page = _xml(_get(f"{bucket}/?{urllib.parse.urlencode(asked)}", sleep), prefix)
        for entry in page.iter(f"{_S3}Contents"):
            key = entry.findtext(f"{_S3}Key", "")
            if key.endswith((".jsonl.gz", ".jsonl")):
                yield key, entry.findtext(f"{_S3}LastModified", "")
        token = page.findtext(f"{_S3}NextContinuationToken", "")
        if not token:
            return


def _xml(payload: bytes, prefix: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(payload)
    except ElementTree.ParseError as error:
        raise ValueError(
            f"Neuronpedia's list of {prefix} is no XML ({error}); expected a list of files. Try again later."
        ) from None


def _rows(bucket: str, key: str, sleep: Callable[[float], None]) -> Iterator[bytes]:
    """The rows of one file as JSON lines, without their embeddings."""
    content = unpacked(key, _get(f"{bucket}/{urllib.parse.quote(key)}", sleep))
    for number, text in enumerate(content.split(b"\n"), start=1):
        if text.strip():
            yield _row(f"{key}:{number}", text)


def _row(place: str, text: bytes) -> bytes:
    try:
        row = json.loads(text)
        kept = {name: row[name] for name in _WANTED if row.get(name) is not None}
        scores = [{name: each.get(name) for name in _WANTED_OF_SCORES} for each in row.get("scores") or ()]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ValueError(
            f"Neuronpedia's {place} is {text[:60]!r} ({error}); expected one explanation. Report it there."
        ) from None
    return json.dumps({**kept, "scores": scores}, ensure_ascii=False).encode("utf-8") + b"\n"


def _get(address: str, sleep: Callable[[float], None]) -> bytes:
    """The content of an address, tried again where waiting may help."""
    reason = ""
    for attempt in range(1, TRIES + 1):
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:
                return _whole(address, answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 500, 502, 503, 504):
                raise LookupError(
                    f"{address} answers HTTP {error.code}; expected a file of Neuronpedia's. Correct the "
                    "source's model_id, source_id or folder."
                ) from None
            reason = f"HTTP {error.code}"
        except OSError as error:  # URLError, timeouts and broken connections are all of these
            reason = str(getattr(error, "reason", error)) or type(error).__name__
        if attempt < TRIES:
            sleep(_FIRST_WAIT_S * 2.0 ** (attempt - 1))
    raise ConnectionError(
        f"Neuronpedia cannot be reached for {address} ({reason}, after {TRIES} tries); expected a "
        "connection, once. Connect and materialise label_files, or put files into data/labels/."
    )


def _whole(address: str, answer: "urllib.request._UrlopenRet") -> bytes:  # pyright: ignore
    content = answer.read(_LARGEST_ANSWER + 1)
    promised = answer.headers.get("Content-Length")
    if len(content) > _LARGEST_ANSWER:
        raise ValueError(f"{address} sends more than {_LARGEST_ANSWER:,} bytes; expected less. Report it.")
    if promised and len(content) != int(promised):
        raise OSError(f"only {len(content):,} of {promised} bytes came")
    return content
