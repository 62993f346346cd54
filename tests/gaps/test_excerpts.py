from dataclasses import replace

import numpy as np
import pytest

from cg_pipeline.gaps.excerpts import gather_texts, show_evidence
from tests.gaps.small_study import SmallStudy, activations_of, evidence_of, score_of


def study_of(saliency: dict[str, list[list[float]]], values: dict[str, list[float | None]], **changes):
    names, n = tuple(saliency), len(next(iter(saliency.values())))
    study = SmallStudy(benchmarks=names, n_examples=n, n_concepts=4, unscored=0).build()
    scores = {
        name: [
            score_of(answer, None if value is None else float(value))
            for answer, value in zip(study.completions[name], of, strict=True)
        ]
        for name, of in values.items()
    }
    evidence = {}
    for name in names:
        ids = [example.example_id for example in study.examples[name]]
        read = activations_of(np.array(saliency[name]), ids)
        evidence[name] = evidence_of(read, study.examples[name], scores[name], study.study)
    return replace(study, scores=scores, evidence=evidence, **changes)


def shown(inputs, concept_ids: list[int], n: int = 2):
    texts = gather_texts(inputs.examples, inputs.completions, inputs.scores)
    return show_evidence(concept_ids, inputs.evidence, texts, n)


def prompt_of(excerpt) -> str:
    return "".join(piece.text for piece in excerpt.pieces)


def test_right_examples_come_first_each_side_by_saliency_over_all_benchmarks():
    inputs = study_of(
        {"north": [[1, 0], [5, 0], [4, 0]], "south": [[3, 0], [2, 2], [6, 0]]},
        {"north": [1, 0, 0], "south": [1, 1, 0]},
    )
    found = shown(inputs, [0, 1])
    assert [(e.benchmark, e.side, e.saliency, e.value) for e in found[0]] == [
        ("south", "right", 3.0, 1.0),
        ("south", "right", 2.0, 1.0),
        ("south", "wrong", 6.0, 0.0),
        ("north", "wrong", 5.0, 0.0),
    ]
    assert [(e.benchmark, e.side, e.saliency) for e in found[1]] == [("south", "right", 2.0)]
    assert prompt_of(found[0][3]) == "north question 1?"
    assert found[0][3].target == "1"
    assert [(piece.text, piece.level) for piece in found[0][3].pieces] == [
        ("north", 2), (" ", 0), ("question", 3), (" 1?", 0),
    ]  # fmt: skip


def test_ties_go_to_the_earlier_benchmark_and_n_is_kept():
    inputs = study_of({"south": [[2.0]], "north": [[2.0]]}, {"south": [1], "north": [1]})
    assert [e.benchmark for e in shown(inputs, [0], n=1)[0]] == ["south"]


def test_a_concept_that_never_fires_has_none():
    assert shown(study_of({"north": [[0.0, 1.0]]}, {"north": [1]}), [0]) == {0: []}


def test_no_concepts_no_excerpts():
    assert shown(study_of({"north": [[1.0]]}, {"north": [1]}), []) == {}


def test_unscored_examples_are_shown_only_where_none_was_scored():
    inputs = study_of({"north": [[9.0, 1.0], [1.0, 0.0]]}, {"north": [None, 1]})
    found = shown(inputs, [0, 1])
    assert [e.side for e in found[0]] == ["right"]
    [excerpt] = found[1]
    assert (excerpt.side, excerpt.value, excerpt.reason, excerpt.answer) == (
        "unscored", None, "unparsed", "yes",
    )  # fmt: skip


def test_an_example_without_a_target_is_shown_all_the_same():
    inputs = study_of({"north": [[1.0]]}, {"north": [1]})
    [example] = inputs.examples["north"]
    judged = replace(example, targets=())
    # Its targets are part of an example's identity: what is about it is renamed.
    evidence = {"north": replace(inputs.evidence["north"], example_ids=(judged.example_id,))}
    scores = {"north": [replace(inputs.scores["north"][0], example_id=judged.example_id)]}
    completions = {"north": [replace(inputs.completions["north"][0], example_id=judged.example_id)]}
    inputs = replace(
        inputs, examples={"north": [judged]}, evidence=evidence, scores=scores, completions=completions
    )
    assert [excerpt.target for excerpt in shown(inputs, [0])[0]] == [""]


@pytest.mark.parametrize(("values", "sample"), [((0.0, 1.0, 1.0), 1), ((0.0, 1.0, 0.0), 0)])
def test_of_several_answers_one_that_went_as_the_example_did_is_shown(values, sample):
    inputs = study_of({"north": [[1.0]]}, {"north": [float(np.mean(values) >= 0.5)]})
    [completion] = inputs.completions["north"]
    answers = [replace(completion, sample=i, text=f"answer {i}") for i in range(3)]
    scores = [score_of(each, value) for each, value in zip(answers, values, strict=True)]
    scores = [replace(score, sample=i) for i, score in enumerate(scores)]
    inputs = replace(inputs, completions={"north": answers}, scores={"north": scores})
    [excerpt] = shown(inputs, [0])[0]
    assert excerpt.answer == f"answer {sample}"
