from pathlib import Path

import pytest

from cg_pipeline.sources.eval_logs.lighteval import read_lighteval
from tests.sources.eval_logs.logs import lighteval_row, write_parquet


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
    with pytest.raises(ValueError, match="has columns x; expected doc, model_response and metric"):
        read(tmp_path, {"x": 1})
    with pytest.raises(FileNotFoundError, match="expected Parquet"):
        read_lighteval([tmp_path / "none.parquet"])
