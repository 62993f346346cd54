"""What must hold of each stage's result, as plain functions that Dagster runs as asset checks.

Each returns a `Finding`: whether it holds, one sentence for people, and the numbers behind
it. A check that has nothing to look at fails: a vacuous pass hides a broken stage.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.targets import value_faults
from cg_pipeline.ink import is_blank
from cg_pipeline.records import (
    Completion,
    Concept,
    ConceptActivations,
    ConceptMetrics,
    Example,
    Gap,
    GapCluster,
    NearDuplicate,
    Score,
    StoredRows,
)
from cg_pipeline.specs import Benchmark, Sae, ScoringPolicy


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Outcome of one check."""

    passed: bool
    sentence: str
    numbers: Mapping[str, int | float | str] = field(default_factory=dict)


def rows_whole(rows: Sequence[StoredRows], found: Mapping[str, str]) -> Finding:
    """Every file of rows has the checksum it was stored with; `found` has the checksums by path."""
    wrong = [each.path for each in rows if found.get(each.path) != each.sha256]
    return finding_of(rows, not wrong, f"{len(wrong)} files of rows missing or changed", first=wrong)


def none_left_out(
    examples: Sequence[Example], repeated: Sequence[str], contradictory: Sequence[str]
) -> Finding:
    """No row had to be left out because its question stands twice."""
    n = f"{len(repeated)} repeated and {len(contradictory)} contradictory rows left out"
    return finding_of(examples, not (repeated or contradictory), n, first=[*contradictory, *repeated])


def asked_once(pairs: Sequence[NearDuplicate], examples: Sequence[Example]) -> Finding:
    """No example asks nearly the same as one of another benchmark."""
    between = Counter((pair.benchmark, pair.other_benchmark) for pair in pairs)
    listed = ", ".join(f"{one} and {other} {n}" for (one, other), n in between.most_common(5))
    sentence = f"{len(pairs)} near-duplicates across benchmarks" + (f" ({listed})" if listed else "")
    return finding_of(examples, not pairs, sentence, first=[pair.example_id for pair in pairs])


def unique_ids(examples: Sequence[Example]) -> Finding:
    """No two examples share an id."""
    repeated = [name for name, n in Counter(example.example_id for example in examples).items() if n > 1]
    return finding_of(examples, not repeated, f"{len(repeated)} example ids repeated", first=repeated)


def prompts_not_empty(examples: Sequence[Example]) -> Finding:
    """Every prompt has text."""
    empty = [example.example_id for example in examples if is_blank(example.prompt)]
    return finding_of(examples, not empty, f"{len(empty)} empty prompts", first=empty)


def targets_answerable(examples: Sequence[Example], benchmark: Benchmark, policy: ScoringPolicy) -> Finding:
    """Every example has what its policy needs and can compare with; its target is among its choices."""
    wants_choices = benchmark.response == "choice" or policy.needs_choices
    wrong = [
        example.example_id
        for example in examples
        if (wants_choices and not example.choices)
        or (example.choices and example.targets[0] not in example.choices)
        or (policy.needs_targets and not example.targets)
        or not details_of(example).keys() >= set(policy.needs_details)
        or (policy.needs_stems and not example.stems)
        or any(value_faults(example, policy))
    ]
    return finding_of(examples, not wrong, f"{len(wrong)} examples whose target cannot be given", first=wrong)


def same_examples(
    expected: Collection[Example], found: Sequence[Completion] | Sequence[Score] | ConceptActivations
) -> Finding:
    """A later stage has exactly the examples of the first one, each once; of several answers, each once."""
    wanted = Counter(example.example_id for example in expected)
    if isinstance(found, ConceptActivations):
        names = list(found.example_ids)
    else:
        pairs = Counter((item.example_id, item.sample) for item in found)
        names = [name for (name, sample), n in pairs.items() for _ in range(n) if sample == 0 or n > 1]
    difference = [*(wanted - Counter(names)), *(Counter(names) - wanted)]
    sentence = f"{len(names)} results for {len(expected)} examples, {len(difference)} without a partner"
    return finding_of(expected, not difference, sentence, first=difference)


def prompts_whole(completions: Sequence[Completion]) -> Finding:
    """No prompt was cut so as to fit: what is cut is another question than the one compared.

    Its numbers: how many examples were put to the model without all of their prompt, and what they
    lost together.
    """
    cut = {each.example_id: each.n_cut_tokens for each in completions if each.n_cut_tokens}
    sentence = f"{len(cut)} prompts cut, {sum(cut.values())} tokens lost"
    finding = finding_of(completions, not cut, sentence, first=list(cut))
    return replace(finding, numbers={"n_shortened": len(cut), "n_cut_tokens": sum(cut.values())})


def scores_in_range(scores: Sequence[Score]) -> Finding:
    """Every score lies in [0, 1] and is missing exactly where unscored."""
    wrong = [
        s.example_id
        for s in scores
        if (s.value is None) != (s.outcome == "unscored") or not _in_unit(s.value)
    ]
    return finding_of(scores, not wrong, f"{len(wrong)} scores out of range", first=wrong)


def mostly_scored(scores: Sequence[Score], *, largest_share: float) -> Finding:
    """The share of unscored examples stays at or below a limit."""
    reasons = Counter(score.reason for score in scores if score.outcome == "unscored")
    share = sum(reasons.values()) / max(len(scores), 1)
    listed = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common()) or "none"
    finding = finding_of(
        scores,
        share <= largest_share,
        f"{share:.1%} unscored ({listed}), at most {largest_share:.0%} expected",
    )
    by_reason = {f"unscored_{reason}": n for reason, n in reasons.most_common()}
    return replace(finding, numbers={**finding.numbers, "unscored_share": share, **by_reason})


def activations_sound(activations: ConceptActivations) -> Finding:
    """Saliency is finite and positive, concept ids fit the dictionary, and some concept fires."""
    values, ids = activations.saliency, activations.concept_ids
    unsound = int((~np.isfinite(values) | (values <= 0)).sum())
    strangers = int(((ids < 0) | (ids >= activations.n_concepts)).sum())
    last = activations.n_concepts - 1
    sentence = f"{unsound} saliencies not finite and positive, {strangers} concept ids outside 0…{last}"
    return finding_of(values, unsound == strangers == 0, sentence)


def texts_read(activations: ConceptActivations) -> Finding:
    """Every example had at least one content token to read."""
    unread = [name for name, n in zip(activations.example_ids, activations.n_tokens, strict=True) if n == 0]
    return finding_of(
        activations.example_ids, not unread, f"{len(unread)} examples without a content token", first=unread
    )


def performance_in_score_range(metrics: ConceptMetrics, scores: Sequence[Score]) -> Finding:
    """χ_model lies between the lowest and the highest score: it is a weighted mean of them."""
    values = [score.value for score in scores if score.value is not None]
    defined = metrics["performance"].dropna()
    if not values:
        sentence = "no example is scored, so no performance may be defined"
        return finding_of(metrics, defined.empty, sentence)
    low, high, slack = min(values), max(values), 1e-9
    outside = int(((defined < low - slack) | (defined > high + slack)).sum())
    return finding_of(
        defined,
        outside == 0,
        f"{outside} of {len(defined)} concepts with performance outside [{low:g}, {high:g}]",
    )


def dictionary_complete(concepts: Sequence[Concept], sae: Sae) -> Finding:
    """One labelled concept per latent, in order."""
    ids = [concept.concept_id for concept in concepts]
    unlabelled = sum(not concept.label.strip() for concept in concepts)
    sentence = f"{len(ids)} concepts for {sae.d_sae} latents, {unlabelled} without a label"
    return finding_of(concepts, ids == list(range(sae.d_sae)) and unlabelled == 0, sentence)


def mostly_alive(concepts: Sequence[Concept], *, largest_dead_share: float) -> Finding:
    """Few latents never fire on the broad sample."""
    states = Counter(concept.status for concept in concepts)
    dead = states["dead"] / max(len(concepts), 1)
    sentence = f"{dead:.1%} dead, {states['dense']} dense; at most {largest_dead_share:.0%} dead expected"
    return finding_of(concepts, dead <= largest_dead_share, sentence)


def gaps_ranked(gaps: Sequence[Gap]) -> Finding:
    """Within each kind and scope the ranks are 1, 2, 3 … without a hole."""
    ranks: dict[tuple[str, str], list[int]] = {}
    for gap in gaps:
        ranks.setdefault((gap.kind, gap.scope), []).append(gap.rank)
    wrong = [
        f"{kind} in {scope}"
        for (kind, scope), found in ranks.items()
        if sorted(found) != list(range(1, len(found) + 1))
    ]
    return finding_of(gaps, not wrong, f"{len(wrong)} lists with a broken ranking", first=wrong)


def named_as_asked(clusters: Sequence[GapCluster]) -> Finding:
    """No cluster lacks the name that a language model was asked for."""
    notes = [cluster.note for cluster in clusters if cluster.note]
    reasons = "; ".join(dict.fromkeys(notes)) or "no reason needed"
    return finding_of(clusters, not notes, f"{len(notes)} clusters without the name asked for: {reasons}")


def clusters_cover(clusters: Sequence[GapCluster], gaps: Sequence[Gap]) -> Finding:
    """Every gap of the suite is in exactly one cluster of its kind."""
    wanted = Counter((gap.kind, gap.concept_id) for gap in gaps if gap.scope == "suite")
    found = Counter((cluster.kind, concept) for cluster in clusters for concept in cluster.concept_ids)
    difference = len(wanted - found) + len(found - wanted)
    return finding_of(
        gaps, difference == 0, f"{difference} gaps not in exactly one cluster of {len(clusters)}"
    )


def current(stored: str | None, catalogue: str) -> Finding:
    """What is stored was made from what the catalogue says now."""
    numbers = {"stored": stored or "nothing", "catalogue": catalogue}
    if stored == catalogue:
        sentence = "made from the catalogue's present specs and inputs"
    elif (stored or "").startswith(f"{catalogue}-in-part-"):
        sentence = "whole only in part, some timed out or failed: run `cg demo` again, or materialise it"
    else:
        sentence = "out of date: run `cg demo` again, or materialise it"
    return Finding(passed=stored == catalogue, sentence=sentence, numbers=numbers)


def _in_unit(value: float | None) -> bool:
    return value is None or 0.0 <= value <= 1.0


def finding_of(looked_at: object, holds: bool, sentence: str, first: Sequence[str] = ()) -> Finding:
    """What a check found of a sequence; nothing to look at is a failure."""
    n = len(looked_at)  # type: ignore[arg-type]
    if n == 0:
        return Finding(passed=False, sentence="nothing to look at", numbers={"n": 0})
    shown = f", for example {first[0]}" if first else ""
    return Finding(passed=holds, sentence=f"{sentence}{shown} ({n:,} looked at)", numbers={"n": n})
