"""Labels out of the rows of a file, as people and Neuronpedia write them.

A row names a concept and a label, and may say who wrote it, when, and how it scored. A row without
a text is a label that is missing, and is counted; an id outside the dictionary is an error, since
the labels next to it are then another SAE's, too.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cg_pipeline.ink import is_blank
from cg_pipeline.label_records import GivenLabel
from cg_pipeline.label_specs import LabelColumns
from cg_pipeline.sources.json_lines import show
from cg_pipeline.sources.label_files import label_lines
from cg_pipeline.sources.lines import Line
from cg_pipeline.specs import Sae

_USUAL: Mapping[str, tuple[str, ...]] = {
    "concept": (
        "concept_id", "concept", "index", "feature_id", "feature", "feature_index", "latent_id", "latent",
        "neuron",
    ),
    "label": ("label", "description", "explanation"),
    "explainer": ("explainer", "explanationModelName"),
    "made": ("made", "date", "updatedAt", "createdAt", "created_at"),
    "score": ("score",),
    "n": ("n",),
}  # fmt: skip
_LARGEST_ID_TEXT = 12
_SHOWN_FAULTS = 5


@dataclass(frozen=True, kw_only=True)
class LabelReading:
    """What a file holds."""

    labels: tuple[GivenLabel, ...]
    n_rows: int
    """Rows, those without a text among them."""

    @property
    def n_concepts(self) -> int:
        """Concepts with a label."""
        return len({label.concept_id for label in self.labels})


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """Labels that were fetched, and the day their source was last changed."""

    reading: LabelReading
    dated: str
    """YYYY-MM-DD; empty where the source does not say."""


def read_labels(
    name: str,
    payload: bytes,
    sae: Sae,
    columns: LabelColumns | None = None,
    must_say: Mapping[str, str] | None = None,
) -> LabelReading:
    """The labels of a file, in its order, each once.

    Args:
        name: the file's name or path, for its ending and for errors.
        payload: its content.
        sae: whose labels they are.
        columns: what its columns are called, where not as usual.
        must_say: fields that every row must have with these values, such as the model that it is about.

    Raises:
        ValueError: the file is not what its ending says, has no labels, or has faulty rows; the first
            faults are told, each with its line.
    """
    columns = columns or LabelColumns()
    labels: dict[GivenLabel, None] = {}
    faults: list[str] = []
    n_rows = 0
    for line in label_lines(name, payload, sae):
        n_rows += 1
        try:
            label = _label(line, sae, columns, must_say or {})
        except ValueError as error:
            faults.append(f"{name}:{line.number}: {error}")
            if len(faults) == _SHOWN_FAULTS:
                break
            continue
        if label is not None:
            labels[label] = None
    if faults:
        raise ValueError("\n".join(faults))
    if not labels:
        raise ValueError(
            f"{name} holds no label; expected rows with a concept's id and a text called one of "
            f"{columns.label or ', '.join(_USUAL['label'])}. Fill it, or rename the column."
        )
    return LabelReading(labels=tuple(labels), n_rows=n_rows)


def write_labels(fetched: Fetched) -> bytes:
    """Labels as JSON lines with the usual columns; those without a date get that of their source."""
    rows = (
        {
            "concept_id": label.concept_id,
            "label": label.label,
            "explainer": label.explainer,
            "made": label.made or fetched.dated,
            "scores": [
                {"value": value, "kind": kind, "n": n}
                for value, kind, n in zip(label.scores, label.score_kinds, label.score_ns, strict=True)
            ],
        }
        for label in fetched.reading.labels
    )
    return b"".join(json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n" for row in rows)


def _label(line: Line, sae: Sae, columns: LabelColumns, must_say: Mapping[str, str]) -> GivenLabel | None:
    if line.fault:
        raise ValueError(line.fault)
    for field, wanted in must_say.items():
        if (found := line.row.get(field)) != wanted:
            raise ValueError(f"{field} is {show(found)}; expected {wanted!r}. Is it another SAE's export?")
    concept = _number(_field(line.row, "concept", columns.concept), sae)
    text = _value(line.row, "label", columns.label)
    if text is None or (isinstance(text, str) and is_blank(text)):
        return None
    if not isinstance(text, str):
        raise ValueError(f"label is {show(text)}; expected text. Correct it.")
    scores = _scores(line.row, columns)
    return GivenLabel(
        concept_id=concept,
        label=" ".join("".join(c if c.isprintable() else " " for c in text).split()),
        explainer=_explainer(line.row, columns),
        made=_day(_value(line.row, "made", columns.made)),
        scores=tuple(value for value, _, _ in scores),
        score_kinds=tuple(kind for _, kind, _ in scores),
        score_ns=tuple(n for _, _, n in scores),
    )


def _field(row: Mapping[str, Any], meaning: str, named: str) -> tuple[str, Any]:
    """The column that holds something every row must have, and its value."""
    found = [name for name in ((named,) if named else _USUAL[meaning]) if name in row]
    if len(found) == 1:
        return found[0], row[found[0]]
    listed = named or ", ".join(_USUAL[meaning])
    got = f"columns {', '.join(found)} all name a {meaning}" if found else f"columns are {', '.join(row)}"
    raise ValueError(f"{got}; expected exactly one of {listed}. Rename or remove columns.")


def _value(row: Mapping[str, Any], meaning: str, named: str) -> Any:
    """The first of the columns that may hold something; None when it is absent."""
    names = (named,) if named else _USUAL[meaning]
    return next((row[name] for name in names if row.get(name) is not None), None)


def _number(field: tuple[str, Any], sae: Sae) -> int:
    """The id of a concept, within the dictionary."""
    name, value = field
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    digits = text.removeprefix("-")
    whole = digits.isascii() and digits.isdecimal() and len(digits) <= _LARGEST_ID_TEXT
    if isinstance(value, bool) or not whole:
        raise ValueError(f"{name} is {show(value)}; expected the whole number of a concept. Correct it.")
    if not 0 <= int(text) < sae.d_sae:
        raise ValueError(
            f"{name} is {int(text)}; expected 0 to {sae.d_sae - 1}, the concepts of {sae.name!r}. "
            "Are these another SAE's labels, or is it another column?"
        )
    return int(text)


def _explainer(row: Mapping[str, Any], columns: LabelColumns) -> str:
    who, how = _value(row, "explainer", columns.explainer), row.get("typeName")
    return f"{who} ({how})" if who and how else str(who or how or "")


def _day(value: Any) -> str:
    """The day of a date, YYYY-MM-DD; empty for none."""
    if value is None or value == "":
        return ""
    try:
        return datetime.fromisoformat(str(value)).date().isoformat()
    except ValueError:
        raise ValueError(
            f"date is {show(value)}; expected one such as 2026-05-31. Correct it, or leave it out."
        ) from None


def _scores(row: Mapping[str, Any], columns: LabelColumns) -> list[tuple[float, str, int]]:
    """Each score with what it is of and its n: one column, or a list of scores as exports have it."""
    found: list[tuple[float, str, int]] = []
    listed = row.get("scores")
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, dict):
            kind = str(each.get("kind") or each.get("explanationScoreTypeName") or "score")
            scorer = each.get("explanationScoreModelName")
            found.append(
                (_score(each.get("value")), f"{kind} by {scorer}" if scorer else kind, _n(each.get("n")))
            )
    single = _value(row, "score", columns.score)
    if single is not None:
        n = _n(_value(row, "n", columns.n))
        found.append((_score(single), str(row.get("score_kind") or "score"), n))
    return found


def _score(value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"score is {show(value)}; expected a number. Correct it, or leave it out.")
    return found


def _n(value: Any) -> int:
    text = "0" if value is None else str(value).strip().removesuffix(".0")
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"n is {show(value)}; expected a count. Correct it, or leave it out.")
    return int(text)
