"""The gate: a reader that fits passes, and each fault is named, not only found."""

import math

import pytest

from cg_pipeline.health.gate import gate_sentence, judge_fit, likely_cause, passes_gate, require_gate
from cg_pipeline.health_specs import PublishedFigures, ReaderGate
from tests.health.cases import AFTER, BEFORE, HERE, fit, sae

MISSES = {"explained_variance": 0.3, "content_explained_variance": 0.3}


def missed(found, **changed) -> dict[str, str]:
    """Figures that miss, with their causes."""
    return {each.figure: each.cause for each in judge_fit(found, sae(**changed)) if not each.passed}


def test_the_embedded_readers_figures_pass_with_room() -> None:
    found = judge_fit(fit(), sae())
    assert passes_gate(found)
    assert gate_sentence(found) == "all 10 figures hold"
    assert {each.cause for each in found} == {""}
    assert [each.figure for each in found] == [
        "tokens not finite",
        "tokens below 0",
        "BOS tokens",
        "advantage of another layer",
        "advantage of the other BOS",
        "explained variance",
        "loss recovered",
        "share of latents that fire",
        "explained variance as published",
        "l0 as published",
    ]


def test_nothing_measured_is_no_pass() -> None:
    assert not passes_gate([])
    assert gate_sentence([]) == "nothing was measured"


def test_a_neighbouring_layer_is_named_though_everything_else_holds() -> None:
    found = fit(
        hookpoint_explained_variance=(0.762, 0.745, 0.813),
        explained_variance=0.745,
        other_bos_explained_variance=0.74,
    )
    assert missed(found) == {"advantage of another layer": f"wrong layer, for it explains 0.81 at {AFTER}"}


def test_little_at_every_layer_is_another_model_and_not_the_least_bad_layer() -> None:
    found = fit(
        **MISSES,
        hookpoint_explained_variance=(0.1, 0.05, 0.2),
        scale_explained_variance=(0.0, 0.05, 0.0),
        other_bos_explained_variance=0.06,
        loss_recovered=0.2,
    )
    cause = "wrong model, if it was trained well: no other layer, scale or BOS of 'reads' fits either"
    assert missed(found) == dict.fromkeys(
        (
            "advantage of another layer",
            "explained variance",
            "loss recovered",
            "explained variance as published",
        ),
        cause,
    )


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        (
            {"other_bos_explained_variance": 0.8},
            "stray or missing BOS, for it explains 0.80 of prompts read without their BOS",
        ),
        (
            {"other_bos_explained_variance": 0.8, "has_bos": False},
            "stray or missing BOS, for it explains 0.80 of prompts read after a BOS",
        ),
        (
            {"scale_explained_variance": (0.79, 0.3, 0.1)},
            "wrong normalisation, for it explains 0.79 of states times 0.25",
        ),
        (
            {"content_explained_variance": 0.8},
            "BOS or template tokens are counted (token_mask), which it was not trained on: of the examples' "
            "own text it explains 0.80",
        ),
        ({"n_not_finite": 3}, "values that are no numbers from 0 up"),
    ],
)
def test_a_cause_is_what_explains_the_states_after_all(changed: dict[str, object], cause: str) -> None:
    low = {
        "hookpoint_explained_variance": (0.2, 0.3, 0.2),
        "scale_explained_variance": (0.1, 0.3, 0.1),
        "other_bos_explained_variance": 0.3,
    }
    assert likely_cause(fit(**(MISSES | low | changed)), sae()) == cause


def test_the_best_of_several_explanations_is_told() -> None:
    found = fit(
        **MISSES,
        hookpoint_explained_variance=(0.81, 0.3, 0.2),
        scale_explained_variance=(0.75, 0.3, 0.1),
        other_bos_explained_variance=0.74,
    )
    assert likely_cause(found, sae()) == f"wrong layer, for it explains 0.81 at {BEFORE}"


@pytest.mark.parametrize(
    ("changed", "figure", "sentence"),
    [
        (
            {"n_not_finite": 2},
            "tokens not finite",
            "2 tokens have a state, activation or reconstruction that is not",
        ),
        ({"n_negative": 2}, "tokens below 0", "2 tokens have activations below 0, expected none"),
        ({"n_bos": 2}, "BOS tokens", "a prompt begins with 2 BOS tokens, expected at most 1"),
        (
            {"explained_variance": 0.7},
            "explained variance as published",
            "explained variance is 0.700, expected at least 0.72, for 0.82 is published (its card)",
        ),
        ({"loss_recovered": 0.7}, "loss recovered", "loss recovered is 0.700, expected at least 0.8"),
        (
            {"l0": 70.0},
            "l0 as published",
            "70.0 latents fire per token, expected 32 as published (its card), or at most 2 times more",
        ),
        (
            {"other_bos_explained_variance": 0.84},
            "advantage of the other BOS",
            "it explains 0.840 of the variance of prompts read without their BOS, 0.813 as they are",
        ),
        (
            {"hookpoint_explained_variance": (0.762, 0.813, 0.834)},
            "advantage of another layer",
            f"it explains 0.834 of the variance at {AFTER}, 0.813 at {HERE}",
        ),
    ],
)
def test_a_figure_that_misses_is_told_with_its_bound(
    changed: dict[str, object], figure: str, sentence: str
) -> None:
    [found] = [each for each in judge_fit(fit(**changed), sae()) if not each.passed]
    assert found.figure == figure
    assert found.sentence.startswith(sentence)
    assert found.cause
    assert gate_sentence([found]) == f"SAE 'sae': {found.sentence} (likely cause: {found.cause})"


@pytest.mark.parametrize("l0", [0.0, 500.0])
def test_nothing_that_fires_and_nothing_sparse_both_miss(l0: float) -> None:
    assert "share of latents that fire" in missed(fit(l0=l0), published=None)


@pytest.mark.parametrize("figure", ["explained_variance", "loss_recovered", "l0"])
def test_what_cannot_be_computed_does_not_pass(figure: str) -> None:
    assert missed(fit(**{figure: math.nan}))


def test_without_a_bos_token_and_other_layers_there_is_nothing_to_compare() -> None:
    alone = fit(
        other_bos_explained_variance=math.nan, hookpoints=(HERE,), hookpoint_explained_variance=(0.813,)
    )
    assert len(judge_fit(alone, sae(published=None))) == 6


def test_bounds_are_the_specs() -> None:
    strict = ReaderGate(min_explained_variance=0.9)
    assert "explained variance" in missed(fit(), gate=strict)
    lax = ReaderGate(max_shortfall=0.5, min_explained_variance=0.2)
    assert not missed(fit(explained_variance=0.35), gate=lax)


def test_a_reader_that_did_not_pass_reads_nothing() -> None:
    require_gate(judge_fit(fit(), sae()), "answers", "abc")
    with pytest.raises(
        ValueError, match=r"The reader of 'answers' did not pass its gate: .* \(likely cause: .*gate"
    ):
        require_gate(judge_fit(fit(n_bos=2), sae()), "answers", "abc")


def test_a_reader_that_changed_since_reads_nothing() -> None:
    with pytest.raises(ValueError, match=r"reader of 'answers' is xyz; abc passed the gate\. Materialise"):
        require_gate(judge_fit(fit(), sae()), "answers", "xyz")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"explained_variance": 82.0}, "explained variance is 82.0; expected a share above 0 and at most 1"),
        ({"l0": 0.0}, "Published l0 is 0.0; expected latents per token above 0"),
    ],
)
def test_published_figures_are_possible_ones(changed: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        PublishedFigures(source="a card", **changed)
