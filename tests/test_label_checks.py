"""What must hold of labels and excerpts: each fault is found, and its absence passes."""

from dataclasses import replace

import pytest

from cg_pipeline import label_checks
from cg_pipeline.labels.merging import merge_labels
from tests.labels.cases import concepts, context, given, sae, stored, written

MERGED = merge_labels(sae(), concepts(), [(stored(), [given(0, "a", 0.9), given(1, "b", 0.3)])])
GROUP = [
    context("a cat sat", "cat"),
    context("the cat ran", "cat", role="held_out"),
    context("rain fell", role="random"),
]


def test_files_of_labels():
    found = {"labels/tiny/mine.csv": "s"}
    assert label_checks.labels_whole([stored()], found).passed
    assert label_checks.labels_whole([], {}).passed  # nobody has to bring labels
    wrong = label_checks.labels_whole([stored()], {})
    assert not wrong.passed
    assert wrong.sentence == "1 of 1 label files missing or changed, for example labels/tiny/mine.csv"


def test_one_label_of_each_concept():
    assert label_checks.one_label_chosen(MERGED, sae()).passed
    without = [row for row in MERGED if row.concept_id != 2]
    twice = [*MERGED, replace(MERGED[0], chosen=True)]
    blank = [replace(MERGED[0], label=" "), *MERGED[1:]]
    for faulty in (without, twice, blank, []):
        assert not label_checks.one_label_chosen(faulty, sae()).passed
    assert not label_checks.one_label_chosen(MERGED, sae(3)).passed


@pytest.mark.parametrize(
    ("ids", "passed"),
    [(range(4), False), (range(5), True), ([0], True), ([0, 1, 2, 7], True), ([1, 3, 5, 7], True)],
)
def test_labels_of_a_narrower_dictionary(ids, passed):
    """Fault F25: labels for 4 latents read with a dictionary of 8."""
    labels = merge_labels(sae(8), concepts(8), [(stored(), [given(i, "x") for i in ids])])
    found = label_checks.labels_fit_the_width(labels, sae(8))
    assert found.passed is passed
    assert passed or "own:mine.csv labels nearly all concepts below 4 and none above" in found.sentence


def test_low_scores():
    assert label_checks.few_score_low(MERGED, largest_share=0.5).passed
    found = label_checks.few_score_low(MERGED, largest_share=0.4)
    assert not found.passed
    assert found.sentence == "1 of 2 tested labels that are shown scored low"


def test_excerpts():
    assert label_checks.contexts_sound(GROUP).passed
    assert not label_checks.contexts_sound([]).passed
    for fault, word in (
        (replace(GROUP[0], ends=(99, 5, 9)), "outside their text"),
        (replace(GROUP[0], marked=(3,)), "outside their tokens"),
        (replace(GROUP[0], starts=(0,)), "different length"),
        (replace(GROUP[0], activations=(0.0, 0.0, 0.0)), "silent where firing"),
        (replace(GROUP[2], activations=(0.0, 1.0)), "firing where silent"),
    ):
        found = label_checks.contexts_sound([*GROUP, fault])
        assert not found.passed
        assert word in found.sentence


def test_tested_on_others():
    assert label_checks.tested_on_others(GROUP).passed
    assert not label_checks.tested_on_others(GROUP[:1]).passed
    assert not label_checks.tested_on_others([GROUP[0], replace(GROUP[0], role="held_out")]).passed


def test_labelled_as_asked():
    assert label_checks.labelled_as_asked([written(0), written(9)], GROUP).passed
    assert not label_checks.labelled_as_asked([written(9)], GROUP).passed
    assert not label_checks.labelled_as_asked([written(0, detection=None)], GROUP).passed
    assert not label_checks.labelled_as_asked([], []).passed
