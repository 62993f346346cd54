"""Each check passes on a good result, fails on a bad one, and fails when there is nothing to look at."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cg_pipeline import checks
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.records import (
    Completion,
    Concept,
    ConceptActivations,
    Example,
    Gap,
    GapCluster,
    NearDuplicate,
    Score,
    StoredRows,
    outcome_of,
)
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES


def altered(record: Any, **changes: Any) -> Any:
    """A record as no constructor would make it: what a bug elsewhere might store."""
    fields = {name: getattr(record, name) for name in record.__slots__}
    broken = object.__new__(type(record))
    for name, value in {**fields, **changes}.items():
        object.__setattr__(broken, name, value)
    return broken


def example(prompt: str, **changes: Any) -> Example:
    return Example(
        **{"benchmark": "b", "category": "c", "cluster": "", "prompt": prompt, "targets": ("4",), **changes}
    )


OPEN = [example("1 + 3?"), example("2 + 2?")]
CLOSED = [example("1 + 3?", choices=("3", "4")), example("2 + 2?", choices=("4", "5"))]
IDS = [one.example_id for one in OPEN]
COMPLETIONS = [
    Completion(
        model="m",
        benchmark="b",
        example_id=name,
        text="4",
        stop="end",
        n_prompt_tokens=1,
        n_completion_tokens=1,
    )
    for name in IDS
]


def score(value: float | None, example_id: str = IDS[0]) -> Score:
    return Score(
        model="m",
        benchmark="b",
        example_id=example_id,
        outcome=outcome_of(value),
        value=value,
        reason="unparsed" if value is None else "",
    )


CUT = [replace(COMPLETIONS[0], sample=sample, n_cut_tokens=7) for sample in range(2)]
"""Two answers to one prompt that was cut."""
SCORES = [score(1.0), score(None, IDS[1])]


def activations(
    saliency: tuple[float, ...] = (0.5, 2.0),
    concept_ids: tuple[int, ...] = (0, 3),
    n_tokens: tuple[int, ...] = (4, 4),
) -> ConceptActivations:
    return ConceptActivations(
        example_ids=tuple(IDS[: len(n_tokens)]),
        n_concepts=4,
        indptr=np.array([0, *np.minimum(np.arange(len(n_tokens)) + 1, len(saliency))]),
        concept_ids=np.array(concept_ids, dtype=np.int32),
        saliency=np.array(saliency, dtype=np.float32),
        n_tokens=np.array(n_tokens, dtype=np.int64),
    )


def concept(concept_id: int, **changes: Any) -> Concept:
    fields = {
        "sae": "s",
        "concept_id": concept_id,
        "label": "sums",
        "label_source": "automatic",
        "firing_rate": 0.01,
        "status": "alive",
        "top_tokens": ("2",),
        "contexts": (),
        "promoted_tokens": ("4",),
    }
    return Concept(**{**fields, **changes})


SAE = replace(next(iter(SAES.values())), d_sae=2)
CONCEPTS = [concept(0), concept(1)]


def gap(rank: int, concept_id: int = 0, kind: Any = "missing", scope: str = "suite") -> Gap:
    return Gap(
        model="m",
        scope=scope,
        kind=kind,
        concept_id=concept_id,
        rank=rank,
        value=None,
        lift=None,
        n_examples=0,
        n_eff=0.0,
    )


def cluster(*concept_ids: int, kind: Any = "missing") -> GapCluster:
    fields = {
        "model": "m",
        "cluster_id": 0,
        "name": "n",
        "name_source": "automatic",
        "explanation": "",
        "note": "",
    }
    return GapCluster(kind=kind, concept_ids=concept_ids, **fields)


GAPS = [gap(1, 7), gap(2, 8), gap(1, 7, "model_gap"), gap(1, 9, scope="b")]
CLUSTERS = [cluster(7, 8), cluster(7, kind="model_gap")]


def performance(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"performance": values})


POLICY, OPTION = POLICIES["numeric"], POLICIES["option"]
CHOICE, OPEN_ANSWER = BENCHMARKS["logic"], BENCHMARKS["arithmetic"]

ROWS = StoredRows(
    benchmark="b", role="asked", origin="hub", place="org/b", fingerprint="f", path="rows/b/f.jsonl",
    sha256="0" * 64, n_rows=2, revision="", licence="MIT",
)  # fmt: skip
PAIR = NearDuplicate(benchmark="a", example_id="1", other_benchmark="b", other_example_id="2", overlap=0.75)

GOOD: dict[str, checks.Finding] = {
    "rows_whole": checks.rows_whole([ROWS], {ROWS.path: ROWS.sha256}),
    "none_left_out": checks.none_left_out(OPEN, [], []),
    "asked_once": checks.asked_once([], OPEN),
    "unique_ids": checks.unique_ids(OPEN),
    "prompts_not_empty": checks.prompts_not_empty(OPEN),
    "targets_answerable, choices": checks.targets_answerable(CLOSED, CHOICE, POLICY),
    "targets_answerable, open": checks.targets_answerable(OPEN, OPEN_ANSWER, POLICY),
    "targets_answerable, an option in words": checks.targets_answerable(CLOSED, OPEN_ANSWER, OPTION),
    "targets_answerable, details": checks.targets_answerable(
        [example("Hi", details='{"baseline": "Hello."}')], OPEN_ANSWER, POLICIES["judge_pair"]
    ),
    "same_examples, completions": checks.same_examples(OPEN, COMPLETIONS[::-1]),
    "same_examples, scores": checks.same_examples(OPEN, SCORES),
    "same_examples, activations": checks.same_examples(OPEN, activations()),
    "prompts_whole": checks.prompts_whole(COMPLETIONS),
    "scores_in_range": checks.scores_in_range(SCORES),
    "mostly_scored": checks.mostly_scored(SCORES, largest_share=0.5),
    "activations_sound": checks.activations_sound(activations()),
    "texts_read": checks.texts_read(activations()),
    "performance_in_score_range": checks.performance_in_score_range(
        performance(0.2, 0.6, np.nan), [score(0.2), score(0.6)]
    ),
    "performance_in_score_range, all unscored": checks.performance_in_score_range(
        performance(np.nan), [score(None)]
    ),
    "dictionary_complete": checks.dictionary_complete(CONCEPTS, SAE),
    "mostly_alive": checks.mostly_alive([*CONCEPTS, concept(2, status="dead")], largest_dead_share=0.4),
    "gaps_ranked": checks.gaps_ranked(GAPS[::-1]),
    "clusters_cover": checks.clusters_cover(CLUSTERS, GAPS),
    "named_as_asked": checks.named_as_asked(CLUSTERS),
    "current": checks.current("abc", "abc"),
}

BAD: list[tuple[checks.Finding, str]] = [
    (
        checks.rows_whole([ROWS], {}),
        "1 files of rows missing or changed, for example rows/b/f.jsonl (1 looked at)",
    ),
    (
        checks.rows_whole([ROWS], {ROWS.path: "1" * 64}),
        "1 files of rows missing or changed, for example rows/b/f.jsonl (1 looked at)",
    ),
    (
        checks.none_left_out(OPEN, ["r", "s"], []),
        "2 repeated and 0 contradictory rows left out, for example r (2 looked at)",
    ),
    (
        checks.none_left_out(OPEN, ["r"], ["t"]),
        "1 repeated and 1 contradictory rows left out, for example t (2 looked at)",
    ),
    (
        checks.asked_once([PAIR, PAIR], OPEN),
        "2 near-duplicates across benchmarks (a and b 2), for example 1 (2 looked at)",
    ),
    (
        checks.unique_ids([OPEN[0], OPEN[1], OPEN[0]]),
        f"1 example ids repeated, for example {IDS[0]} (3 looked at)",
    ),
    (
        checks.prompts_not_empty([OPEN[0], altered(OPEN[1], prompt=" \n")]),
        f"1 empty prompts, for example {IDS[1]} (2 looked at)",
    ),
    (
        checks.targets_answerable(OPEN, CHOICE, POLICY),
        f"2 examples whose target cannot be given, for example {IDS[0]} (2 looked at)",
    ),
    (
        checks.targets_answerable(OPEN, OPEN_ANSWER, POLICIES["option"]),
        f"2 examples whose target cannot be given, for example {IDS[0]} (2 looked at)",
    ),
    (
        checks.targets_answerable(OPEN, OPEN_ANSWER, POLICIES["judge_pair"]),
        f"2 examples whose target cannot be given, for example {IDS[0]} (2 looked at)",
    ),
    *(
        (
            checks.targets_answerable([one := example("Hi", **changes)], BENCHMARKS[asked], POLICIES[policy]),
            f"1 examples whose target cannot be given, for example {one.example_id} (1 looked at)",
        )
        for asked, policy, changes in (
            ("arithmetic", "numeric", {"targets": ("4", "four")}),
            ("arithmetic", "yes_no", {}),
            ("requests", "declines", {"targets": ("refuse",)}),
            ("arena_hard_v01", "judge_pair", {"details": '{"baseline": ""}'}),
            ("crows_pairs", "paired_sentences", {"choices": ("4", "5")}),
            ("bbq", "bbq", {"choices": ("3", "4", "5"), "details": '{"unknown_choice": "D"}'}),
        )
    ),
    (
        checks.targets_answerable([altered(OPEN[0], targets=()), OPEN[1]], OPEN_ANSWER, POLICY),
        f"1 examples whose target cannot be given, for example {OPEN[0].example_id} (2 looked at)",
    ),
    (
        checks.targets_answerable([altered(CLOSED[0], targets=("9",)), CLOSED[1]], CHOICE, POLICY),
        f"1 examples whose target cannot be given, for example {CLOSED[0].example_id} (2 looked at)",
    ),
    (
        checks.same_examples(OPEN, COMPLETIONS[:1]),
        f"1 results for 2 examples, 1 without a partner, for example {IDS[1]} (2 looked at)",
    ),
    (
        checks.same_examples(OPEN, [*SCORES, SCORES[0]]),
        f"3 results for 2 examples, 1 without a partner, for example {IDS[0]} (2 looked at)",
    ),
    (
        checks.same_examples(OPEN, activations(n_tokens=(4,), saliency=(0.5,), concept_ids=(0,))),
        f"1 results for 2 examples, 1 without a partner, for example {IDS[1]} (2 looked at)",
    ),
    (
        checks.same_examples(OPEN, []),
        f"0 results for 2 examples, 2 without a partner, for example {IDS[0]} (2 looked at)",
    ),
    (
        checks.prompts_whole([*CUT, COMPLETIONS[1]]),
        f"1 prompts cut, 7 tokens lost, for example {IDS[0]} (3 looked at)",
    ),
    (
        checks.scores_in_range([altered(SCORES[0], value=1.5)]),
        f"1 scores out of range, for example {IDS[0]} (1 looked at)",
    ),
    (
        checks.scores_in_range([altered(SCORES[0], value=None)]),
        f"1 scores out of range, for example {IDS[0]} (1 looked at)",
    ),
    (
        checks.scores_in_range([altered(SCORES[0], value=float("nan"))]),
        f"1 scores out of range, for example {IDS[0]} (1 looked at)",
    ),
    (
        checks.mostly_scored(SCORES, largest_share=0.49),
        "50.0% unscored (unparsed 1), at most 49% expected (2 looked at)",
    ),
    (
        checks.activations_sound(activations(saliency=(0.5, float("nan")))),
        "1 saliencies not finite and positive, 0 concept ids outside 0…3 (2 looked at)",
    ),
    (
        checks.activations_sound(activations(saliency=(float("inf"), -1.0))),
        "2 saliencies not finite and positive, 0 concept ids outside 0…3 (2 looked at)",
    ),
    (
        checks.activations_sound(activations(saliency=(0.0, 1.0))),
        "1 saliencies not finite and positive, 0 concept ids outside 0…3 (2 looked at)",
    ),
    (
        checks.activations_sound(activations(concept_ids=(-1, 4))),
        "0 saliencies not finite and positive, 2 concept ids outside 0…3 (2 looked at)",
    ),
    (
        checks.texts_read(activations(n_tokens=(4, 0))),
        f"1 examples without a content token, for example {IDS[1]} (2 looked at)",
    ),
    (
        checks.performance_in_score_range(performance(0.2, 0.7), [score(0.2), score(0.6)]),
        "1 of 2 concepts with performance outside [0.2, 0.6] (2 looked at)",
    ),
    (
        checks.performance_in_score_range(performance(0.1), [score(0.2), score(None)]),
        "1 of 1 concepts with performance outside [0.2, 0.2] (1 looked at)",
    ),
    (
        checks.performance_in_score_range(performance(0.5), [score(None)]),
        "no example is scored, so no performance may be defined (1 looked at)",
    ),
    (
        checks.dictionary_complete(CONCEPTS[:1], SAE),
        "1 concepts for 2 latents, 0 without a label (1 looked at)",
    ),
    (
        checks.dictionary_complete(CONCEPTS[::-1], SAE),
        "2 concepts for 2 latents, 0 without a label (2 looked at)",
    ),
    (
        checks.dictionary_complete([CONCEPTS[0], concept(1, label=" ")], SAE),
        "2 concepts for 2 latents, 1 without a label (2 looked at)",
    ),
    (
        checks.mostly_alive([concept(0, status="dead"), concept(1, status="dense")], largest_dead_share=0.4),
        "50.0% dead, 1 dense; at most 40% dead expected (2 looked at)",
    ),
    (
        checks.gaps_ranked([gap(1), gap(3, 1)]),
        "1 lists with a broken ranking, for example missing in suite (2 looked at)",
    ),
    (
        checks.gaps_ranked([gap(1), gap(1, 1)]),
        "1 lists with a broken ranking, for example missing in suite (2 looked at)",
    ),
    (
        checks.gaps_ranked([gap(0)]),
        "1 lists with a broken ranking, for example missing in suite (1 looked at)",
    ),
    (
        checks.named_as_asked([replace(CLUSTERS[0], note="The server was not there."), *CLUSTERS[1:]]),
        "1 clusters without the name asked for: The server was not there. (2 looked at)",
    ),
    (checks.clusters_cover(CLUSTERS[:1], GAPS), "1 gaps not in exactly one cluster of 1 (4 looked at)"),
    (
        checks.clusters_cover([*CLUSTERS, cluster(8)], GAPS),
        "1 gaps not in exactly one cluster of 3 (4 looked at)",
    ),
    (
        checks.clusters_cover([*CLUSTERS, cluster(5)], GAPS),
        "1 gaps not in exactly one cluster of 3 (4 looked at)",
    ),
    (checks.current("abc", "abd"), "out of date: run `cg demo` again, or materialise it"),
    (checks.current(None, "abd"), "out of date: run `cg demo` again, or materialise it"),
    (
        checks.current("abd-in-part-1", "abd"),
        "whole only in part, some timed out or failed: run `cg demo` again, or materialise it",
    ),
    (checks.current("abd-in-part-1", "abc"), "out of date: run `cg demo` again, or materialise it"),
]

EMPTY: dict[str, checks.Finding] = {
    "rows_whole": checks.rows_whole([], {}),
    "none_left_out": checks.none_left_out([], [], []),
    "asked_once": checks.asked_once([], []),
    "unique_ids": checks.unique_ids([]),
    "prompts_not_empty": checks.prompts_not_empty([]),
    "targets_answerable": checks.targets_answerable([], CHOICE, POLICY),
    "same_examples": checks.same_examples([], []),
    "prompts_whole": checks.prompts_whole([]),
    "scores_in_range": checks.scores_in_range([]),
    "mostly_scored": checks.mostly_scored([], largest_share=1.0),
    "activations_sound": checks.activations_sound(activations((), (), ())),
    "texts_read": checks.texts_read(activations((), (), ())),
    "performance_in_score_range": checks.performance_in_score_range(performance(), []),
    "performance_in_score_range, nothing fires": checks.performance_in_score_range(
        performance(np.nan), [score(1.0)]
    ),
    "dictionary_complete": checks.dictionary_complete([], replace(SAE, d_sae=0)),
    "mostly_alive": checks.mostly_alive([], largest_dead_share=1.0),
    "gaps_ranked": checks.gaps_ranked([]),
    "clusters_cover": checks.clusters_cover([], []),
    "named_as_asked": checks.named_as_asked([]),
}


def test_what_was_cut_is_counted_by_example():
    found = checks.prompts_whole([*CUT, COMPLETIONS[1]])
    assert found.numbers == {"n_shortened": 1, "n_cut_tokens": 7}


@pytest.mark.parametrize("case", GOOD)
def test_holds(case):
    assert GOOD[case].passed, GOOD[case].sentence


@pytest.mark.parametrize(("finding", "sentence"), BAD)
def test_does_not_hold(finding, sentence):
    assert not finding.passed
    assert finding.sentence == sentence


@pytest.mark.parametrize("case", EMPTY)
def test_nothing_to_look_at_is_not_a_pass(case):
    assert not EMPTY[case].passed
    assert EMPTY[case].sentence == "nothing to look at"


def test_every_check_is_tried():
    """A check added without a good and an empty case fails here."""
    own = {
        name for name, value in vars(checks).items() if getattr(value, "__module__", "") == checks.__name__
    }
    public = {name for name in own if not name.startswith("_")} - {"Finding", "finding_of"}
    assert {case.split(",")[0] for case in GOOD} == public
    assert {case.split(",")[0] for case in EMPTY} == public - {"current"}


def test_numbers_tell_how_many_were_looked_at():
    assert checks.unique_ids(OPEN).numbers == {"n": 2}
    assert checks.unique_ids([]).numbers == {"n": 0}
    assert checks.current(None, "a").numbers == {"stored": "nothing", "catalogue": "a"}
