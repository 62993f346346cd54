from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from cg_pipeline.sources.eval_logs.lighteval import read_lighteval
from cg_pipeline.sources.eval_logs.matching import match
from tests.sources.eval_logs.logs import SUM, lighteval_row, write_parquet


def read(tmp_path: Path, *rows, **settings):
    return read_lighteval([write_parquet(tmp_path / "details_toy.parquet", list(rows))], **settings)


def test_a_choice_with_its_likelihoods(tmp_path: Path):
    [answer] = read(tmp_path, lighteval_row("Which is cold?", [" ice", " fire"], 0, logprobs=[-0.5, -1.5]))
    assert (answer.logprobs, answer.orders, answer.target) == ((-0.5, -1.5), (("ice", "fire"),), "0")
    assert (answer.stop, answer.value, answer.place) == ("choice", 1.0, "details_toy.parquet row 1")


def test_a_generated_answer(tmp_path: Path):
    [answer] = read(tmp_path, lighteval_row("Two plus two?", ["4"], 0, text=["It is 4."]))
    assert (answer.text, answer.stop, answer.orders, answer.prompt) == (
        "It is 4.",
        "end",
        (),
        "Two plus two?",
    )


def test_likelihoods_of_tokens_are_not_those_of_choices(tmp_path: Path):
    [answer] = read(tmp_path, lighteval_row("Two?", ["4"], 0, text=["4"], logprobs=[-0.1, -0.2, -0.3]))
    assert (answer.text, answer.logprobs) == ("4", ())


def test_the_older_flat_format(tmp_path: Path):
    row = {
        "example": "Which is cold?",
        "full_prompt": "Answer these.\n\nWhich is cold?",
        "predictions": "[[-0.5, 0], [-1.5, 0]]",
        "choices": "['ice', 'fire']",
        "gold_index": "[0]",
        "metrics": {"acc": 1},
    }
    [answer] = read(tmp_path, row)
    assert (answer.logprobs, answer.orders, answer.target) == ((-0.5, -1.5), (("ice", "fire"),), "0")
    assert answer.prompt == "Answer these.\n\nWhich is cold?"


def test_an_older_generated_answer(tmp_path: Path):
    row = {"example": "Two?", "full_prompt": "Two?", "predictions": ["four"], "metrics": {"em": 0.0}}
    [answer] = read(tmp_path, row)
    assert (answer.text, answer.value, answer.logprobs) == ("four", 0.0, ())


LOST = "the log has one score for all repeats"


def repeated(metric: dict, *texts: str) -> dict:
    return {**lighteval_row("Two plus two?", ["4"], 0, text=list(texts)), "metric": metric}


def test_repeats_with_one_score_are_told_as_lost(tmp_path: Path):
    answers = read(tmp_path, repeated({"avg@3": 1 / 3}, "10", "11", "12"))
    assert [(each.text, each.loss) for each in answers] == [("10", ""), ("11", LOST), ("12", LOST)]
    assert answers[0].value == pytest.approx(1 / 3)
    asked = replace(SUM, prompt="Two plus two?")
    found = match([asked], answers)
    assert [(each.example, each.logged) for each in found.matches] == [(asked, answers[0])]
    assert [why for _, why in found.strays] == [LOST] * 2
    assert found.absent == []


def test_repeats_with_a_score_each_are_samples(tmp_path: Path):
    answers = read(tmp_path, repeated({"em": [0.0, 1.0, None]}, "5", "4", ""))
    assert [(each.text, each.sample, each.value, each.reason, each.loss) for each in answers] == [
        ("5", 0, 0.0, "", ""),
        ("4", 1, 1.0, "", ""),
        ("", 2, None, "not_a_number", ""),  # as Parquet keeps a hole
    ]
    found = match([replace(SUM, prompt="Two plus two?")], answers)
    assert [each.logged.sample for each in found.matches] == [0, 1, 2]


@pytest.mark.parametrize(
    ("score", "value"), [([1.0], 1.0), ([0.5, 1.0], 0.5), ([], None), ([1.0, 0.0, 0.0, 0.0], 1.0)]
)
def test_scores_that_are_not_one_for_each_repeat_are_no_ones_but_the_firsts(tmp_path: Path, score, value):
    answers = read(tmp_path, repeated({"em": score}, "4", "5", "6"))
    assert [(each.value, each.loss) for each in answers] == [(value, ""), (None, LOST), (None, LOST)]


@pytest.mark.parametrize("predictions", [["3", "4"], [["3", "4"]], "['3', '4']"])
def test_older_repeats_are_not_lost_silently(tmp_path: Path, predictions):
    row = {"example": "Two?", "full_prompt": "Two?", "predictions": predictions, "metrics": {"maj@2": 0.0}}
    answers = read(tmp_path, row)
    assert [(each.text, each.value, each.loss) for each in answers] == [("3", 0.0, ""), ("4", None, LOST)]


def test_one_answer_with_its_score_in_a_list_is_one(tmp_path: Path):
    [answer] = read(tmp_path, repeated({"em": [1.0]}, "4"))
    assert (answer.value, answer.sample, answer.loss) == (1.0, 0, "")


def test_no_text_at_all_is_an_empty_answer(tmp_path: Path):
    [answer] = read(tmp_path, repeated({"em": 0.0}))
    assert (answer.text, answer.value) == ("", 0.0)


def test_one_of_several_metrics_has_to_be_named(tmp_path: Path):
    row = lighteval_row("Which?", ["a", "b"], 0, logprobs=[-1.0, -2.0])
    row["metric"] = {"acc": 1.0, "acc_norm": 0.0}
    with pytest.raises(ValueError, match=r"has metrics acc, acc_norm; expected one. Name it with --metric"):
        read(tmp_path, row)
    assert read(tmp_path, row, metric="acc_norm")[0].value == 0.0
    with pytest.raises(ValueError, match="metric 'f1' is not among acc, acc_norm"):
        read(tmp_path, row, metric="f1")


def test_other_files_are_refused(tmp_path: Path):
    (tmp_path / "a.parquet").write_text("no")
    with pytest.raises(ValueError, match=r"a\.parquet is not Parquet"):
        read_lighteval([tmp_path / "a.parquet"])
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match=r"a\.parquet is not Parquet"):
        read_lighteval([tmp_path / "a.parquet"])
    with pytest.raises(ValueError, match=r"details_toy\.parquet has columns none; expected doc"):
        read(tmp_path)
    with pytest.raises(ValueError, match="has columns x; expected doc, model_response and metric"):
        read(tmp_path, {"x": 1})
    with pytest.raises(FileNotFoundError, match="expected Parquet"):
        read_lighteval([tmp_path / "none.parquet"])


WHOLE = lighteval_row("Which is cold?", ["ice", "fire"], 0, logprobs=[-0.5, -1.5])
OLDER = {"example": "Two?", "full_prompt": "Two?", "predictions": ["4"], "metrics": {"em": 0.0}}


def test_a_table_without_rows_is_refused(tmp_path: Path):
    path = tmp_path / "details_toy.parquet"
    pd.DataFrame([WHOLE]).head(0).to_parquet(path)
    with pytest.raises(ValueError, match=r"details_toy\.parquet holds no rows; expected one for each"):
        read_lighteval([path])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**WHOLE, "doc": None}, ": field 'doc' is None; expected a record with query and choices."),
        ({**WHOLE, "doc": {"query": 3}}, ", doc: field 'query' is 3; expected a text."),
        ({**WHOLE, "doc": {"choices": "ice"}}, ", doc: field 'choices' is 'ice'; expected a list."),
        (
            {**WHOLE, "model_response": {"text": "x"}},
            ", model_response: field 'text' is 'x'; expected a list of",
        ),
        ({**WHOLE, "metric": 1.0}, ": field 'metric' is 1.0; expected a record of scores by name."),
        (
            lighteval_row("Which?", ["ice", "fire"], 0, logprobs=["a", "b"]),
            ": field 'logprobs' holds 'a'; expected log-likelihoods.",
        ),
        (
            lighteval_row("Which?", ["a", "b"], 0, logprobs=[-1.0, -2.0], unconditioned_logprobs=[-1.0]),
            ": field 'unconditioned_logprobs' is [-1.0]; expected one for each of 2 choices.",
        ),
        ({**OLDER, "full_prompt": 3}, ": field 'full_prompt' is 3; expected a text."),
        ({**OLDER, "metrics": "em"}, ": field 'metrics' is 'em'; expected a record of scores by name."),
    ],
)
def test_an_odd_field_is_one_sentence_with_its_row(tmp_path: Path, row, words):
    with pytest.raises(ValueError, match=r"details_toy\.parquet row 1") as caught:
        read(tmp_path, row)
    assert str(caught.value).startswith(f"details_toy.parquet row 1{words}")


def test_the_metric_taken_is_named(tmp_path: Path):
    assert read(tmp_path, WHOLE)[0].metric == "acc"
    assert read(tmp_path, OLDER)[0].metric == "em"
