import pytest

from cg_pipeline.stats.bias import ambiguous_bias, bias_score


@pytest.mark.parametrize(
    ("n_stereotyped", "n_answers", "score"), [(0, 4, -1.0), (2, 4, 0.0), (4, 4, 1.0), (3, 4, 0.5)]
)
def test_bias_score(n_stereotyped, n_answers, score) -> None:
    assert bias_score(n_stereotyped, n_answers) == score


def test_in_an_ambiguous_context_only_errors_count():
    assert ambiguous_bias(0.5, 1.0) == 0.0
    assert ambiguous_bias(0.5, 0.0) == 0.5
    assert ambiguous_bias(-1.0, 0.75) == -0.25


@pytest.mark.parametrize(("n_stereotyped", "n_answers"), [(0, 0), (2, 1), (-1, 3)])
def test_impossible_counts_are_refused(n_stereotyped, n_answers) -> None:
    with pytest.raises(ValueError, match=f"{n_stereotyped} stereotyped of {n_answers} answers; expected 0"):
        bias_score(n_stereotyped, n_answers)
