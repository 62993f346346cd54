"""What a model's results depend on beside its spec: the content of its files, where no hash pins them."""

from pathlib import Path

from cg_pipeline.sources.content_hashes import content_hash
from cg_pipeline.specs import LocalWeights, Model

_FOR_PEOPLE = (".md", ".png", ".jpg", ".pdf")


def model_hash(model: Model, data_dir: Path, cache_dir: Path) -> str:
    """SHA-256 of a local model's files; empty for one that a commit, a hash or a server identifies.

    Every file of the directory counts, weights, settings and tokenizer, except what people read: a
    directory that moves is the same model, and one whose weights are replaced is another.

    Raises:
        FileNotFoundError: the directory is not there, or empty.
    """
    if not isinstance(model.weights, LocalWeights):
        return ""
    directory = data_dir / model.weights.path
    files = [path for path in directory.glob("*") if path.is_file() and not _for_people(path)]
    if not files:
        raise FileNotFoundError(
            f"{directory} holds no files; expected model {model.name!r} as save_pretrained writes it. "
            "Put it there, or correct the path in the model's spec."
        )
    return content_hash(files, cache_dir)


def _for_people(path: Path) -> bool:
    return path.name.startswith(".") or path.suffix in _FOR_PEOPLE
