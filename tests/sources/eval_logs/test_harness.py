import math
from dataclasses import replace
from pathlib import Path

import pytest

from cg_pipeline.sources.eval_logs.harness import read_harness
from cg_pipeline.sources.eval_logs.matching import match
from tests.sources.eval_logs.logs import SUM, harness_choice, harness_generation, write_lines

GIVE = "Give a file samples_\u2026.jsonl that lm-evaluation-harness wrote with --log_samples."
CHOICE = harness_choice("Which is cold?", ["ice", "fire"], 0, [-0.5, -1.5])


def read(tmp_path: Path, *rows, **settings):
    return read_harness([write_lines(tmp_path / "samples_toy.jsonl", list(rows))], **settings)


def test_a_choice_with_its_likelihoods(tmp_path: Path):
    [answer] = read(tmp_path, CHOICE, scoring="likelihood")
    assert (answer.logprobs, answer.stop, answer.value, answer.target) == ((-0.5, -1.5), "choice", 1.0, "0")
    assert answer.prompt == "Question: Which is cold?\nAnswer:"
    assert answer.orders == ((" ice", " fire"), ("ice", "fire"))
    assert ("question", "Which is cold?") in answer.fields
    assert answer.place == "samples_toy.jsonl:1"


def test_the_metric_follows_the_scoring_policy_or_is_named(tmp_path: Path):
    assert read(tmp_path, CHOICE, scoring="likelihood")[0].value == 1.0
    assert read(tmp_path, CHOICE, scoring="likelihood")[0].metric == "acc"
    assert read(tmp_path, CHOICE, scoring="likelihood_per_byte")[0].value == 0.0
    assert read(tmp_path, CHOICE, metric="acc_norm", scoring="likelihood")[0].value == 0.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "the metric is not clear from acc, acc_norm"),
        ({"metric": "f1"}, "metric 'f1' is not among acc, acc_norm"),
    ],
)
def test_a_metric_is_never_guessed(tmp_path: Path, settings, words):
    with pytest.raises(ValueError, match="expected one of them") as caught:
        read(tmp_path, CHOICE, **settings)
    assert str(caught.value) == f"samples_toy.jsonl:1: {words}; expected one of them. Name it with --metric."


def test_a_generated_answer_with_what_the_filter_read(tmp_path: Path):
    [answer] = read(tmp_path, harness_generation("Two plus two?", "It is 6.", 1.0))
    assert (answer.text, answer.answer, answer.value, answer.stop) == ("It is 6.", "6", 1.0, "end")
    assert answer.logprobs == ()


def test_one_filter_is_read(tmp_path: Path):
    rows = [
        harness_generation("Two plus two?", "4", 0.0, name="strict"),
        harness_generation("Two plus two?", "4", 1.0, name="loose"),
    ]
    assert [answer.value for answer in read(tmp_path, *rows)] == [0.0]
    assert [answer.value for answer in read(tmp_path, *rows, filtered_by="loose")] == [1.0]


def test_the_filter_follows_the_scoring_policy_or_is_named(tmp_path: Path):
    rows = [
        harness_generation("Two plus two?", "4", 0.0, name="strict-match"),
        harness_generation("Two plus two?", "4", 1.0, name="flexible-extract"),
    ]
    assert [answer.value for answer in read(tmp_path, *rows, scoring="numeric")] == [1.0]
    assert [answer.value for answer in read(tmp_path, *rows, scoring="exact_match")] == [0.0]
    assert read(tmp_path, *rows, scoring="numeric")[0].filter == "flexible-extract"
    with pytest.raises(ValueError, match="filter") as caught:
        read(tmp_path, *rows, filtered_by="loose")
    assert str(caught.value) == (
        "samples_toy.jsonl: filter 'loose' is not among strict-match, flexible-extract; "
        "expected one of them. Name it with --filter."
    )


def test_repeats_are_told_as_lost_and_the_scored_one_is_taken(tmp_path: Path):
    row = harness_generation("Two plus two?", "4", 1.0)
    answers = read(tmp_path, {**row, "resps": [["5", "It is 4", "Or 4"]], "filtered_resps": ["4"]})
    assert [answer.loss for answer in answers] == ["", *["the log has one score for all repeats"] * 2]
    assert (answers[0].text, answers[0].answer, answers[0].value) == ("It is 4", "4", 1.0)
    found = match(
        [replace(SUM, prompt="Two plus two?")], [replace(each, prompt="Two plus two?") for each in answers]
    )
    assert [why for _, why in found.strays] == [answers[1].loss] * 2
    assert [each.logged for each in found.matches] == [replace(answers[0], prompt="Two plus two?")]
    [invalid, _] = read(tmp_path, {**row, "resps": [["5", "6"]], "filtered_resps": ["[invalid]"]})
    assert invalid.text == "5"


@pytest.mark.parametrize(
    ("repeats", "filtered", "taken"),
    [
        (["first 14", "second 4", "third 4"], "4", 1),
        (["It is 4", "5", "4"], "4", 2),  # an equal text before one that it is in
        (["It is 4", " 4\n"], "4", 1),
        (["4.5", "4,000", "0.4", "-4", "4 km", "4"], "4", 5),
        (["40", "so 4."], "4", 1),
        (["40", "so 4km"], "4", 1),
        (["4", "-4!"], "-4", 1),
        (["none", "on it"], "on", 1),
        (["(AB)", "(A)"], "A", 1),
        (["答案是三", "答案是四"], "四", 1),
        (["14", "24"], "4", 0),  # in none
        (["a", "b"], " ", 0),
    ],
)
def test_the_repeat_that_the_filter_took_is_told_by_whole_words(
    tmp_path: Path, repeats: list[str], filtered: str, taken: int
):
    row = harness_generation("Two plus two?", "4", 1.0)
    [answer, *_] = read(tmp_path, {**row, "resps": [repeats], "filtered_resps": [filtered]})
    assert answer.text == repeats[taken]


def test_lines_of_older_versions(tmp_path: Path):
    old = {name: value for name, value in CHOICE.items() if name not in ("metrics", "filter")}
    old["arguments"] = [["Which is cold?", " ice"], ["Which is cold?", " fire"]]
    old["resps"] = [[[-0.5, False]], [[-1.5, False]]]
    [answer] = read(tmp_path, old, scoring="likelihood")
    assert (answer.logprobs, answer.value) == ((-0.5, -1.5), 1.0)


def test_mutual_information_doubles_the_requests(tmp_path: Path):
    row = harness_choice("Which is cold?", ["ice", "fire"], 0, [-0.5, -1.5])
    row["arguments"] |= {
        f"gen_args_{2 + i}": {"arg_0": "", "arg_1": f" {text}"} for i, text in enumerate(("ice", "fire"))
    }
    row["resps"] += [[["-3.0", "False"]], [["-4.0", "False"]]]
    [answer] = read(tmp_path, row, metric="acc")
    assert (answer.logprobs, answer.unconditional) == ((-0.5, -1.5), (-3.0, -4.0))


@pytest.mark.parametrize(
    ("score", "value", "reason"),
    [
        (True, 1.0, ""),
        ("0.5", 0.5, ""),
        (math.nan, None, "not_a_number"),
        (None, None, "no_score_logged"),
        (37.2, None, "score_out_of_range"),
        ([1, 0], None, "score_not_a_number"),
    ],
)
def test_scores_are_kept_as_given_or_missing_with_a_reason(tmp_path: Path, score, value, reason):
    [answer] = read(tmp_path, harness_generation("Two plus two?", "4", score))
    assert (answer.value, answer.reason) == (value, reason)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[1]\n", "samples.jsonl:1 is [1]; expected a JSON object per line."),
        (
            b'\n{"doc": {}',
            "samples.jsonl:2 is b'{\"doc\": {}', which is not JSON; expected one object per line. "
            "Is the file whole?",
        ),
        (
            b'{"results": {}}\n',
            f"samples.jsonl:1: field 'doc' is not there; expected the document, an object. {GIVE}",
        ),
        (b"\n", f"samples.jsonl holds no samples; expected a line for each document. {GIVE}"),
    ],
)
def test_what_is_no_log_is_refused_with_its_line(tmp_path: Path, content, words):
    path = tmp_path / "samples.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"samples\.jsonl") as caught:
        read_harness([path])
    assert str(caught.value) == words


def test_likelihoods_that_are_none_are_refused(tmp_path: Path):
    row = harness_choice(
        "Which is cold?", ["ice", "fire"], 0, [-0.5, -1.5], resps=[[["a", "b"]], [["c", "d"]]]
    )
    with pytest.raises(ValueError, match="expected log-likelihoods"):
        read(tmp_path, row, metric="acc")


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="is not a file; expected JSON lines"):
        read_harness([tmp_path / "no.jsonl"])


ARGUMENTS = "the arguments of each request, none of them empty"
RESPS = "the responses to each request, a list of lists that are not empty"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"arguments": None}, f"field 'arguments' is None; expected {ARGUMENTS}"),
        ({"arguments": 3}, f"field 'arguments' is 3; expected {ARGUMENTS}"),
        ({"arguments": [[], ["p", " b"]]}, f"field 'arguments.0' is []; expected {ARGUMENTS}"),
        ({"arguments": {"gen_args_0": {}}}, f"field 'arguments.0' is []; expected {ARGUMENTS}"),
        ({"doc": "Which?"}, "field 'doc' is 'Which?'; expected the document, an object"),
        ({"resps": "one"}, f"field 'resps' is 'one'; expected {RESPS}"),
        ({"resps": []}, f"field 'resps' is []; expected {RESPS}"),
        ({"resps": [[], [["-1", "False"]]]}, f"field 'resps.0' is []; expected {RESPS}"),
        (
            {"resps": [[["-1", "False"]]]},
            "field 'resps' has 1 responses to 2 requests in 'arguments'; expected one to each",
        ),
        ({"resps": [[["-1", "False"]], [[]]]}, "field 'resps' holds []; expected log-likelihoods"),
        ({"resps": [[{"a": 1}], [{"a": 1}]]}, "field 'resps' holds {'a': 1}; expected a text"),
        ({"metrics": "acc"}, "field 'metrics' is 'acc'; expected the names of the scores"),
        ({"filter": ["none"]}, "field 'filter' is ['none']; expected the name of a filter"),
    ],
)
def test_an_odd_field_is_one_sentence_with_its_line(tmp_path: Path, fields, words):
    with pytest.raises(ValueError, match=r"samples_toy\.jsonl:2: ") as caught:
        read(tmp_path, CHOICE, {**CHOICE, **fields}, scoring="likelihood")
    assert str(caught.value).startswith(f"samples_toy.jsonl:2: {words}.")


def test_an_answer_that_is_none_is_not_the_word(tmp_path: Path):
    row = {**harness_generation("Two plus two?", "", 0.0), "resps": [[None]]}
    del row["filtered_resps"]
    [answer] = read(tmp_path, row)
    assert (answer.text, answer.answer) == ("", "")


def test_files_of_one_name_are_told_apart(tmp_path: Path):
    paths = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        paths.append(write_lines(tmp_path / folder / "samples.jsonl", [CHOICE]))
    answers = read_harness(paths, metric="acc")
    assert [answer.place for answer in answers] == ["one/samples.jsonl:1", "two/samples.jsonl:1"]
