"""Our likelihoods, predictions and speed beside lm-evaluation-harness's, on the same model and rows.

    python benchmarks_vs_peers/lm_eval.py --benchmarks DIR --examples 150

See README.md beside this file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import transformers
from stock_tasks import GENERATION, OTHER_FORMAT, STOP, TASKS, Row, StockTask

from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.inference.example_inputs import choice_input
from cg_pipeline.inference.language_model import LanguageModel
from cg_pipeline.inference.models import LoadedModel, load_model
from cg_pipeline.models.smollm2_135m import MODEL
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Completion, Example
from cg_pipeline.specs import LocalWeights
from cg_pipeline.store.resume import blocks_of

HERE = Path(__file__).parent
PEER = "lm_eval[hf]==0.4.13"
TIE = 1e-3
"""Predictions may differ where the best two log-likelihoods are closer than this."""
CLOSE = 1e-3
"""Two log-likelihoods that lie farther apart are compared with one in double precision."""
NEW_TOKENS = 32
CLOCKS = {"wall": "perf_counter", "cpu": "process_time"}
"""Processor seconds say more than wall time where others compute on the same machine."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One benchmark on both sides."""

    task: str
    n: int
    same_acc: float
    """Share of rows with the same choice of the highest log-likelihood."""
    same_acc_norm: float
    """The same with log-likelihoods divided by the choice's length in characters."""
    max_difference: float
    """Largest difference of two log-likelihoods, in nats."""
    from_float64: tuple[float, float] | None
    """How far ours and theirs lie from a float64 pass where they differ most; None below `CLOSE`."""
    ties: tuple[int, ...]
    """Rows, from 0, where predictions differ and both sides call it closer than `TIE`."""
    ours_per_s: float
    """Examples per second, loading excluded; the best repeat."""
    theirs_per_s: dict[str, float]
    """The same for each batch size of theirs."""

    @property
    def ratio(self) -> float:
        """Our speed over their best."""
        return self.ours_per_s / max(self.theirs_per_s.values())


def main() -> None:
    """Compare, print a line per benchmark, and what was aimed at."""
    options = read_options()
    torch.set_num_threads(options.threads)
    directory = model_directory(options)
    loaded = our_model(directory)
    ours = LanguageModel(loaded, batch_tokens=options.batch_tokens)
    with tempfile.TemporaryDirectory() as scratch, running_peer(options, directory, Path(scratch)) as ask:
        chosen = [
            task
            for task in TASKS
            if task.name in ([each.name for each in TASKS] if options.tasks is None else options.tasks)
        ]
        found = [compare_choices(loaded, ours, ask, task, options) for task in chosen]
        written = None if options.no_generation else compare_generation(ours, ask, options)
    summarise(found, written)
    if options.out:
        results = {"choice": [asdict(each) for each in found], "generation": written}
        options.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def read_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    folder = os.environ.get("CG_BENCHMARKS_DIR")
    parser.add_argument("--benchmarks", type=Path, default=folder, required=folder is None)
    parser.add_argument("--examples", type=int, default=150, help="first rows of each file")
    parser.add_argument("--tasks", nargs="*", help="some of the benchmarks, or none; all by default")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batch-tokens", type=int, default=4096, help="ours; a study's by default")
    parser.add_argument("--peer-batch", type=int, nargs="*", default=[8, 16], help="theirs, each is measured")
    parser.add_argument("--model", type=Path, help="a directory of safetensors; SmolLM2 by default")
    parser.add_argument("--cache", type=Path, default=HERE.parent / "data/cache")
    parser.add_argument("--peer-venv", type=Path, help="made if it is not there")
    parser.add_argument("--torch-index", help="where pip finds torch, if not in its default index")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="what speed is measured in")
    parser.add_argument("--no-generation", action="store_true")
    parser.add_argument("--out", type=Path, help="a JSON file for the results")
    return parser.parse_args()


def model_directory(options: argparse.Namespace) -> Path:
    """Safetensors and tokenizer files that both sides load: the product's own copy of SmolLM2."""
    if options.model:
        return options.model.resolve()
    from cg_pipeline.inference.gguf_conversion import converted_gguf
    from cg_pipeline.specs import PackagedGguf

    assert isinstance(MODEL.weights, PackagedGguf)
    return converted_gguf(MODEL.weights, options.cache).resolve()


def our_model(directory: Path):
    """The model as raw text, without chat template."""
    spec = replace(MODEL, weights=LocalWeights(path=str(directory)), chat=False)
    return load_model(spec, cache_dir=directory, data_dir=Path("/"), device="cpu")


def peer_python(options: argparse.Namespace) -> Path:
    """The interpreter of lm-evaluation-harness's own environment, made if need be."""
    venv = options.peer_venv or options.cache / "peers" / "lm_eval"
    python = venv / "bin" / "python"
    if python.exists():
        return python
    print(f"Making {venv} with {PEER} …", flush=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pins = [f"torch=={torch.__version__.split('+')[0]}", f"transformers=={transformers.__version__}"]
    index = ["--extra-index-url", options.torch_index] if options.torch_index else []
    subprocess.run([python, "-m", "pip", "install", "-qq", *index, PEER, *pins], check=True)
    return python


@contextmanager
def running_peer(options: argparse.Namespace, directory: Path, scratch: Path):
    """A function that has lm-evaluation-harness run tasks, in a process that stays idle in between."""
    settings = {
        "threads": options.threads,
        "model": str(directory),
        "max_tokens": MODEL.max_tokens,
        "clock": CLOCKS[options.clock],
    }
    quiet = {"TQDM_DISABLE": "1", "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(scratch / "datasets")}
    threads = {"OMP_NUM_THREADS": str(options.threads), "TOKENIZERS_PARALLELISM": "false"}
    worker = subprocess.Popen(
        [peer_python(options), "-P", HERE / "lm_eval_worker.py", json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **quiet, **threads, "PYTHONPATH": ""},
    )
    await_line(worker, "READY")

    def ask(kind: str, tasks: list[Row], batch_size: int) -> dict[str, Any]:
        out = scratch / "answer.json"
        request = {"kind": kind, "tasks": tasks, "batch_size": batch_size, "out": str(out)}
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        await_line(worker, "DONE")
        return json.loads(out.read_text())

    ask.scratch = scratch  # type: ignore[attr-defined]
    try:
        yield ask
    finally:
        assert worker.stdin is not None
        worker.stdin.close()
        worker.wait(timeout=60)


def await_line(worker: subprocess.Popen[str], wanted: str) -> None:
    """Read what the worker prints until it says a word; raises when it ends without."""
    assert worker.stdout is not None
    for line in worker.stdout:
        if line.strip() == wanted:
            return
    raise RuntimeError(f"lm-evaluation-harness ended with status {worker.wait()}; see its message above.")


def read_rows(options: argparse.Namespace, task: StockTask) -> list[Row]:
    """The first rows of the task's file."""
    lines = (options.benchmarks / f"{task.name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[: options.examples]]


def peer_tasks(task: StockTask, rows: list[Row], scratch: Path, **more: Any) -> list[Row]:
    """Stock tasks on the rows, one for each of theirs that the rows belong to."""
    by_name: dict[str, list[Row]] = {}
    for index, row in enumerate(rows):
        by_name.setdefault(task.peer_task(row), []).append({"row": index, **task.columns(row)})
    tasks = []
    for name, some in by_name.items():
        path = scratch / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, some)) + "\n", encoding="utf-8")
        files = dict.fromkeys(("train", "validation", "test", "dev"), str(path))
        data = {"dataset_path": "json", "dataset_name": None, "dataset_kwargs": {"data_files": files}}
        tasks.append({"task": name, **data, **more})
    return tasks


def alternate(
    ours: Callable[[], list[Completion]], theirs: Callable[[int], dict[str, Any]], options: argparse.Namespace
) -> tuple[list[Completion], float, dict[int, dict[str, Any]]]:
    """Both sides in turn; ours with its best time, and theirs with its best for each batch size."""
    best, completions = float("inf"), []
    answers: dict[int, dict[str, Any]] = {}
    for _ in range(options.repeats):
        for size in options.peer_batch:
            answer = theirs(size)
            if size not in answers or answer["seconds"] < answers[size]["seconds"]:
                answers[size] = answer
        now = getattr(time, CLOCKS[options.clock])
        start = now()
        completions = ours()
        best = min(best, now() - start)
    return completions, best, answers


def in_blocks(
    response: Literal["choice", "generation"],
    examples: list[Example],
    answer: Callable[[Sequence[Example]], list[Completion]],
) -> Callable[[], list[Completion]]:
    """Our side, as many examples at a time as a study keeps together."""
    size = Gpu(store=Store(data_dir="."), device="cpu").examples_at_once(response)
    return lambda: [each for block in blocks_of(examples, size) for each in answer(block)]


def compare_choices(
    loaded: LoadedModel, ours: LanguageModel, ask: Any, task: StockTask, options: argparse.Namespace
) -> Comparison:
    """One multiple-choice benchmark."""
    rows = read_rows(options, task)
    examples = [task.example(row) for row in rows]
    tasks = peer_tasks(task, rows, ask.scratch)
    completions, seconds, answers = alternate(
        in_blocks("choice", examples, ours.choose), lambda size: ask("choice", tasks, size), options
    )
    theirs = answers[options.peer_batch[0]]["rows"]
    found = Comparison(
        task=task.name,
        n=len(rows),
        ours_per_s=len(rows) / seconds,
        theirs_per_s={str(size): len(rows) / answer["seconds"] for size, answer in answers.items()},
        from_float64=refereed(loaded, examples, completions, theirs),
        **agreement(examples, [list(each.choice_logprobs) for each in completions], theirs),
    )
    print(line_of(found), flush=True)
    return found


def refereed(
    loaded: LoadedModel, examples: list[Example], ours: list[Completion], theirs: list[list[float]]
) -> tuple[float, float] | None:
    """Where both differ most, how far each is from a pass in double precision; None if they are close."""
    apart = [
        (abs(a - b), row, choice)
        for row, (some, others) in enumerate(zip(ours, theirs, strict=True))
        for choice, (a, b) in enumerate(zip(some.choice_logprobs, others, strict=True))
    ]
    most, row, choice = max(apart)
    if most <= CLOSE:
        return None
    text = choice_input(loaded, examples[row]).texts[choice]
    ids = torch.tensor([[*text.context.tolist(), *text.continuation.tolist()]])
    with torch.no_grad():
        logits = deepcopy(loaded.module).double()(ids).logits[0, len(text.context) - 1 : -1]
    found = logits.log_softmax(-1).gather(1, ids[0, len(text.context) :, None]).sum().item()
    return abs(ours[row].choice_logprobs[choice] - found), abs(theirs[row][choice] - found)


def agreement(examples: list[Example], ours: list[list[float]], theirs: list[list[float]]) -> dict[str, Any]:
    """How often both sides choose alike, and how far their log-likelihoods lie apart."""
    pairs = [(np.array(some), np.array(others)) for some, others in zip(ours, theirs, strict=True)]
    lengths = [np.array([len(text) for text in each.choices]) for each in examples]
    differ = [int(a.argmax() != b.argmax()) for a, b in pairs]
    normed = [
        int((a / size).argmax() != (b / size).argmax()) for (a, b), size in zip(pairs, lengths, strict=True)
    ]
    close = [max(np.diff(np.sort(side))[-1] for side in pair) < TIE for pair in pairs]
    return {
        "same_acc": 1 - float(np.mean(differ)),
        "same_acc_norm": 1 - float(np.mean(normed)),
        "max_difference": max(float(np.abs(a - b).max()) for a, b in pairs),
        "ties": tuple(index for index, tied in enumerate(close) if tied and differ[index]),
    }


def compare_generation(ours: LanguageModel, ask: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Greedy answers of a few tokens."""
    rows = read_rows(options, GENERATION)
    examples = [GENERATION.example(row) for row in rows]
    settings = {"until": list(STOP), "do_sample": False, "temperature": 0.0, "max_gen_toks": NEW_TOKENS}
    tasks = peer_tasks(GENERATION, rows, ask.scratch, generation_kwargs=settings)
    how = Generation(max_new_tokens=NEW_TOKENS, stop=STOP)
    completions, seconds, answers = alternate(
        in_blocks("generation", examples, lambda block: ours.generate(block, how)),
        lambda size: ask("generation", tasks, size),
        options,
    )
    theirs = answers[options.peer_batch[0]]["rows"]
    same = [a.text == b for a, b in zip(completions, theirs, strict=True)]
    found = {
        "n": len(rows),
        "same_text": float(np.mean(same)),
        "ours_per_s": len(rows) / seconds,
        "theirs_per_s": {str(size): len(rows) / answer["seconds"] for size, answer in answers.items()},
    }
    found["ratio"] = found["ours_per_s"] / max(found["theirs_per_s"].values())
    print(
        f"{'gsm8k, written':16} n {len(rows):4}  same text {found['same_text']:.3f}  ours "
        f"{found['ours_per_s']:.2f}/s  theirs {rates(found['theirs_per_s'])}  ratio {found['ratio']:.2f}"
    )
    return found


def line_of(found: Comparison) -> str:
    """One benchmark in one line."""
    ties = f"  ties at rows {', '.join(map(str, found.ties))}" if found.ties else ""
    if found.from_float64:
        ties += "  from float64 there: ours {:.1e}, theirs {:.1e}".format(*found.from_float64)
    return (
        f"{found.task:16} n {found.n:4}  acc {found.same_acc:.3f}  acc_norm {found.same_acc_norm:.3f}  "
        f"max |Δ| {found.max_difference:.1e}  ours {found.ours_per_s:.2f}/s  "
        f"theirs {rates(found.theirs_per_s)}  ratio {found.ratio:.2f}{ties}"
    )


def rates(per_s: dict[str, float]) -> str:
    """Speeds by batch size."""
    return ", ".join(f"{rate:.2f}/s (batch {size})" for size, rate in per_s.items())


def summarise(found: list[Comparison], written: dict[str, Any] | None) -> None:
    """Every benchmark's ratio; multiple choice taken together, with and without the format that differs."""
    if found:
        ratios = ", ".join(f"{each.task} {each.ratio:.2f}" for each in sorted(found, key=lambda c: c.ratio))
        print(f"ratio by benchmark: {ratios}")
        together("multiple choice", found)
        same_format = [each for each in found if each.task not in OTHER_FORMAT]
        if 0 < len(same_format) < len(found):
            together(f"without {', '.join(sorted(OTHER_FORMAT))}", same_format)
    if written:
        print(f"generation       {written['ratio']:.2f} times their throughput (aim ≥ 1)")


def together(name: str, found: list[Comparison]) -> None:
    """Some benchmarks as one: agreement, and all rows over all seconds."""
    n = sum(each.n for each in found)
    ours = sum(each.n / each.ours_per_s for each in found)
    same = sum(each.n * each.same_acc + len(each.ties) for each in found) / n
    print(
        f"{name}: n {n}  same prediction or tie {same:.4f} (aim ≥ 0.99)  "
        f"max |Δ| {max(each.max_difference for each in found):.1e} (aim ≤ 1e-3)"
    )
    for size in found[0].theirs_per_s:
        seconds = sum(each.n / each.theirs_per_s[size] for each in found)
        print(
            f"  {ours:.1f} s against {seconds:.1f} s at their batch {size}: {seconds / ours:.2f} times "
            "their throughput (aim ≥ 3)"
        )


if __name__ == "__main__":
    main()
