"""Chat transcripts that a model samples itself, as text for its own SAE to be trained on.

Why: an SAE trained on books alone has never seen the states of an answer, nor of a short
question in the chat template, and those are what benchmarks make a model go through.
"""

import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from cg_pipeline.inference.batching import filled, pad_left
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.progress import ProgressMeter
from cg_pipeline.records import content_id
from cg_pipeline.specs import SaeTraining

_log = logging.getLogger(__name__)

_BATCH_PROMPTS = 192


def sample_transcripts(
    loaded: LoadedModel,
    prompts: Sequence[str],
    path: Path,
    training: SaeTraining,
    report: Callable[[str], None] = _log.info,
) -> list[tuple[str, str]]:
    """(prompt, answer) pairs, `n_transcripts` to every prompt; kept in a JSON-lines file and read from there.

    The same seed gives the same answers on the same machine and libraries; the file, once
    written, is what makes a training run repeatable. It is written after every batch, so that whoever was
    interrupted goes on; a damaged one is sampled anew. `report` is told how far it is.
    """
    settings = (
        list(prompts),
        training.n_transcripts,
        training.transcript_tokens,
        training.temperature,
        training.seed,
    )
    identity = content_id(repr(loaded.spec.weights), loaded.spec.system_prompt, settings)
    wanted = sorted(list(prompts) * training.n_transcripts, key=len)
    pairs = _read_transcripts(path, identity)
    with ProgressMeter(len(wanted), lambda at: report(str(at)), unit="answer") as meter:
        meter.advance(len(pairs), 0)
        for start in range(len(pairs), len(wanted), _BATCH_PROMPTS):
            batch = wanted[start : start + _BATCH_PROMPTS]
            pairs += _sample_batch(loaded, batch, training, training.seed + start)
            _write_transcripts(path, identity, pairs)
            meter.advance(len(batch), 0)
    return pairs


def _sample_batch(
    loaded: LoadedModel, batch: Sequence[str], training: SaeTraining, seed: int
) -> list[tuple[str, str]]:
    torch.manual_seed(seed)
    ids, mask = _left_padded(loaded, batch)
    module: Any = loaded.module
    generated = module.generate(
        input_ids=ids,
        attention_mask=mask,
        do_sample=True,
        temperature=training.temperature,
        top_k=50,
        top_p=1.0,
        max_new_tokens=training.transcript_tokens,
        pad_token_id=loaded.tokenizer.pad_token_id,
    )
    answers = loaded.tokenizer.batch_decode(generated[:, ids.shape[1] :], skip_special_tokens=True)
    return list(zip(batch, answers, strict=True))


def _left_padded(loaded: LoadedModel, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
    rendered = [render_prompt(loaded.tokenizer, loaded.spec, text).input_ids for text in texts]
    mask = filled([len(prompt) for prompt in rendered], left=True).long()
    return pad_left(rendered, 0).to(loaded.device), mask.to(loaded.device)


def _write_transcripts(path: Path, identity: str, pairs: Sequence[tuple[str, str]]) -> None:
    lines = [json.dumps(pair, ensure_ascii=False) for pair in pairs]
    head = json.dumps({"settings": identity, "content": content_id(lines)})
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    partial.replace(path)


def _read_transcripts(path: Path, identity: str) -> list[tuple[str, str]]:
    """Pairs of the file if it is whole, and was written with the same settings; else none."""
    if not path.exists():
        return []
    try:
        head, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        known = json.loads(head)
        if (known["settings"], known["content"]) != (identity, content_id(lines)):
            return []
        return [(prompt, answer) for prompt, answer in map(json.loads, lines)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.warning("transcripts %s cannot be read (%s); sampling them anew", path.name, error)
        return []
