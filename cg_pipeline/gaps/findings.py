"""What a report says, as plain values, before any layout: rows and sentences for the templates."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from cg_pipeline.gaps.excerpts import Excerpt, gather_texts, show_evidence
from cg_pipeline.gaps.headline import (
    BenchmarkHeadline,
    CoverageShape,
    describe_coverage,
    summarise_benchmarks,
)
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.gaps.selection import KINDS, SUITE, alive_rows, supported
from cg_pipeline.gaps.tables import numbers
from cg_pipeline.health_records import REASONS, ConceptHealth
from cg_pipeline.records import Concept, Gap, GapCluster, GapKind

SHOWN = 10
"""Rows of every ranked list."""

_SHOWN_PER_BENCHMARK = 3
_SHOWN_MEMBERS = 8
_SHOWN_PER_SIDE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptFinding:
    """A concept with its performance."""

    concept: Concept
    performance: float
    lift: float
    coverage: float
    n_benchmarks: int
    n_scored: int
    n_eff: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GapFinding:
    """A gap and the concept it is about."""

    gap: Gap
    concept: Concept


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFinding:
    """The strongest gaps of one kind in one scope, and how many there are."""

    kind: GapKind
    n: int
    rows: Sequence[GapFinding]
    n_left_out: int
    """Quarantined concepts, none of which can be among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFinding:
    """A group of gaps with the labels of its strongest members, each once."""

    cluster: GapCluster
    labels: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A quarantined concept, and why it is one."""

    concept: Concept
    health: ConceptHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything a report tells, in reading order."""

    headlines: Sequence[BenchmarkHeadline]
    suite: CoverageShape
    mean_score: float | None
    """Plain mean of the benchmarks' accuracies, to compare χ_model of the suite with."""
    n_examples: int
    n_scored: int
    weakest: Sequence[ConceptFinding]
    """Lowest χ_model first."""
    strongest: Sequence[ConceptFinding]
    """Highest χ_model first."""
    n_supported: int
    kinds: Sequence[KindFinding]
    groups: Mapping[GapKind, Sequence[GroupFinding]]
    by_benchmark: Mapping[str, Sequence[KindFinding]]
    evidence: Mapping[tuple[str, int], Sequence[Excerpt]]
    """What speaks for each concept named above, by scope and concept: right examples, then wrong ones."""
    left_out: Sequence[LeftOut]
    """The first of the quarantined concepts, those first that fire most in broad text."""
    n_left_out: int
    """Quarantined concepts: they count in nothing else that is here."""
    left_out_by_reason: Mapping[str, int]
    """The same by reason; one with two reasons counts under both."""


def collect_findings(inputs: ReportInputs) -> Findings:
    """What the inputs have to tell."""
    rules = inputs.study.rules
    headlines = summarise_benchmarks(inputs.scores, inputs.concept_metrics, inputs.concepts, rules)
    by_id = {concept.concept_id: concept for concept in inputs.concepts}
    weakest, strongest, n_supported = _extremes(inputs, by_id)
    left_out = _left_out(inputs, by_id)
    kinds = strongest_gaps(inputs.gaps, by_id, SUITE, SHOWN, len(left_out))
    by_benchmark = {
        line.benchmark: strongest_gaps(
            inputs.gaps, by_id, line.benchmark, _SHOWN_PER_BENCHMARK, len(left_out)
        )
        for line in headlines
    }
    extremes = [each.concept.concept_id for each in (*weakest, *strongest)]
    named = {scope: _concepts_of(found) for scope, found in by_benchmark.items()}
    accuracies = [line.accuracy for line in headlines if not math.isnan(line.accuracy)]
    return Findings(
        headlines=headlines,
        suite=describe_coverage(inputs.suite, inputs.concepts, rules),
        mean_score=sum(accuracies) / len(accuracies) if accuracies else None,
        n_examples=sum(line.n_examples for line in headlines),
        n_scored=sum(line.n_scored for line in headlines),
        weakest=weakest,
        strongest=strongest,
        n_supported=n_supported,
        kinds=kinds,
        groups={kind: _groups(inputs.clusters, kind, by_id) for kind in KINDS},
        by_benchmark=by_benchmark,
        evidence=_evidence(inputs, {SUITE: [*_concepts_of(kinds), *extremes], **named}),
        left_out=left_out[:SHOWN],
        n_left_out=len(left_out),
        left_out_by_reason=_reasons(left_out),
    )


def strongest_gaps(
    gaps: Sequence[Gap], by_id: Mapping[int, Concept], scope: str, n: int, n_left_out: int
) -> list[KindFinding]:
    """The first n gaps of every kind in one scope, beside how many concepts could be none."""
    found: list[KindFinding] = []
    for kind in KINDS:
        of_kind = (gap for gap in gaps if gap.scope == scope and gap.kind == kind)
        members = sorted(of_kind, key=lambda gap: gap.rank)
        rows = [GapFinding(gap=gap, concept=by_id[gap.concept_id]) for gap in members[:n]]
        found.append(KindFinding(kind=kind, n=len(members), rows=rows, n_left_out=n_left_out))
    return found


def _concepts_of(kinds: Sequence[KindFinding]) -> list[int]:
    """Concepts of gaps that an example can speak for: no example has a missing concept."""
    return [row.gap.concept_id for kind in kinds if kind.kind != "missing" for row in kind.rows]


def _evidence(
    inputs: ReportInputs, named: Mapping[str, Sequence[int]]
) -> dict[tuple[str, int], Sequence[Excerpt]]:
    """What speaks for concepts; `named` are those of each scope, the suite or a benchmark."""
    texts = gather_texts(inputs.examples, inputs.completions, inputs.scores)
    everywhere = named.get(SUITE, ())
    kept = {
        name: shelf.of(sorted({*everywhere, *named.get(name, ())})) for name, shelf in inputs.evidence.items()
    }
    n = min(_SHOWN_PER_SIDE, inputs.study.n_evidence)
    return {
        (scope, concept_id): shown
        for scope, ids in named.items()
        for concept_id, shown in show_evidence(
            ids, kept if scope == SUITE else {scope: kept[scope]}, texts, n
        ).items()
    }


def _left_out(inputs: ReportInputs, by_id: Mapping[int, Concept]) -> list[LeftOut]:
    found = [
        LeftOut(concept=by_id[each.concept_id], health=each)
        for each in inputs.health
        if each.verdict == "quarantined"
    ]
    return sorted(found, key=lambda each: (-each.concept.firing_rate, each.concept.concept_id))


def _reasons(left_out: Sequence[LeftOut]) -> Mapping[str, int]:
    counts = Counter(reason for each in left_out for reason in each.health.reasons)
    return {reason: counts[reason] for reason in REASONS if counts[reason]}


def _extremes(
    inputs: ReportInputs, by_id: Mapping[int, Concept]
) -> tuple[list[ConceptFinding], list[ConceptFinding], int]:
    """Lowest and highest supported concepts by χ_model; where they are few, the lists share them out."""
    rows = alive_rows(inputs.suite, inputs.concepts)
    performance = numbers(rows, "performance")
    firm = np.flatnonzero(supported(numbers(rows, "n_eff"), inputs.study.rules) & ~np.isnan(performance))
    ranked = rows.take(firm[np.argsort(performance[firm], kind="stable")])
    n_low = min(SHOWN, math.ceil(len(ranked) / 2))
    low, high = ranked.iloc[:n_low], ranked.iloc[::-1].iloc[: min(SHOWN, len(ranked) - n_low)]
    return _concept_findings(low, by_id), _concept_findings(high, by_id), len(ranked)


def _concept_findings(rows: pd.DataFrame, by_id: Mapping[int, Concept]) -> list[ConceptFinding]:
    return [
        ConceptFinding(
            concept=by_id[row["concept_id"]],
            performance=row["performance"],
            lift=row["lift"],
            coverage=row["coverage"],
            n_benchmarks=row["n_benchmarks"],
            n_scored=row["n_scored"],
            n_eff=row["n_eff"],
        )
        for row in rows.to_dict("records")
    ]


def _groups(
    clusters: Sequence[GapCluster], kind: GapKind, by_id: Mapping[int, Concept]
) -> list[GroupFinding]:
    return [
        GroupFinding(
            cluster=cluster,
            labels=list(dict.fromkeys(by_id[member].label for member in cluster.concept_ids))[
                :_SHOWN_MEMBERS
            ],
        )
        for cluster in clusters
        if cluster.kind == kind
    ]
