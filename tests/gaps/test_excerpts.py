import numpy as np

from cg_pipeline.gaps.excerpts import strongest_examples
from tests.gaps.small_study import SmallStudy, activations_of, score_of


def study_of(north: list[list[float]], south: list[list[float]]):
    study = SmallStudy(benchmarks=("north", "south"), n_examples=len(north), n_concepts=4, unscored=0).build()
    saliency = {"north": np.array(north), "south": np.array(south)}
    ids = {name: [example.example_id for example in study.examples[name]] for name in saliency}
    activations = {name: activations_of(saliency[name], ids[name]) for name in saliency}
    return study, activations


def test_the_strongest_examples_of_all_benchmarks_come_first():
    study, activations = study_of([[1, 0], [5, 0]], [[3, 0], [0, 2]])
    found = strongest_examples([0, 1], activations, study.examples, study.completions, study.scores)
    assert [(excerpt.benchmark, excerpt.saliency) for excerpt in found[0]] == [("north", 5.0), ("south", 3.0)]
    assert [(excerpt.benchmark, excerpt.saliency) for excerpt in found[1]] == [("south", 2.0)]
    assert found[0][0].prompt == "north question 1?"
    assert found[0][0].target == "1"


def test_ties_go_to_the_earlier_example_and_n_is_kept():
    study, activations = study_of([[2, 0], [2, 0]], [[2, 0], [2, 0]])
    [excerpt] = strongest_examples([0], activations, study.examples, study.completions, study.scores, n=1)[0]
    assert excerpt.prompt == "north question 0?"


def test_a_concept_that_never_fires_has_none():
    study, activations = study_of([[0, 1]], [[0, 0]])
    assert strongest_examples([0], activations, study.examples, study.completions, study.scores) == {0: []}


def test_an_unscored_example_shows_what_was_written_and_why_it_has_no_score():
    study, activations = study_of([[1, 0]], [[0, 0]])
    scores = {**study.scores, "north": [score_of(study.completions["north"][0], None, "truncated")]}
    [excerpt] = strongest_examples([0], activations, study.examples, study.completions, scores)[0]
    assert (excerpt.value, excerpt.reason, excerpt.answer) == (None, "truncated", "yes")


def test_no_concepts_no_excerpts():
    study, activations = study_of([[1, 0]], [[0, 0]])
    assert strongest_examples([], activations, study.examples, study.completions, study.scores) == {}
