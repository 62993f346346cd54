"""What reading concepts costs: beside a bare forward pass, beside peers, and in memory.

    python benchmarks_vs_peers/extraction.py --benchmarks DIR

See README.md beside this file.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from extraction_worker import MEASURES, RUNS_ON, published, random_model, random_sae
from sae_lens import HookedSAETransformer
from transformer_lens import HookedTransformerConfig
from transformer_lens.pretrained.weight_conversions import convert_llama_weights

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.inference.batching import enough_tokens, filled, map_in_batches, pad_right
from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.models import LoadedModel, load_model
from cg_pipeline.inference.prompts import RenderedPrompt, render_prompt
from cg_pipeline.inference.saes import load_sae
from cg_pipeline.models.smollm2_135m import MODEL
from cg_pipeline.saes.smollm2_l12 import SAE
from cg_pipeline.sources.benchmark_directory import find_file
from cg_pipeline.sources.lines import read_lines
from cg_pipeline.sources.origins import bring, origins_of
from cg_pipeline.sources.row_checks import normalised_shape, read_rows
from cg_pipeline.specs import HubRows, LocalWeights, Sae
from cg_pipeline.store.resume import blocks_of

HERE = Path(__file__).parent
ROOT = HERE.parent
AT_ONCE = 256
"""Examples of a shard on a CPU (`Gpu.examples_at_once`)."""
PEERS_LONGEST = 300
"""Tokens of the longest text given to peers: they keep every activation."""
BATCH_TOKENS = 4096
"""`Gpu.batch_tokens`."""


def main() -> None:
    """Measure everything that was asked for, and print it."""
    options = read_options()
    torch.set_num_threads(options.threads)
    texts = benchmark_texts(options.benchmarks, options.examples)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        steps: dict[str, Callable[[], Any]] = {
            "padding": lambda: padding(options),
            "overhead": lambda: overhead(options, texts, Path(scratch)),
            "peers": lambda: peers(options, texts),
            "memory": lambda: memory(options, Path(scratch)),
        }
        for name in options.only or steps:
            found[name] = steps[name]()
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    folder = os.environ.get("CG_BENCHMARKS_DIR")
    parser.add_argument("--benchmarks", type=Path, default=folder, required=folder is None)
    parser.add_argument("--examples", type=int, default=20, help="of each file, from all over it")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--model", type=Path, help="a directory of safetensors; SmolLM2 by default")
    parser.add_argument("--cache", type=Path, default=ROOT / "data/cache")
    parser.add_argument(
        "--peer-site", type=Path, help="where interp-embed is installed, made if it is not there"
    )
    parser.add_argument(
        "--peer-batch", type=int, nargs="*", default=[1, 8, 16], help="theirs, each is measured"
    )
    parser.add_argument(
        "--wide-blocks", type=int, default=21, help="blocks of the wide random model, 2,048 dimensions each"
    )
    parser.add_argument("--wide-latents", type=int, nargs="*", default=[4096, 16384, 65536])
    parser.add_argument("--wide-tokens", type=int, default=2000, help="tokens that the wide model reads")
    parser.add_argument("--memory-examples", type=int, nargs=2, default=[1000, 10000])
    parser.add_argument("--only", nargs="*", choices=["padding", "overhead", "peers", "memory"])
    parser.add_argument("--out", type=Path, help="a JSON file for the results")
    return parser.parse_args()


def benchmark_texts(directory: Path, n: int) -> list[str]:
    """Prompts of the catalogue's benchmarks that the directory has files of, some from all over each."""
    found: list[str] = []
    for name, spec in BENCHMARKS.items():
        if isinstance(spec.source, HubRows) and find_file(directory, spec.entry or name):
            lines = read_lines(
                f"{name}.jsonl", bring(spec, origins_of(spec, directory, str(directory))[0], directory)
            )
            posed = read_rows(spec, name, lines, normalised_shape(spec)).posed
            found += [example.prompt for example, _ in posed[:: max(1, len(posed) // n)][:n]]
    return found


def smollm2(options: argparse.Namespace) -> LoadedModel:
    """The embedded model, as it reads."""
    spec = replace(MODEL, weights=LocalWeights(path=str(options.model.resolve()))) if options.model else MODEL
    return load_model(spec, cache_dir=options.cache, data_dir=ROOT / "data", device="cpu")


def padding(options: argparse.Namespace) -> dict[str, float]:
    """Share of the tokens read that are padding, over every row of every file."""
    texts, loaded = benchmark_texts(options.benchmarks, sys.maxsize), smollm2(options)
    lengths = [len(render_prompt(loaded.tokenizer, loaded.spec, text).input_ids) for text in texts]
    lengths = [length for length in lengths if length <= loaded.spec.max_tokens]
    sizes: list[int] = []

    def count(batch: list[int], of: Sequence[int]) -> list[None]:
        sizes.append(len(batch) * max(of[i] for i in batch))
        return [None] * len(batch)

    for block in blocks_of(lengths, AT_ONCE):
        map_in_batches(
            lambda batch, block=block: count(batch, block), block, BATCH_TOKENS, enough_tokens(loaded.device)
        )
    share = 1 - sum(lengths) / sum(sizes)
    print(
        f"padding: {share:.1%} of {sum(sizes):,} tokens in {len(lengths):,} prompts (aim ≤ 5 %)", flush=True
    )
    return {"share": share, "n_prompts": len(lengths), "n_tokens": sum(sizes)}


def overhead(options: argparse.Namespace, texts: Sequence[str], scratch: Path) -> dict[str, float]:
    """Time of reading concepts over time of the bare forward passes that it contains.

    The wide model is a little less work than Gemma 2 2B as far as layer 20, which is the smallest model of
    the catalogue with a dictionary of 65k: 54 million weights in each of 21 blocks, where it has 78.
    """
    embedded = smollm2(options)
    found = {
        "smollm2_4k": ratio(options, embedded, replace(SAE, model=embedded.spec), ROOT / "data", texts),
    }
    few = amounting_to(options.wide_tokens, texts, embedded)
    wide = random_model(embedded, d_model=2048, n_blocks=options.wide_blocks)
    for d_sae in options.wide_latents:
        sae = published(random_sae(wide, d_sae, torch.float32), wide, scratch / f"wide_{d_sae}")
        found[f"wide_{d_sae}"] = ratio(options, wide, sae, scratch, few)
    return found


def amounting_to(n_tokens: int, texts: Sequence[str], loaded: LoadedModel) -> list[str]:
    """Texts from all over, about so many tokens together; of the usual lengths, a file's longest left out."""
    lengths = [len(render_prompt(loaded.tokenizer, loaded.spec, text).input_ids) for text in texts]
    usual = [i for i, length in enumerate(lengths) if length <= PEERS_LONGEST]
    mean = statistics.mean(lengths[i] for i in usual)
    step = max(1, round(len(usual) * mean / n_tokens))
    return [texts[i] for i in usual[::step]]


def ratio(
    options: argparse.Namespace, loaded: LoadedModel, sae: Sae, data_dir: Path, texts: Sequence[str]
) -> float:
    """Both in turn; the quickest of each, since whatever else the machine does only adds."""
    encoder = SaeEncoder(sae, loaded, data_dir=data_dir, batch_tokens=BATCH_TOKENS)
    names = [str(i) for i in range(len(texts))]
    prompts = [render_prompt(loaded.tokenizer, loaded.spec, text) for text in texts]

    def read() -> None:
        for block in blocks_of(range(len(texts)), AT_ONCE):
            encoder.read([names[i] for i in block], [texts[i] for i in block])

    def bare() -> None:
        for block in blocks_of(prompts, AT_ONCE):
            forward(loaded, sae.hookpoint, block)

    read()
    pairs = [(timed(read), timed(bare)) for _ in range(options.repeats)]
    took, bare_s = (min(each) for each in zip(*pairs, strict=True))
    n_tokens = sum(len(prompt.input_ids) for prompt in prompts)
    print(
        f"overhead: {sae.name}, {sae.d_sae:,} latents on {loaded.module.config.hidden_size} dimensions, "
        f"{n_tokens:,} tokens: {took:.1f} s, {took / bare_s:.3f} times a bare pass (aim ≤ 1.25)",
        flush=True,
    )
    return took / bare_s


def forward(loaded: LoadedModel, hookpoint: str, prompts: Sequence[RenderedPrompt]) -> None:
    """The encoder's forward passes and nothing of the SAE: the same tokens in the same batches."""

    def run(batch: list[int]) -> list[None]:
        ids = [prompts[i].input_ids for i in batch]
        read_hidden_states(
            loaded.module, hookpoint, pad_right(ids, 0), filled([len(each) for each in ids]).long()
        )
        return [None] * len(batch)

    lengths = [len(prompt.input_ids) for prompt in prompts]
    map_in_batches(run, lengths, BATCH_TOKENS, enough_tokens(loaded.device))


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peers(options: argparse.Namespace, texts: Sequence[str]) -> dict[str, float]:
    """Our throughput over that of interp-embed's local extractor and of sae-lens's cached run."""
    loaded = smollm2(options)
    sae = load_sae(replace(SAE, model=loaded.spec), loaded, data_dir=ROOT / "data")
    encoder = SaeEncoder(
        replace(SAE, model=loaded.spec), loaded, data_dir=ROOT / "data", batch_tokens=BATCH_TOKENS
    )
    rendered = [render_prompt(loaded.tokenizer, loaded.spec, text) for text in texts]
    fitting = [i for i, prompt in enumerate(rendered) if len(prompt.input_ids) <= PEERS_LONGEST]
    texts, rendered = [texts[i] for i in fitting], [rendered[i] for i in fitting]
    hooked = hooked_model(loaded)
    theirs = {
        "interp-embed": lambda size: interp_embed(options, hooked, sae, loaded, rendered, size),
        "sae-lens": lambda size: run_with_cache(hooked, sae, rendered, size),
    }

    def ours() -> None:
        for block in blocks_of(texts, AT_ONCE):
            encoder.read([str(i) for i in range(len(block))], block)

    ours()
    found: dict[str, float] = {}
    for name, run in theirs.items():
        taken = {size: timed(lambda size=size, run=run: run(size)) for size in options.peer_batch}
        best = min(taken, key=lambda size: taken[size])  # as warm, and as often, as we are
        pairs = [(timed(lambda run=run, best=best: run(best)), timed(ours)) for _ in range(options.repeats)]
        theirs_s, own = (min(each) for each in zip(*pairs, strict=True))
        found[name] = theirs_s / own
        print(
            f"peers: {name} takes {theirs_s:.1f} s at batch {best} for {len(texts)} texts, "
            f"we {own:.1f} s: {found[name]:.2f} times its throughput (aim ≥ 3)",
            flush=True,
        )
    return found


def hooked_model(loaded: LoadedModel) -> HookedSAETransformer:
    """TransformerLens's form of the very same weights; its states at the hookpoint are checked to be ours."""
    theirs = loaded.module.config
    config = HookedTransformerConfig(
        n_layers=theirs.num_hidden_layers,
        d_model=theirs.hidden_size,
        d_head=theirs.hidden_size // theirs.num_attention_heads,
        n_heads=theirs.num_attention_heads,
        n_key_value_heads=theirs.num_key_value_heads,
        d_mlp=theirs.intermediate_size,
        d_vocab=theirs.vocab_size,
        n_ctx=loaded.spec.max_tokens,
        eps=theirs.rms_norm_eps,
        act_fn="silu",
        gated_mlp=True,
        normalization_type="RMS",
        final_rms=True,
        positional_embedding_type="rotary",
        rotary_base=int(theirs.rope_parameters["rope_theta"]),
        rotary_dim=theirs.hidden_size // theirs.num_attention_heads,
        original_architecture="LlamaForCausalLM",
        default_prepend_bos=False,
        device="cpu",
    )
    hooked = HookedSAETransformer(config, loaded.tokenizer)
    hooked.load_state_dict(convert_llama_weights(loaded.module, config), strict=False)
    ids = torch.arange(200, 240)[None]
    _, cache = hooked.run_with_cache(ids, names_filter=SAE.hookpoint)
    ours = read_hidden_states(loaded.module, SAE.hookpoint, ids, torch.ones_like(ids))
    torch.testing.assert_close(cache[SAE.hookpoint], ours, rtol=1e-3, atol=1e-3)
    return hooked


@torch.no_grad()
def run_with_cache(
    hooked: HookedSAETransformer, sae: Any, prompts: Sequence[RenderedPrompt], size: int
) -> None:
    """sae-lens's documented way: a run with the SAE in place; its activations from the cache, pooled."""
    name = f"{sae.cfg.metadata.hook_name}.hook_sae_acts_post"
    for block in blocks_of(prompts, size):
        ids = pad_right([prompt.input_ids for prompt in block], 0)
        _, cache = hooked.run_with_cache_with_saes(ids, saes=[sae], names_filter=name)
        for row, prompt in enumerate(block):
            n = len(prompt.input_ids)
            cache[name][row, :n][torch.from_numpy(prompt.content_mask)].mean(0).to_sparse()


def interp_embed(
    options: argparse.Namespace,
    hooked: HookedSAETransformer,
    sae: Any,
    loaded: LoadedModel,
    prompts: Sequence[RenderedPrompt],
    size: int,
) -> None:
    """interp-embed's own `LocalSAE.encode`, handed models that are loaded already, and pooled."""
    site = options.peer_site or options.cache / "peers" / "interp_embed"
    if not site.exists():
        wanted = ["--no-deps", "--target", str(site), "interp-embed==0.1.0", "goodfire==0.3.5"]
        subprocess.run([sys.executable, "-m", "pip", "install", "-qq", *wanted], check=True)
    if str(site) not in sys.path:
        sys.path.append(str(site))
    from interp_embed.saes.local_sae import LocalSAE  # pyright: ignore[reportMissingImports]

    extractor = LocalSAE(device="cpu", truncate=False)
    extractor.model, extractor.sae, extractor.tokenizer, extractor.loaded = (
        hooked,
        sae,
        loaded.tokenizer,
        True,
    )
    texts = [loaded.tokenizer.decode(prompt.input_ids) for prompt in prompts]
    for block in blocks_of(texts, size):
        for tokens in extractor.encode(list(block)):
            tokens.mean(0)


def memory(options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """Peak memory by number of examples, and of a wide SAE; each in a process of its own."""
    few, many = options.memory_examples
    model = str(options.model.resolve()) if options.model else ""
    jobs = {name: {"kind": "examples", "n": n} for name, n in (("few", few), ("many", many))}
    jobs["wide"] = {"kind": "wide", "n": 0}
    found: dict[str, Any] = {}
    for name, job in jobs.items():
        place = scratch / f"memory_{name}"
        place.mkdir()
        request = {**job, "model": model, "cache": str(options.cache), "scratch": str(place)}
        settings = json.dumps({**request, "threads": options.threads, "batch_tokens": BATCH_TOKENS})
        command = [sys.executable, HERE / "extraction_worker.py", settings]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=RUNS_ON)
        found[name] = json.loads(done.stdout.splitlines()[-1])
    growth = found["many"]["peak"] / found["few"]["peak"] - 1
    print(
        f"memory: {MEASURES}: {found['few']['peak'] / 2**30:.2f} GiB for {few:,} examples, "
        f"{found['many']['peak'] / 2**30:.2f} GiB for {many:,}: {growth:+.1%} (aim within 5 %)\n"
        f"memory: 65,536 latents on 4,096 dimensions in bfloat16, without the model: "
        f"{found['wide']['peak'] / 1e9:.2f} GB (aim < 6)",
        flush=True,
    )
    return {**found, "growth": growth}


if __name__ == "__main__":
    main()
