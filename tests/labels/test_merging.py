"""All labels kept, one chosen: by source, then score, then date; low scores marked."""

from dataclasses import replace

import pytest
from hypothesis import given as with_examples
from hypothesis import strategies as st

from cg_pipeline.label_specs import KINDS
from cg_pipeline.labels.merging import keep_former, label_counts, merge_labels, show_labels
from tests.labels.cases import concepts, given, sae, stored, written

OWN = stored()
HUB = stored("hub:a/b", "hub", dated="2026-03-03")
EXPORT = stored("neuronpedia:m/s", "neuronpedia")


def chosen(labels) -> dict[int, tuple[str, str]]:
    return {row.concept_id: (row.source, row.label) for row in labels if row.chosen}


def test_without_other_sources_the_automatic_label_is_shown():
    merged = merge_labels(sae(), concepts(), [])
    assert chosen(merged) == {i: ("automatic", f"“word{i}”") for i in range(4)}
    assert {(row.score, row.low_score, row.made) for row in merged} == {(None, False, "")}


def test_nothing_is_lost_and_the_users_label_is_shown():
    merged = merge_labels(
        sae(), concepts(), [(HUB, [given(1, "theirs")]), (OWN, [given(1, "mine")])], [written(1), written(2)]
    )
    assert len(merged) == 4 + 2 + 2
    assert chosen(merged) == {
        0: ("automatic", "“word0”"),
        1: ("own:mine.csv", "mine"),
        2: ("llm:m", "dates"),
        3: ("automatic", "“word3”"),
    }
    assert {row.source for row in merged if row.concept_id == 1} == {
        "own:mine.csv", "llm:m", "hub:a/b", "automatic",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("precedence", "shown"),
    [
        (KINDS, "own:mine.csv"),
        (("hub",), "hub:a/b"),
        (("llm:other", "neuronpedia"), "llm:other"),
        (("llm",), "llm:m"),  # sources of a kind by their names
        (("automatic",), "automatic"),
    ],
)
def test_precedence_goes_by_kind_or_by_source(precedence, shown):
    sources = [(OWN, [given(0, "own")]), (HUB, [given(0, "hub")]), (EXPORT, [given(0, "np")])]
    merged = merge_labels(
        sae(precedence=precedence), concepts(), sources, [written(0), written(0, model="other")]
    )
    assert chosen(merged)[0][0] == shown


def test_of_one_source_the_highest_scored_is_shown_then_the_latest():
    labels = [given(0, "a", made="2026-01-01"), given(0, "b", 0.7), given(0, "c", 0.9), given(1, "x")]
    labels += [given(1, "y", made="2026-04-04"), given(1, "w", made="2025-01-01")]
    shown = chosen(merge_labels(sae(), concepts(), [(EXPORT, labels)]))
    assert shown[0][1] == "c"
    assert shown[1][1] == "y"


def test_a_low_score_is_marked_and_shown_all_the_same():
    labels = [given(0, "weak", 0.9, 0.55), given(1, "strong", 0.9, 0.61)]
    merged = merge_labels(sae(), concepts(), [(OWN, labels)])
    assert {row.label: (row.score, row.low_score) for row in merged if row.source == "own:mine.csv"} == {
        "weak": (0.55, True),
        "strong": (0.61, False),
    }
    assert chosen(merged)[0][1] == "weak"
    shown = show_labels(concepts(), merged, mark_low=True)
    assert [each.label for each in shown[:2]] == ["(low score 0.55) weak", "strong"]
    assert show_labels(concepts(), merged)[0].label == "weak"
    assert show_labels(concepts(), merged)[0].label_source == "own:mine.csv"


def test_a_score_on_a_scale_of_its_own_is_neither_low_nor_high():
    theirs = replace(given(0, "theirs", 0.4), score_kinds=("recall_alt by someone",))
    merged = merge_labels(sae(), concepts(), [(HUB, [theirs])])
    assert [(row.score, row.low_score) for row in merged if row.source == HUB.source] == [(0.4, False)]


def test_the_bound_is_the_spec_s():
    merged = merge_labels(sae(low_score=0.5), concepts(), [(OWN, [given(0, "weak", 0.55)])])
    assert not any(row.low_score for row in merged)


def test_each_label_keeps_date_explainer_scores_and_n():
    merged = merge_labels(sae(), concepts(), [(HUB, [given(0, "theirs", 0.9)])], [written(0, fuzzing=None)])
    by_source = {row.source: row for row in merged if row.concept_id == 0}
    assert by_source["hub:a/b"].made == "2026-03-03"  # that of its source
    llm = by_source["llm:m"]
    assert (llm.explainer, llm.made) == ("llm:m", "2026-02-02")
    assert (llm.scores, llm.score_kinds, llm.score_ns) == ((0.8,), ("detection by llm:judge",), (22,))
    assert by_source["hub:a/b"].score_ns == (20,)


def test_a_label_of_another_width_is_told():
    """Fault F25: an id outside the dictionary."""
    with pytest.raises(ValueError, match=r"'own:mine.csv' is for concept 4 of 'tiny'; expected 0 to 3"):
        merge_labels(sae(), concepts(), [(OWN, [given(4, "stray")])])


def test_a_dictionary_without_its_labels_is_told():
    with pytest.raises(ValueError, match=r"1 concepts of 'tiny' have no chosen label, such as 3"):
        show_labels(concepts(), merge_labels(sae(3), concepts(3), []))


@with_examples(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.floats(0, 1)), max_size=12))
def test_exactly_one_label_of_each_concept_is_chosen_whatever_the_order(labels):
    rows = [given(concept, label, score) for concept, label, score in dict.fromkeys(labels)]
    merged = merge_labels(sae(), concepts(), [(OWN, rows)])
    assert sorted(chosen(merged)) == [0, 1, 2, 3]
    assert sum(row.chosen for row in merged) == 4
    assert len(merged) == len(rows) + 4
    assert chosen(merge_labels(sae(), concepts(), [(OWN, rows[::-1])])) == chosen(merged)


def test_former_labels_stay_unless_asked_about_again():
    former = [written(0), written(1), written(1, model="other"), written(2, reader="old SAE")]
    new = [written(1, label="months"), written(3)]
    kept = keep_former(new, former)
    assert [(each.concept_id, each.explainer, each.label) for each in kept] == [
        (0, "llm:m", "dates"),
        (1, "llm:m", "months"),
        (1, "llm:other", "dates"),
        (2, "llm:m", "dates"),  # of another reader: it may be back one day
        (3, "llm:m", "dates"),
    ]


def test_the_same_answer_again_keeps_its_date():
    [kept] = keep_former([written(0, made="2026-09-09")], [written(0)])
    assert kept.made == "2026-02-02"


def test_the_same_words_tested_less_do_not_replace_what_was_found():
    """The tester was down this time."""
    former = written(0, detection=0.5, n_detection=12)
    untested = written(0, detection=None, n_detection=0, fuzzing=None, n_fuzzing=0)
    assert keep_former([untested], [former]) == [former]
    assert keep_former([replace(untested, label="months")], [former])[0].label == "months"


def test_sources_are_counted_with_what_they_lack():
    merged = merge_labels(sae(), concepts(), [(OWN, [given(0, "a", 0.2), given(0, "b"), given(1, "c")])])
    assert label_counts(sae(), merged) == {
        "own:mine.csv": {
            "labels": 3, "chosen": 2, "tested": 1, "low_score": 1, "concepts": 2, "missing": 2,
        },
        "automatic": {
            "labels": 4, "chosen": 2, "tested": 0, "low_score": 0, "concepts": 4, "missing": 0,
        },
    }  # fmt: skip
