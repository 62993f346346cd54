"""Assets about a model on a benchmark: what it answered, and how good that was."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg

from cg_pipeline import checks, pipeline
from cg_pipeline.defs.partitions import BENCHMARK_OF_CELL, CELL, benchmark_of, model_of
from cg_pipeline.defs.resources import CodeSandbox, Gpu, Judging, Servers, Store
from cg_pipeline.defs.results import declared, effort, links, preview, result
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.defs.scoring_progress import watched
from cg_pipeline.defs.served_models import ask_served
from cg_pipeline.gaps.headline import mean_score
from cg_pipeline.identity import STAGES, completions_id, scores_id
from cg_pipeline.progress import ProgressMeter
from cg_pipeline.protocols import JUDGE_FAILED, SANDBOX_FAILED
from cg_pipeline.records import Completion, Example
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.model_files import model_hash
from cg_pipeline.specs import ServedModel
from cg_pipeline.store.resume import blocks_of, fill
from cg_pipeline.store.schema import TABLES
from cg_pipeline.store.shards import ShardSet

if TYPE_CHECKING:
    from cg_pipeline.llm.judging import LlmJudge

_SHOWN_TROUBLES = 5


@dg.asset(
    partitions_def=CELL,
    ins={"examples": BENCHMARK_OF_CELL},
    group_name="model",
    kinds={"pytorch", "duckdb"},
    pool="gpu",
    retry_policy=RETRIES,
    code_version=str(STAGES["completions"]),
    metadata=declared("completions"),
)
def completions(
    context: dg.AssetExecutionContext, examples: list[Example], gpu: Gpu, servers: Servers, store: Store
) -> dg.MaterializeResult:
    """What the model answered: greedy text, or the log-likelihood of each choice."""
    benchmark, model = benchmark_of(context.partition_key), model_of(context.partition_key)
    files = model_hash(model, store.layout.data_dir, store.layout.cache)
    fingerprint = completions_id(examples, benchmark, model, gpu.engine, files)
    if isinstance(model.weights, ServedModel):
        tell = context.log.info
        return ask_served(benchmark, examples, lambda: servers.language_model(model, tell), fingerprint, tell)
    blocks = blocks_of(examples, gpu.examples_at_once(benchmark.response))
    shards = store.shards.shard_set(
        "completions", model.name, benchmark.name, fingerprint=fingerprint, n_shards=len(blocks)
    )
    table = TABLES["completions"]

    meter = ProgressMeter(
        len(examples), lambda now: context.log.info(f"{model.name} on {benchmark.name}: {now}")
    )

    def answer(index: int, block: Sequence[Example]) -> None:
        generator = gpu.language_model(model, meter.advance)
        shards.write_rows(index, table, pipeline.complete(benchmark, block, generator))

    with lasting_faults_end_the_run(), meter:
        made_for = {"model": model.name, "benchmark": benchmark.name}
        filled = fill(shards, blocks, answer, made_for, meter.expect)
    whole = ShardSet.open(shards.directory)  # of as many shards as it was made of
    shards_read = (whole.read_rows(index, table) for index in range(whole.n_shards))
    found: list[Completion] = [row for rows in shards_read for row in rows]
    tokens = sum(completion.n_prompt_tokens + completion.n_completion_tokens for completion in found)
    return result(
        found,
        fingerprint,
        {
            "n_completions": len(found),
            "stops": dict(Counter(completion.stop for completion in found)),
            **checks.prompts_whole(found).numbers,
            "n_tokens": tokens,
            **effort(filled, tokens),
            "preview": preview(found),
            **links(context, {"examples": [benchmark.name]}),
        },
    )


@dg.asset(
    partitions_def=CELL,
    ins={"examples": BENCHMARK_OF_CELL},
    group_name="model",
    kinds={"python", "duckdb"},
    code_version=str(STAGES["scores"]),
    metadata=declared("scores"),
)
def scores(
    context: dg.AssetExecutionContext,
    examples: list[Example],
    completions: list[Completion],
    store: Store,
    judging: Judging,
    code_sandbox: CodeSandbox,
) -> dg.MaterializeResult:
    """How good each completion is: right, wrong, partial, or unscored with a reason."""
    benchmark, model = benchmark_of(context.partition_key), model_of(context.partition_key)
    policy = POLICIES[benchmark.scoring]
    judge = judging.load() if policy.judged else None
    decider = code_sandbox.load() if policy.runs_code else judge
    at_once = code_sandbox.at_once if policy.runs_code else judging.at_once
    with watched(
        len(completions),
        lambda now: context.log.info(f"{model.name} on {benchmark.name}: {now}"),
        needed=decider is not None,
        ledger=judge.chat.ledger if judge else None,
    ) as watch:
        found = pipeline.score(policy, examples, completions, decider, at_once, watch)
    decided_by = decider.source if decider else "none"
    decided = judging.identity if policy.judged else decided_by
    n_failed = sum(score.reason in (JUDGE_FAILED, SANDBOX_FAILED) for score in found)
    if judge and n_failed:
        context.log.warning(f"{decided_by} failed to judge {n_failed} answers: {_troubles(judge)}")
    stored = store.warehouse.fingerprint_of("completions", {"model": model.name, "benchmark": benchmark.name})
    return result(
        found,
        scores_id(stored, policy, f"{decided}, in part" if n_failed else decided),  # tried again
        {
            "accuracy": mean_score(found),
            **pipeline.pass_rates(found),
            **(policy.summarise(examples, found) if policy.summarise else {}),
            "n_scored": sum(score.value is not None for score in found),
            "outcomes": dict(Counter(score.outcome for score in found)),
            "unscored_reasons": dict(Counter(score.reason for score in found if score.reason)),
            "policy": policy.name,
            **({"decided_by": decided_by} if decider else {}),
            **({**judge.totals(), "judge_troubles": _troubles(judge)} if judge else {}),
            "preview": preview(found),
            **links(context, {"examples": [benchmark.name], "completions": [context.partition_key]}),
        },
    )


def _troubles(judge: "LlmJudge") -> dict[str, int]:
    """The commonest reasons why verdicts are missing."""
    return dict(judge.troubles.most_common(_SHOWN_TROUBLES))
