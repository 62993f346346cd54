"""Peak memory of reading concepts, in a process of its own; and the random models and SAEs for it."""

import copy
import json
import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from sae_lens import SAE as LoadedSae
from sae_lens import JumpReLUSAE, JumpReLUSAEConfig
from transformers import AutoModelForCausalLM, LlamaConfig

from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.models import LoadedModel, load_model
from cg_pipeline.models.smollm2_135m import MODEL
from cg_pipeline.saes.smollm2_l12 import SAE
from cg_pipeline.specs import LocalWeights, Sae, SaeDirectory
from cg_pipeline.store.activations import load_activations, save_activations
from cg_pipeline.store.resume import blocks_of, fill
from cg_pipeline.store.shards import ShardStore

ROOT = Path(__file__).parent.parent
RUNS_ON = {**os.environ, "PYTHONPATH": str(ROOT)}
MEASURES = "largest resident size of a process that reads texts of ten words into shards and loads them"
DTYPES: dict[str, torch.dtype] = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def random_model(
    tokenizes: LoadedModel, *, d_model: int, n_blocks: int, dtype: str = "float32"
) -> LoadedModel:
    """A Llama-shaped model with random weights, and the tokenizer of another."""
    config = LlamaConfig(
        vocab_size=tokenizes.module.config.vocab_size,
        hidden_size=d_model,
        intermediate_size=d_model * 7 // 2,
        num_hidden_layers=n_blocks,
        num_attention_heads=d_model // 128,
        num_key_value_heads=d_model // 512,
        max_position_embeddings=8192,
        dtype=DTYPES[dtype],
    )
    torch.manual_seed(0)
    module = AutoModelForCausalLM.from_config(config, dtype=DTYPES[dtype]).eval()
    spec = replace(tokenizes.spec, name="random_wide", dtype=_named(dtype))
    return replace(tokenizes, module=module, spec=spec)


def _named(dtype: str) -> Literal["float32", "bfloat16"]:
    return "bfloat16" if dtype == "bfloat16" else "float32"


def random_sae(loaded: LoadedModel, d_sae: int, dtype: torch.dtype) -> LoadedSae[Any]:
    """A JumpReLU SAE of random weights after the model's last block; a few latents fire on a token."""
    width = loaded.module.config.hidden_size
    torch.manual_seed(1)
    name = str(dtype).removeprefix("torch.")
    config = JumpReLUSAEConfig(d_in=width, d_sae=d_sae, dtype=name, device="cpu", apply_b_dec_to_input=False)
    config.metadata.model_name = loaded.spec.name
    config.metadata.hook_name = f"blocks.{loaded.module.config.num_hidden_layers - 1}.hook_resid_post"
    made = JumpReLUSAE(config)
    with torch.no_grad():
        made.W_enc.normal_(0, width**-0.5)
        made.W_dec.normal_(0, width**-0.5)
        made.threshold.fill_(3.0)
    return made.to(dtype)


def published(made: LoadedSae[Any], loaded: LoadedModel, directory: Path) -> Sae:
    """The SAE on disk, and the spec that names it."""
    directory.mkdir(parents=True, exist_ok=True)
    made.save_model(directory)
    dtype = _named(str(made.W_enc.dtype).removeprefix("torch."))
    return replace(
        SAE,
        name=directory.name,
        model=loaded.spec,
        hookpoint=str(made.cfg.metadata.hook_name),
        weights=SaeDirectory(path=directory.name),
        d_sae=made.cfg.d_sae,
        dtype=dtype,
        accepts=("bos", "context"),
        training=None,
    )


def texts_of(n: int) -> Iterator[str]:
    """Different texts of ten words."""
    words = [word for word in (ROOT / "README.md").read_text(encoding="utf-8").split() if word.isalpha()]
    for i in range(n):
        yield " ".join(words[(i * 7 + j) % len(words)] for j in range(10)) + f" {i}"


def peak_of_examples(settings: dict[str, Any]) -> int:
    """Bytes, for so many examples read block by block as the asset does, then loaded as its readers do."""
    place = Path(settings["model"])
    spec = replace(MODEL, weights=LocalWeights(path=str(place))) if settings["model"] else MODEL
    loaded = load_model(spec, cache_dir=Path(settings["cache"]), data_dir=ROOT / "data", device="cpu")
    sae = replace(SAE, model=loaded.spec)
    encoder = SaeEncoder(sae, loaded, data_dir=ROOT / "data", batch_tokens=settings["batch_tokens"])
    blocks = blocks_of(range(settings["n"]), 256)
    texts = list(texts_of(settings["n"]))
    store = ShardStore(Path(settings["scratch"]))
    shards = store.shard_set("activations", "memory", fingerprint="0", n_shards=len(blocks))

    def read(index: int, block: Any) -> None:
        found = encoder.read([str(i) for i in block], [texts[i] for i in block])
        save_activations(shards, index, found)

    fill(shards, blocks, read, {})
    load_activations(shards.directory)
    return _peak()


def peak_of_a_wide_sae(settings: dict[str, Any]) -> int:
    """Bytes that loading a wide SAE and reading with it add to a process that has its model."""
    place = Path(settings["model"])
    spec = replace(MODEL, weights=LocalWeights(path=str(place))) if settings["model"] else MODEL
    small = load_model(spec, cache_dir=Path(settings["cache"]), data_dir=ROOT / "data", device="cpu")
    directory = Path(settings["scratch"])
    if os.fork() == 0:  # made in a process of its own: making it is no part of reading with it
        wide = random_model(small, d_model=4096, n_blocks=1, dtype="bfloat16")
        published(random_sae(wide, 65536, torch.bfloat16), wide, directory / "wide")
        os._exit(0)
    os.wait()
    loaded = random_model(small, d_model=4096, n_blocks=1, dtype="bfloat16")
    sae = published_already(loaded, directory / "wide")
    before = _resident()
    encoder = SaeEncoder(sae, loaded, data_dir=directory, batch_tokens=settings["batch_tokens"])
    encoder.read([str(i) for i in range(64)], list(texts_of(64)))
    return _peak() - before


def published_already(loaded: LoadedModel, directory: Path) -> Sae:
    """The spec of an SAE that is on disk."""
    config = json.loads((directory / "cfg.json").read_text(encoding="utf-8"))
    made = copy.copy(SAE)
    return replace(
        made,
        name=directory.name,
        model=loaded.spec,
        hookpoint=config["metadata"]["hook_name"],
        weights=SaeDirectory(path=directory.name),
        d_sae=config["d_sae"],
        dtype="bfloat16",
        accepts=("bos", "context"),
        training=None,
    )


def _peak() -> int:
    """The largest resident size of this program; `ru_maxrss` would remember the one that started it, too."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    wanted = json.loads(sys.argv[1])
    torch.set_num_threads(wanted["threads"])
    measure = {"examples": peak_of_examples, "wide": peak_of_a_wide_sae}[wanted["kind"]]
    print(json.dumps({"peak": measure(wanted)}))
