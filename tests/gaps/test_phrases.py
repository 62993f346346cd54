import dataclasses

from cg_pipeline.gaps.findings import collect_findings
from cg_pipeline.gaps.phrases import REASON_WORDS, left_out, rule, shown_of, statement, why
from cg_pipeline.health_records import REASONS
from cg_pipeline.specs import GapRules
from tests.gaps.small_study import SmallStudy


def test_the_statement_by_hand():
    inputs = SmallStudy(benchmarks=("north",), unscored=0).build()
    found = collect_findings(inputs)
    assert statement(inputs, found).startswith(
        "Tiny model answered 30 examples of 1 benchmark; 30 of the answers could be scored. "
        "A sparse autoencoder read the same examples as 11 concepts; 2 of them (18.2%) are missing: "
        "active in no example. Besides these, 1 concept is left out (1 dense). Where the model could be "
        "measured, on 9 concepts with enough examples, its median performance is 0."
    )


def test_without_scores_nothing_is_ranked():
    inputs = SmallStudy(unscored=1.0).build()
    assert statement(inputs, collect_findings(inputs)).endswith(
        "No concept has enough scored examples for its performance to be ranked."
    )


def test_a_list_says_how_much_it_shows_and_in_which_order():
    found = collect_findings(SmallStudy().build()).kinds[0]
    assert shown_of(found) == "highest firing rate first; 1 concept left out"
    cut = dataclasses.replace(found, n=1200, n_left_out=34)
    assert shown_of(cut) == "first 2 of 1,200, highest firing rate first; 34 concepts left out"


def test_what_is_left_out_is_counted_by_reason():
    found = collect_findings(SmallStudy().build())
    assert left_out(found) == "1 concept is left out (1 dense)"
    reasons = {"dead": 1200, "badly_labelled": 3}
    more = dataclasses.replace(found, n_left_out=1203, left_out_by_reason=reasons)
    assert left_out(more) == "1,203 concepts are left out (1,200 dead, 3 badly labelled)"
    assert left_out(dataclasses.replace(found, n_left_out=0)) == "no concept is left out"
    assert why(("dense", "duplicate")) == "dense, duplicate"


def test_every_reason_has_a_word():
    assert set(REASON_WORDS) == set(REASONS)


def test_rules_by_share_and_by_bound():
    assert rule("model_gap", GapRules()) == "The lowest 10% by performance of the supported concepts."
    assert (
        rule("model_gap", GapRules(model_gap_below=0.4))
        == "The supported concepts with a performance below 0.4."
    )
    assert rule("over_represented", GapRules(over_share=0.005)).startswith("The highest 0.5% by coverage")
