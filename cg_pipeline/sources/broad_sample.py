"""The broad sample: general text on which concepts are labelled and their firing rates taken.

It ships with the project (`data/sample/`): 700 passages of 20 to 70 words written for it,
encyclopaedic, narrative, practical and conversational, and free of benchmark questions.
It says what concepts mean and how common they are in such English, not in all text.
"""

import hashlib
import json
from pathlib import Path

SAMPLE = "sample/texts.jsonl"


def read_sample(data_dir: Path) -> list[str]:
    """The texts, in the order of the file.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: a line is not a JSON object with a `text`.
    """
    texts = []
    for number, line in enumerate(_read(data_dir).decode("utf-8").split("\n"), start=1):
        if line.strip():
            try:
                texts.append(str(json.loads(line)["text"]))
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f'{data_dir / SAMPLE}:{number}: got {line[:60]!r}; expected a JSON object {{"text": …}}.'
                ) from None
    return texts


def sample_hash(data_dir: Path) -> str:
    """SHA-256 of the sample: what labels depend on."""
    return hashlib.sha256(_read(data_dir)).hexdigest()


def _read(data_dir: Path) -> bytes:
    try:
        return (data_dir / SAMPLE).read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{data_dir / SAMPLE} is missing; expected the sample that ships with the project. Restore it."
        ) from None
