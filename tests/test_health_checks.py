import math

from cg_pipeline.health.gate import judge_fit
from cg_pipeline.health_checks import mostly_fine, reader_fits, verdicts_complete
from tests.gaps.small_study import concept, health_of
from tests.health.cases import fit, sae

FINE = [health_of(concept(k)) for k in range(4)]
LEFT_OUT = health_of(concept(4), verdict="quarantined", reasons=("dense", "duplicate"))


def test_a_reader_that_fits_passes_with_its_figures() -> None:
    found = reader_fits(judge_fit(fit(), sae()))
    assert found.passed
    assert found.numbers["explained variance"] == 0.814


def test_a_reader_that_does_not_is_told_why() -> None:
    found = reader_fits(judge_fit(fit(n_bos=2), sae()))
    assert not found.passed
    assert "begins with 2 BOS tokens" in found.sentence
    assert "stray BOS" in found.sentence


def test_a_figure_without_a_value_is_left_out_of_the_numbers() -> None:
    found = reader_fits(judge_fit(fit(loss_recovered=math.nan), sae()))
    assert not found.passed
    assert "loss recovered" not in found.numbers


def test_nothing_to_look_at_is_no_pass() -> None:
    assert not reader_fits([]).passed
    assert not mostly_fine([], largest_share=0.5).passed
    assert not verdicts_complete([], 4).passed


def test_every_latent_has_a_verdict_that_fits_its_reasons() -> None:
    assert verdicts_complete(FINE, 4).passed
    assert not verdicts_complete(FINE, 5).passed
    assert not verdicts_complete(FINE[::-1], 4).passed
    unfounded = health_of(concept(3), verdict="quarantined", reasons=())
    found = verdicts_complete([*FINE[:3], unfounded], 4)
    assert (found.passed, found.sentence) == (
        False,
        "4 verdicts for 4 latents, 1 that do not fit their reasons",
    )


def test_what_is_quarantined_is_counted_by_reason() -> None:
    found = mostly_fine([*FINE, LEFT_OUT], largest_share=0.2)
    assert found.passed
    assert found.sentence == "20.0% of the concepts quarantined (1 dense, 1 duplicate), at most 20% expected"
    assert found.numbers == {"n": 5, "n_quarantined": 1, "dense": 1, "duplicate": 1}
    assert not mostly_fine([*FINE, LEFT_OUT], largest_share=0.1).passed
