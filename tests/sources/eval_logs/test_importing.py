import math
from dataclasses import replace
from pathlib import Path

import pytest

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.sources.eval_logs.importing import import_results
from tests.sources.eval_logs.logs import (
    BARKS,
    COLD,
    PENS,
    SUM,
    harness_choice,
    harness_generation,
    lighteval_row,
    write_lines,
    write_parquet,
)

CHOICES, OPEN = [BARKS, COLD], [PENS, SUM]


def harness(tmp_path: Path, examples, rows, **settings):
    path = write_lines(tmp_path / "samples_toy.jsonl", rows)
    settings = {"benchmark": BENCHMARKS["facts"], "model": "m", **settings}
    return import_results("lm-eval", [path], examples=examples, **settings)


def test_a_cell_of_choices(tmp_path: Path):
    rows = [
        harness_choice("Which of these is cold?", ["fire", "ice", "steam"], 1, [-1.0, -2.0, -3.0]),
        harness_choice("Which animal barks at night?", ["cat", "dog"], 1, [-2.0, -1.0], shots="Q?\nA\n\n"),
    ]
    found = harness(tmp_path, CHOICES, rows, metric="acc")
    barks, cold = found.completions
    assert [barks.example_id, cold.example_id] == [BARKS.example_id, COLD.example_id]
    assert (barks.text, barks.choice_logprobs, barks.stop) == ("dog", (-2.0, -1.0), "choice")
    assert (cold.text, cold.choice_logprobs) == ("fire", (-2.0, -1.0, -3.0))  # in the example's own order
    assert [(score.value, score.answer) for score in found.scores] == [(1.0, "dog"), (0.0, "fire")]
    assert barks.rendered_prompt.startswith("Q?\nA\n\nQuestion: Which animal barks")
    assert found.share == 1.0


def test_a_cell_of_generated_answers(tmp_path: Path):
    rows = [
        harness_generation(PENS.prompt, "Three cost 6.", 1.0),
        harness_generation(SUM.prompt, "5", None),
    ]
    found = harness(tmp_path, OPEN, rows)
    assert [(score.value, score.reason) for score in found.scores] == [(1.0, ""), (None, "no_score_logged")]
    assert [completion.text for completion in found.completions] == ["Three cost 6.", "5"]


def test_what_the_log_lacks_is_unscored_and_what_it_has_besides_is_told(tmp_path: Path):
    rows = [
        harness_generation(SUM.prompt, "4", 1.0),
        harness_generation(SUM.prompt, "4", 1.0),
        harness_generation("How far is the moon from here?", "far", 0.0),
    ]
    found = harness(tmp_path, OPEN, rows, drawn=" of a toy")
    assert [(score.example_id, score.reason) for score in found.scores] == [
        (PENS.example_id, "not_in_the_log"),
        (SUM.example_id, ""),
    ]
    assert found.completions[0].stop == "failed"
    assert found.share == 0.5
    assert found.report() == [
        "Matched with 2 examples of a toy",
        "Score taken: exact_match, after the filter strict",
        "3 logged answers: 1 matched, 2 not",
        "  1: repeats another",
        "  1: no example asks this",
        f"    samples_toy.jsonl:2 'Q: {SUM.prompt}\\nA:': repeats samples_toy.jsonl:1",
        "    samples_toy.jsonl:3 'Q: How far is the moon from here?\\nA:': no example asks this",
        "1 examples of the benchmark are not in the log (50.0% are)",
        f"    {PENS.example_id} '{PENS.prompt}'",
        "unscored: not_in_the_log 1",
    ]


def test_lighteval(tmp_path: Path):
    rows = [lighteval_row(BARKS.prompt, [" cat", " dog"], 1, logprobs=[-2.0, -1.0])]
    path = write_parquet(tmp_path / "details.parquet", rows)
    settings = {"benchmark": BENCHMARKS["facts"], "model": "m"}
    found = import_results("lighteval", [path], examples=CHOICES, **settings)
    assert (found.scores[0].value, found.completions[0].text) == (1.0, "dog")


def test_the_source_is_recorded(tmp_path: Path):
    rows = [harness_generation(SUM.prompt, "4", 1.0)]
    first = harness(tmp_path, OPEN, rows).source
    second = harness(tmp_path, OPEN, [*rows, harness_generation(PENS.prompt, "6", 1.0)]).source
    assert (first["format"], first["metric"]) == ("lm-eval", "exact_match")
    assert len(first["file samples_toy.jsonl"]) == 64
    assert first != second


def test_a_log_of_other_examples_matches_nothing(tmp_path: Path):
    found = harness(tmp_path, OPEN, [harness_generation("How far is the moon from here?", "far", 0.0)])
    assert found.share == 0.0
    assert {score.reason for score in found.scores} == {"not_in_the_log"}


def test_the_score_that_the_policy_stands_for_is_named(tmp_path: Path):
    rows = [harness_choice(BARKS.prompt, ["cat", "dog"], 1, [-2.0, -1.0])]
    found = harness(tmp_path, CHOICES, rows, benchmark=replace(BENCHMARKS["facts"], scoring="likelihood"))
    assert (found.source["metric"], found.source["filter"]) == ("acc", "none")


def test_two_files_of_one_name_are_both_kept_in_the_source(tmp_path: Path):
    paths = []
    for folder, example in (("one", PENS), ("two", SUM)):
        (tmp_path / folder).mkdir()
        rows = [harness_generation(example.prompt, "6", 1.0)]
        paths.append(write_lines(tmp_path / folder / "samples.jsonl", rows))
    settings = {"benchmark": BENCHMARKS["facts"], "model": "m"}
    source = import_results("lm-eval", paths, examples=OPEN, **settings).source
    hashes = {name: value for name, value in source.items() if name.startswith("file ")}
    assert set(hashes) == {"file one/samples.jsonl", "file two/samples.jsonl"}
    assert len(set(hashes.values())) == 2


def test_a_likelihood_that_is_none_is_no_ones_best(tmp_path: Path):
    rows = [harness_choice(BARKS.prompt, ["cat", "dog"], 1, [math.nan, -1.0])]
    found = harness(tmp_path, CHOICES, rows, metric="acc")
    assert found.completions[0].text == "dog"


@pytest.mark.parametrize("text", ["\u202e}}", "\ud800", "\0"])
def test_hostile_answers_come_through(tmp_path: Path, text):
    found = harness(tmp_path, OPEN, [harness_generation(SUM.prompt, text, 0.0)])
    assert found.completions[1].stop == "end"
    assert found.completions[1].text.encode("utf-8")
    assert "\0" not in found.completions[1].text
