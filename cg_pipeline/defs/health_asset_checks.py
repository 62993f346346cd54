"""Asset checks of readers and concepts: an SAE that does not fit stops a study; verdicts are complete."""

import dagster as dg

from cg_pipeline import health_checks
from cg_pipeline.defs.partitions import MODEL, model_of, reader_of
from cg_pipeline.defs.results import reported

LARGEST_QUARANTINED_SHARE = 0.5


@dg.asset_check(asset="reader_gate", partitions_def=MODEL, blocking=True)
def the_reader_fits(reader_gate: list) -> dg.AssetCheckResult:
    """The SAE explains this model's states, at this layer, with this template, as it was published to."""
    return reported(health_checks.reader_fits(reader_gate))


@dg.asset_check(asset="concept_health", partitions_def=MODEL, blocking=True)
def every_concept_has_a_verdict(
    context: dg.AssetCheckExecutionContext, concept_health: list
) -> dg.AssetCheckResult:
    """One verdict per latent, with a reason exactly where it is quarantined."""
    d_sae = reader_of(model_of(context.partition_key)).d_sae
    return reported(health_checks.verdicts_complete(concept_health, d_sae))


@dg.asset_check(asset="concept_health", partitions_def=MODEL)
def most_concepts_are_fine(concept_health: list) -> dg.AssetCheckResult:
    """At most half of the dictionary is left out."""
    finding = health_checks.mostly_fine(concept_health, largest_share=LARGEST_QUARANTINED_SHARE)
    return reported(finding, dg.AssetCheckSeverity.WARN)


HEALTH_CHECKS = [the_reader_fits, every_concept_has_a_verdict, most_concepts_are_fine]
