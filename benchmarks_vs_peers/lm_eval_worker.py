"""lm-evaluation-harness on its side of the comparison: run by the interpreter of its own environment.

Loads the model once, then answers one request per line of standard input, a JSON object
{"tasks": [...], "kind": ..., "batch_size": ..., "out": path}: runs its own stock tasks on local rows and
writes, to `out`, seconds spent in the model's methods and what came out for every row.
"""

import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path


def load(settings: dict):
    """The model, float32 on the CPU."""
    import torch
    from lm_eval.models.huggingface import HFLM

    torch.set_num_threads(settings["threads"])
    return HFLM(
        pretrained=settings["model"],
        device="cpu",
        dtype="float32",
        batch_size=1,
        max_length=settings["max_tokens"],
    )


def timed(model, name: str, clock: list[float], now: Callable[[], float]) -> None:
    """Make a method of the model add up the seconds spent in it, and draw no bar."""
    method = getattr(model, name)

    def run(requests, **_):
        start = now()
        try:
            return method(requests, disable_tqdm=True)
        finally:
            clock[0] += now() - start

    setattr(model, name, run)


def write_task(manager, task: dict, folder: Path) -> str:
    """Path of a definition that is a stock task with other rows; JSON is YAML."""
    stock = manager.task_index[task["task"]].yaml_path
    path = folder / f"local_{task['task']}.yaml"
    path.write_text(json.dumps({"include": str(stock), **task, "task": path.stem}))
    return str(path)


def answer(model, request: dict, clock: list[float], manager) -> dict:
    """One request: seconds in the model, and for every row its log-likelihoods or its text."""
    from lm_eval import simple_evaluate

    model.batch_size_per_gpu = request["batch_size"]
    clock[0] = 0.0
    found = simple_evaluate(
        model=model,
        tasks=[write_task(manager, task, Path(request["out"]).parent) for task in request["tasks"]],
        num_fewshot=0,
        bootstrap_iters=0,
        log_samples=True,
        task_manager=manager,
        verbosity="ERROR",
    )
    rows = [
        [sample["doc"]["row"], [pair[0] for pair in sample["filtered_resps"]]]
        if request["kind"] == "choice"
        else [sample["doc"]["row"], sample["resps"][0][0]]
        for samples in found["samples"].values()
        for sample in samples
        if sample.get("filter") in (None, "none", "strict-match")
    ]
    return {"seconds": clock[0], "rows": [result for _, result in sorted(rows, key=lambda pair: pair[0])]}


def main() -> None:
    """Serve requests until standard input ends."""
    logging.disable(logging.WARNING)
    from lm_eval.tasks import TaskManager

    settings = json.loads(sys.argv[1])
    clock = [0.0]
    model = load(settings)
    for name in ("loglikelihood", "generate_until"):
        timed(model, name, clock, getattr(time, settings["clock"]))
    manager = TaskManager()
    print("READY", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        Path(request["out"]).write_text(json.dumps(answer(model, request, clock, manager)))
        print("DONE", flush=True)


if __name__ == "__main__":
    main()
