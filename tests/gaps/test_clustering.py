import subprocess
import sys

import numpy as np
import pytest

from cg_pipeline.gaps.clustering import group_gaps
from cg_pipeline.records import Concept, Gap, GapCluster
from tests.gaps.small_study import concept

SUBJECTS = ("river bank water boat", "bread oven flour yeast", "violin opera choir sonata")


def gap(concept_id: int, rank: int, kind: str = "missing", scope: str = "suite") -> Gap:
    identity = {"model": "m", "scope": scope, "kind": kind, "concept_id": concept_id}
    return Gap(**identity, rank=rank, value=0.0, lift=None, n_examples=0, n_eff=0.0)


def subject_concept(concept_id: int, subject: int) -> Concept:
    words = SUBJECTS[subject].split()
    tokens = tuple(f" {words[(concept_id + step) % 4]}" for step in range(3))
    return concept(concept_id, words[concept_id % 4], top_tokens=tokens, contexts=(f"some ⟦{words[0]}⟧",))


def planted(n: int, seed: int = 0) -> tuple[list[Concept], np.ndarray, list[int]]:
    """n concepts of three subjects that differ in words and direction, shuffled."""
    generator = np.random.default_rng(seed)
    subjects = generator.permutation(np.arange(n) % 3).tolist()
    centres = generator.normal(size=(3, 16))
    directions = np.array([centres[subject] for subject in subjects]) + 0.3 * generator.normal(size=(n, 16))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return [subject_concept(number, subject) for number, subject in enumerate(subjects)], directions, subjects


def group(
    gaps: list[Gap], concepts: list[Concept], directions: np.ndarray, **settings: int
) -> list[GapCluster]:
    return group_gaps(gaps, concepts, directions, **({"max_clusters": 12, "seed": 0} | settings))


def test_planted_groups_are_found():
    concepts, directions, subjects = planted(30)
    clusters = group([gap(number, number + 1) for number in range(30)], concepts, directions)
    assert len(clusters) == 3
    for cluster in clusters:
        assert len({subjects[member] for member in cluster.concept_ids}) == 1
        words = SUBJECTS[subjects[cluster.concept_ids[0]]].split()
        assert all(term in words for term in cluster.name.split(", "))


def test_words_and_directions_each_suffice():
    concepts, directions, subjects = planted(30)
    gaps = [gap(number, number + 1) for number in range(30)]
    mute = [concept(number, "x", top_tokens=(), contexts=()) for number in range(30)]
    for by in (group(gaps, mute, directions), group(gaps, concepts, np.zeros_like(directions))):
        assert 3 <= len(by) <= 6
        assert all(len({subjects[member] for member in cluster.concept_ids}) == 1 for cluster in by)


def test_every_gap_is_in_one_group_and_members_come_by_rank():
    concepts, directions, _ = planted(40)
    ranks = np.random.default_rng(3).permutation(40)
    clusters = group([gap(number, int(ranks[number]) + 1) for number in range(40)], concepts, directions)
    assert sorted(member for cluster in clusters for member in cluster.concept_ids) == list(range(40))
    for cluster in clusters:
        assert [ranks[member] for member in cluster.concept_ids] == sorted(ranks[list(cluster.concept_ids)])
    sizes = [len(cluster.concept_ids) for cluster in clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert [cluster.cluster_id for cluster in clusters] == list(range(len(clusters)))
    assert {cluster.name_source for cluster in clusters} == {"automatic"}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_few_gaps_are_grouped_too(n: int):
    concepts, directions, _ = planted(6)
    clusters = group([gap(number, number + 1) for number in range(n)], concepts, directions)
    assert sum(len(cluster.concept_ids) for cluster in clusters) == n
    assert len(clusters) == min(n, 1) if n <= 2 else 1 <= len(clusters) <= n


def test_identical_concepts_are_one_group():
    same = [concept(number, "same", top_tokens=(" same",), contexts=()) for number in range(12)]
    clusters = group([gap(number, number + 1) for number in range(12)], same, np.ones((12, 4)) / 2)
    assert [cluster.name for cluster in clusters] == ["same"]


def test_directions_that_are_no_numbers_do_not_stop_it():
    concepts, directions, _ = planted(9)
    directions[0], directions[1] = np.nan, 0.0
    assert group([gap(number, number + 1) for number in range(9)], concepts, directions)


def test_kinds_are_grouped_apart_and_benchmarks_left_out():
    concepts, directions, _ = planted(12)
    gaps = [gap(number, number + 1, "model_gap") for number in range(4)]
    gaps += [gap(number, number - 3, "missing") for number in range(4, 8)]
    gaps += [gap(number, number - 7, "missing", scope="north") for number in range(8, 12)]
    clusters = group(gaps, concepts, directions)
    assert list(dict.fromkeys(cluster.kind for cluster in clusters)) == ["missing", "model_gap"]
    assert {member for cluster in clusters for member in cluster.concept_ids} == set(range(8))
    for kind in ("missing", "model_gap"):
        names = [cluster.name for cluster in clusters if cluster.kind == kind]
        assert len(set(names)) == len(names)


def test_there_are_never_more_groups_than_asked_for():
    concepts, directions, _ = planted(60)
    gaps = [gap(number, number + 1) for number in range(60)]
    assert len(group(gaps, concepts, directions, max_clusters=2)) == 2
    assert len(group(gaps, concepts, directions, max_clusters=1)) == 1


def test_thousands_of_gaps_are_grouped():
    concepts, directions, _ = planted(2500)
    clusters = group(
        [gap(number, number + 1) for number in range(2500)], concepts, directions, max_clusters=4
    )
    assert sum(len(cluster.concept_ids) for cluster in clusters) == 2500
    assert len(clusters) == 3


def many_groups() -> str:
    concepts, directions, _ = planted(200)
    clusters = group([gap(number, number + 1) for number in range(200)], concepts, directions)
    return repr([(cluster.name, cluster.concept_ids) for cluster in clusters])


def test_another_process_finds_the_same_groups():
    script = "from tests.gaps.test_clustering import many_groups; print(many_groups())"
    settings = {"PYTHONHASHSEED": "7", "PYTHONPATH": ".", "OMP_NUM_THREADS": "2"}
    run = [sys.executable, "-c", script]
    other = subprocess.run(run, capture_output=True, text=True, check=True, env=settings).stdout.strip()
    assert other == many_groups()
    assert len(other) > 100
