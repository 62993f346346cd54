"""Asset checks of evidence: examples exist, sides agree with scores, tokens make the saliency."""

from typing import Any

import dagster as dg

from cg_pipeline import evidence_checks, pipeline
from cg_pipeline.defs.partitions import BENCHMARK_OF_CELL, CELL, model_of, reader_of
from cg_pipeline.defs.results import reported


@dg.asset_check(
    asset="evidence", partitions_def=CELL, blocking=True, additional_ins={"examples": BENCHMARK_OF_CELL}
)
def evidence_names_examples(evidence: Any, examples: list) -> dg.AssetCheckResult:
    """Every example that speaks for a concept is one of the benchmark's."""
    return reported(evidence_checks.examples_exist(evidence.whole(), {each.example_id for each in examples}))


@dg.asset_check(asset="evidence", partitions_def=CELL, blocking=True, additional_ins={"scores": dg.AssetIn()})
def sides_agree_with_scores(evidence: Any, scores: list) -> dg.AssetCheckResult:
    """Right, wrong and unscored examples are where their scores say, the strongest first."""
    return reported(evidence_checks.sides_agree(evidence.whole(), pipeline.mean_scores(scores)))


@dg.asset_check(asset="evidence", partitions_def=CELL, blocking=True)
def tokens_make_the_saliency(context: dg.AssetCheckExecutionContext, evidence: Any) -> dg.AssetCheckResult:
    """The mean of the token activations is the saliency of the activations: the same text was read alike."""
    sae = reader_of(model_of(context.partition_key))
    coarsest = max(evidence_checks.TOLERANCE[dtype] for dtype in (sae.dtype, sae.model.dtype))
    return reported(evidence_checks.tokens_make_the_saliency(evidence.whole(), tolerance=coarsest))


EVIDENCE_CHECKS = [evidence_names_examples, sides_agree_with_scores, tokens_make_the_saliency]
