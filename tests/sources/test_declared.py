"""Benchmarks without code: a table and a few lines, read or refused with file, key, value and remedy."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.records import Completion, Example
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.declared import read_declarations
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.specs import Sampling

HEAD = """
title = "Capitals"
scope = "Which city is a capital."
licence = "CC0-1.0"
file = "capitals.csv"
"""
CHOICE = (
    HEAD
    + """
task = "multiple_choice"
[fields]
question = "q"
choices = ["a", "b"]
answer = "right"
answer_as = "letter"
category = "part"
"""
)


def declare(data_dir: Path, toml: str | bytes, name: str = "capitals", **files: bytes) -> Path:
    folder = data_dir / "benchmarks"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.toml").write_bytes(toml if isinstance(toml, bytes) else toml.encode())
    for file, payload in files.items():
        (folder / file.replace("_", ".")).write_bytes(payload)
    return data_dir


def read(data_dir: Path):
    return read_declarations(data_dir, {"taken"}, POLICIES)


def examples(data_dir: Path, toml: str, **files: bytes) -> list[Example]:
    return read_examples(read(declare(data_dir, toml, **files))["capitals"], data_dir)


def complaint(data_dir: Path, toml: str | bytes, name: str = "capitals") -> list[str]:
    """What is wrong with a declaration, less its path."""
    with pytest.raises(ValueError, match=r"expected|Unknown") as error:
        read(declare(data_dir, toml, name))
    start = f"{data_dir / 'benchmarks' / name}.toml: "
    lines = str(error.value).splitlines()
    assert all(line.startswith(start) for line in lines)
    return [line.removeprefix(start) for line in lines]


CSV = b"q,a,b,right,part\nOf France?,Paris,Lyon,A,Europe\nOf Japan?,Osaka,Tokyo,B,Asia\n"


def test_a_csv_file_becomes_a_benchmark(tmp_path):
    first, second = examples(tmp_path, CHOICE, capitals_csv=CSV)
    assert first.prompt == "Question: Of France?\nAnswer:"
    assert (first.choices, first.targets, first.category) == (("Paris", "Lyon"), ("Paris",), "Europe")
    assert second.targets == ("Tokyo",)
    benchmark = read(tmp_path)["capitals"]
    assert (benchmark.title, benchmark.response, benchmark.scoring) == (
        "Capitals",
        "choice",
        "likelihood_per_byte",
    )


def row(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


@pytest.mark.parametrize(
    ("answer_as", "answer", "target"),
    [("index", 1, "Lyon"), ("index_from_1", 1, "Paris"), ("letter", "b", "Lyon"), ("text", "Lyon", "Lyon")],
)
def test_answers_are_given_as_declared(tmp_path, answer_as, answer, target):
    toml = CHOICE.replace(".csv", ".jsonl").replace('["a", "b"]', '"all"').replace("letter", answer_as)
    payload = row(q="Of France?", all=["Paris", "Lyon"], right=answer, part="Europe", more=[1])
    [found] = examples(tmp_path, toml, capitals_jsonl=payload)
    assert found.targets == (target,)


def test_lettered_choices_with_context_prefix_and_cluster(tmp_path):
    toml = CHOICE.replace("multiple_choice", "lettered").replace(
        "[fields]", 'prefix = "Choose."\n[fields]\ncontext = "c"\ncluster = "k"'
    )
    payload = b"q,a,b,right,part,c,k\nCapital?,Paris,Lyon,A,Europe,On France.,fr\n"
    [found] = examples(tmp_path, toml, capitals_csv=payload)
    assert found.prompt == "Choose.\nOn France.\nCapital?\nA. Paris\nB. Lyon\nAnswer:"
    assert (found.continuations, found.cluster) == (("A", "B"), "fr")


@pytest.mark.parametrize("answer", ["yes", "TRUE", "1", True, 1])
def test_yes_and_no(tmp_path, answer):
    toml = HEAD.replace(".csv", ".jsonl") + 'task = "yes_no"\n[fields]\nquestion = "q"\nanswer = "a"\n'
    [found] = examples(tmp_path, toml, capitals_jsonl=row(q="Is Paris one?", a=answer))
    assert (found.choices, found.targets, found.category) == (("yes", "no"), ("yes",), "all")


@pytest.mark.parametrize(("answer", "target"), [("1,250", "1250"), (12, "12"), (-0.5, "-0.5")])
def test_numbers(tmp_path, answer, target):
    toml = (
        HEAD.replace(".csv", ".jsonl")
        + 'task = "numeric"\nmax_new_tokens = 9\nstop = ["\\n"]\n[fields]\nquestion = "q"\nanswer = "a"\n'
    )
    [found] = examples(tmp_path, toml, capitals_jsonl=row(q="How many?", a=answer))
    assert found.targets == (target,)
    benchmark = read(tmp_path)["capitals"]
    assert (benchmark.response, benchmark.max_new_tokens, benchmark.stop) == ("generation", 9, ("\n",))


def test_open_answers_of_a_parquet_file(tmp_path):
    toml = (
        HEAD.replace(".csv", ".parquet")
        + 'task = "open"\nscoring = "exact_match"\n[fields]\nquestion = "q"\nanswer = "a"\n'
    )
    buffer = io.BytesIO()
    pd.DataFrame({"q": ["Capital of France?"], "a": [["Paris", "City of Paris"]]}).to_parquet(buffer)
    [found] = examples(tmp_path, toml, capitals_parquet=buffer.getvalue())
    assert found.targets == ("Paris", "City of Paris")


def test_choices_asked_in_words(tmp_path):
    toml = CHOICE.replace("[fields]", 'scoring = "option"\nprefix = "Choose."\n[fields]')
    [first, _] = examples(tmp_path, toml, capitals_csv=CSV)
    benchmark = read(tmp_path)["capitals"]
    assert (benchmark.response, benchmark.scoring, benchmark.max_new_tokens) == ("generation", "option", 1024)
    assert first.prompt == (
        "Choose.\nOf France?\nA. Paris\nB. Lyon\nGive the letter of the right choice.\nAnswer:"
    )


def test_how_answers_are_drawn_and_begun(tmp_path):
    keys = 'opening = "It is"\nsampling = { n = 3, temperature = 0.8, top_p = 0.9 }\n'
    toml = HEAD + f'task = "numeric"\n{keys}[fields]\nquestion = "q"\nanswer = "a"\n'
    benchmark = read(declare(tmp_path, toml))["capitals"]
    assert benchmark.opening == "It is"
    assert benchmark.sampling == Sampling(n=3, temperature=0.8, top_p=0.9)
    assert fingerprint(benchmark)


def test_a_question_may_be_put_as_it_stands(tmp_path):
    keys = 'prompt = "plain"\nprefix = "Go on."\nscoring = "exact_match"\n'
    toml = HEAD + f'task = "open"\n{keys}[fields]\nquestion = "q"\nanswer = "a"\ncontext = "c"\n'
    [found] = examples(tmp_path, toml, capitals_csv=b"q,a,c\nIts capital is,Paris,France is old.\n")
    assert found.prompt == "Go on.\nFrance is old.\nIts capital is"
    [found, _] = examples(
        tmp_path, CHOICE.replace("[fields]", 'prompt = "plain"\n[fields]'), capitals_csv=CSV
    )
    assert (found.prompt, found.choices) == ("Of France?", ("Paris", "Lyon"))


@pytest.mark.parametrize("keys", ['task = "lettered"', 'task = "multiple_choice"\nscoring = "option"'])
def test_where_letters_are_shown_the_question_never_stands_alone(tmp_path, keys):
    toml = CHOICE.replace('task = "multiple_choice"', f'{keys}\nprompt = "plain"')
    assert complaint(tmp_path, toml) == [
        "prompt is 'plain'; expected it where no letters are shown. Remove it."
    ]


MISNAMED = [
    ('["a", "b"]', '["a", "bb"]', "bb", "b"),
    ('question = "q"', 'question = "qq"', "qq", "q"),
    ('answer = "right"', 'answer = "rigth"', "rigth", "right"),
    ('category = "part"', 'category = "parts"', "parts", "part"),
]


@pytest.mark.parametrize(("old", "new", "name", "meant"), MISNAMED)
def test_a_field_that_no_row_has_is_named_with_those_there_are(tmp_path, old, new, name, meant):
    with pytest.raises(ValueError, match="names fields that no row has") as error:
        examples(tmp_path, CHOICE.replace(old, new), capitals_csv=CSV)
    assert str(error.value) == (
        "Benchmark 'capitals' names fields that no row has:\n"
        f"{tmp_path}/benchmarks/capitals.csv: Unknown field {name!r}. Did you mean {meant!r}? "
        "Known: q, a, b, right, part. Correct the declaration, or add the field."
    )


def test_a_choice_that_few_rows_have_may_be_absent_or_empty(tmp_path):
    toml = CHOICE.replace('["a", "b"]', '["a", "b", "c"]')
    table = b"q,a,b,c,right,part\nOf France?,Paris,Lyon,,A,Europe\nOf Spain?,Madrid,Vigo,Leon,A,Europe\n"
    assert [len(each.choices) for each in examples(tmp_path, toml, capitals_csv=table)] == [2, 3]
    rows = row(q="One?", a="x", b="y", c="z", right="A", part="p") + row(
        q="Two?", a="x", b="y", right="A", part="p"
    )
    found = examples(tmp_path, toml.replace(".csv", ".jsonl"), capitals_jsonl=rows)
    assert [len(each.choices) for each in found] == [3, 2]


@pytest.mark.parametrize(
    ("answer_as", "answer"), [("letter", "B"), ("index", 1), ("index_from_1", 2), ("text", "3")]
)
def test_an_empty_choice_before_another_is_refused(tmp_path, answer_as, answer):
    """Else the letters and numbers after it would name the next choice."""
    toml = CHOICE.replace('["a", "b"]', '["a", "b", "c"]').replace('"letter"', f'"{answer_as}"')
    sentence = "capitals.csv:2: field 'b' is empty, but 'c' after it is not; expected no empty choice"
    with pytest.raises(ValueError, match="faulty line") as error:
        examples(tmp_path, toml, capitals_csv=f"q,a,b,c,right,part\nx,1,,3,{answer},p\n".encode())
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("version = -1", "version is -1; expected 1 to 1,000,000. Correct it."),
        ("version = 10_000_000_000", "version is 10000000000; expected 1 to 1,000,000. Correct it."),
        ("version = true", "version is True; expected a whole number. Correct it."),
        ("n_shots = 1_000_000", "n_shots is 1000000; expected 0 to 1,000. Correct it."),
        ("max_new_tokens = 1_000_000_000_000", "max_new_tokens is 1000000000000; expected 1 to 100,000."),
        ("max_new_tokens = 0", "max_new_tokens is 0; expected 1 to 100,000. Correct it."),
        (
            'opening = "It\\u0000 is"',
            "opening is 'It\\x00 is' with a NUL character; expected text. Remove it.",
        ),
        ('stop = ["\\u0000"]', "stop is '\\x00' with a NUL character; expected text. Remove it."),
        ('opening = " \\u200b"', "opening is ' \\u200b'; expected text. Correct it."),
        ('prompt = "bare"', "prompt is 'bare'; expected one of question_answer, plain. Correct it."),
        (
            'shots_file = "a\\u0000.csv"',
            "shots_file is 'a\\x00.csv'; expected the name of a file beside this one",
        ),
        (f'shots_file = "{"a" * 300}.csv"', "shots_file is 'aaaa"),
    ],
)
def test_numbers_and_texts_out_of_bounds(tmp_path, keys, sentence):
    toml = HEAD + f'task = "numeric"\n{keys}\n[fields]\nquestion = "q"\nanswer = "a"\n'
    assert complaint(tmp_path, toml)[0].startswith(sentence)


@pytest.mark.parametrize("blank", ['""', '" "', '"\\u200b"', '"\\t"'])
@pytest.mark.parametrize("name", ["title", "scope", "licence", "file", "question", "answer", "category"])
def test_no_name_is_blank(tmp_path, name, blank):
    lines = (f"{name} = {blank}" if line.startswith(f"{name} =") else line for line in CHOICE.splitlines())
    [found, *_] = complaint(tmp_path, "\n".join(lines))
    assert "expected text" in found or "expected the name of a field" in found, found


def test_a_declaration_that_is_a_pipe_or_a_folder_is_told_at_once(tmp_path):
    declare(tmp_path, CHOICE)
    os.mkfifo(tmp_path / "benchmarks" / "pipe.toml")
    (tmp_path / "benchmarks" / "ring.toml").symlink_to("ring.toml")
    (tmp_path / "benchmarks" / "folder.toml").mkdir()
    with pytest.raises(ValueError, match="expected a TOML file") as error:
        read(tmp_path)
    folder, pipe, ring = str(error.value).splitlines()
    assert folder.endswith("folder.toml is not a file but a folder; expected a TOML file. Correct it.")
    assert "pipe.toml is not a file but a pipe" in pipe
    assert "ring.toml is not a file (Too many levels" in ring


def test_a_neutral_prompt(tmp_path):
    keys = 'scoring = "likelihood_unconditional"\nunconditional = "Answer:"\n'
    benchmark = read(declare(tmp_path, CHOICE.replace("[fields]", f"{keys}[fields]")))["capitals"]
    assert (benchmark.response, benchmark.unconditional) == ("choice", "Answer:")


def test_details_for_a_policy_that_needs_them_and_no_answer(tmp_path):
    toml = HEAD.replace(".csv", ".jsonl") + (
        'task = "open"\nscoring = "judge_pair"\n[fields]\nquestion = "q"\ndetails = ["baseline"]\n'
    )
    [found] = examples(tmp_path, toml, capitals_jsonl=row(q="Tell me.", baseline="No.", more=1))
    assert (found.targets, json.loads(found.details)) == ((), {"baseline": "No."})
    for lacking in (row(q="Tell more."), row(q="Tell more.", baseline=None)):
        with pytest.raises(
            ValueError, match="2: field 'baseline' is missing or empty; expected a value, for"
        ):
            examples(tmp_path, toml, capitals_jsonl=row(q="Tell me.", baseline="No.") + lacking)


def test_what_is_empty_in_a_row_is_not_given(tmp_path):
    toml = CHOICE.replace('"part"', '"part"\ncontext = "ctx"\ncluster = "twin"\ndetails = ["note"]')
    table = b"q,a,b,right,part,ctx,twin,note\nOne?,x,y,A,p,Read.,k,n\nTwo?,x,y,B,,,,\n"
    full, bare = examples(tmp_path, toml, capitals_csv=table)
    assert full.prompt == "Read.\nQuestion: One?\nAnswer:"
    assert (full.category, full.cluster, full.details) == ("p", "k", '{"note": "n"}')
    assert bare.prompt == "Question: Two?\nAnswer:"
    assert (bare.category, bare.cluster, bare.details) == ("all", bare.example_id, "")
    rows = row(q="One?", a="x", b="y", right="A", part="p", ctx="Read.", twin="k", note="n")
    rows += row(q="Two?", a="x", b="y", right="B")
    assert examples(tmp_path, toml.replace(".csv", ".jsonl"), capitals_jsonl=rows) == [full, bare]


@pytest.mark.parametrize(
    ("keys", "fields", "sentence"),
    [
        (
            'scoring = "option"',
            "",
            "scoring is 'option' for task 'open'; expected one for generated answers.",
        ),
        ('scoring = "bbq"', "", "scoring is 'bbq' for task 'open'; expected one for generated answers."),
        (
            'scoring = "likelihood"',
            "",
            "scoring is 'likelihood' for task 'open'; expected one for generated answers. Correct it.",
        ),
        (
            'scoring = "judge_pair"',
            "",
            "fields.details is missing; expected 'baseline' among them, which scoring 'judge_pair' needs. "
            "Add it, or correct scoring.",
        ),
        (
            'scoring = "code_tests"',
            'details = ["test"]',
            "fields.details is ['test']; expected 'entry_point' among them, which scoring 'code_tests' ne",
        ),
        (
            'scoring = "instructions"',
            "",
            "fields.details is missing; expected 'instruction_id_list' and 'kwargs' among them, which",
        ),
        (
            'scoring = "numeric"\nunconditional = "A:"',
            "",
            "unconditional is 'A:' for task 'open'; expected it for likelihoods of choices only. Remove it",
        ),
        ('scoring = "numeric"\nopening = 3', "", "opening is 3; expected text. Correct it."),
        ('scoring = "numeric"\nsampling = 3', "", "sampling is 3; expected a table. Correct it."),
        *(
            (f'scoring = "numeric"\nsampling = {{ {faulty} }}', "", "sampling is {")
            for faulty in (
                "n = 3",
                "n = 0, temperature = 1",
                "n = 2, temperature = 0",
                "n = 2, temperature = inf",
                "n = 1_000_000_000, temperature = 1",
                "n = 2, temperature = 1, seed = -1",
                "n = true, temperature = 1",
                "n = 2, temperature = 1, top_p = 1.5",
                "n = 2, temperature = 1, top_k = 5",
            )
        ),
        ('scoring = "numeric"', 'details = "test"', "fields.details is 'test'; expected a list of names"),
    ],
)
def test_what_could_never_be_scored_is_refused(tmp_path, keys, fields, sentence):
    toml = HEAD + f'task = "open"\n{keys}\n[fields]\nquestion = "q"\nanswer = "a"\n{fields}\n'
    [found] = complaint(tmp_path, toml)
    assert found.startswith(sentence), found


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (
            'scoring = "likelihood_unconditional"',
            "unconditional is missing; expected the neutral prompt that",
        ),
        ('opening = "It is"', "opening is 'It is' for task 'multiple_choice'; expected it for a generated"),
        ("sampling = { n = 2, temperature = 1 }", "sampling is {'n': 2, 'temperature': 1} for task 'mult"),
        (
            'scoring = "exact_match"',
            "scoring is 'exact_match' for task 'multiple_choice'; expected one for ch",
        ),
    ],
)
def test_what_choices_can_never_use_is_refused(tmp_path, keys, sentence):
    [found] = complaint(tmp_path, CHOICE.replace("[fields]", f"{keys}\n[fields]"))
    assert found.startswith(sentence), found


@pytest.mark.parametrize("task", ["multiple_choice", "lettered", "yes_no"])
def test_nothing_declared_gives_pairs_a_shared_end(tmp_path, task):
    toml = CHOICE.replace('"multiple_choice"', f'"{task}"').replace(
        "[fields]", 'scoring = "paired_sentences"\n[fields]'
    )
    if task == "yes_no":
        toml = toml.replace('choices = ["a", "b"]\n', "").replace('answer_as = "letter"\n', "")
    [found] = complaint(tmp_path, toml)
    assert found.startswith(f"scoring is 'paired_sentences' for task '{task}'; expected one for choices as")


YES_NO = HEAD.replace(".csv", ".jsonl") + (
    'task = "yes_no"\nscoring = "{scoring}"\n[fields]\nquestion = "q"\nanswer = "a"\n'
)


@pytest.mark.parametrize("scoring", ["yes_no", "exact_match"])
def test_yes_and_no_may_be_written(tmp_path, scoring):
    toml = YES_NO.format(scoring=scoring)
    [found] = examples(tmp_path, toml, capitals_jsonl=row(q="Is Paris one?", a=True))
    benchmark = read(tmp_path)["capitals"]
    assert (benchmark.response, benchmark.max_new_tokens) == ("generation", 32)
    assert (found.prompt, found.targets) == ("Question: Is Paris one?\nAnswer:", ("yes",))
    said = Completion(
        model="m", benchmark="capitals", example_id=found.example_id, text=" Yes",
        stop="end", n_prompt_tokens=1, n_completion_tokens=1,
    )  # fmt: skip
    assert POLICIES[scoring].score(found, said).value == 1.0


@pytest.mark.parametrize("scoring", ["numeric", "declines", "judge_answer", "code_tests"])
def test_what_cannot_tell_yes_from_no_is_refused(tmp_path, scoring):
    found = complaint(tmp_path, YES_NO.format(scoring=scoring))
    assert found[0] == f"scoring is {scoring!r} for task 'yes_no'; expected one for yes and no. Correct it."


@pytest.mark.parametrize(
    ("scoring", "answer", "sentence"),
    [
        ("numeric", "twelve", "field 'a' is 'twelve'; expected a number such as '12' or '3.5', for scoring"),
        ("numeric", ["12", "a dozen"], "field 'a' is 'a dozen'; expected a number such as '12' or '3.5'"),
        ("yes_no", "twelve", "field 'a' is 'twelve'; expected yes or no, for scoring 'yes_no'. Correct it."),
        ("declines", "refuse", "field 'a' is 'refuse'; expected 'decline' or 'answer', for scoring 'declin"),
    ],
)
def test_an_answer_that_nothing_could_equal_is_named_with_line_and_field(tmp_path, scoring, answer, sentence):
    toml = HEAD.replace(".csv", ".jsonl") + (
        f'task = "open"\nscoring = "{scoring}"\n[fields]\nquestion = "q"\nanswer = "a"\n'
    )
    with pytest.raises(ValueError, match="faulty line") as error:
        examples(tmp_path, toml, capitals_jsonl=row(q="How many?", a=answer))
    assert f"capitals.jsonl:1: {sentence}" in str(error.value)


CHECK = "def check(candidate):\n    assert candidate(1) == 2\n"
WORDS = "length_constraints:number_words"


@pytest.mark.parametrize(
    ("scoring", "details", "sentence"),
    [
        ("judge_pair", {"baseline": " "}, "baseline is ' '; expected an answer. Add it."),
        ("code_tests", {"entry_point": "f", "test": CHECK}, "stub, or else the prompt, is 'Question: How?"),
        (
            "code_tests",
            {"entry_point": "f", "test": CHECK, "stub": "def g():\n"},
            "stub, or else the prompt,",
        ),
        ("code_tests", {"entry_point": "f", "test": "assert f", "stub": "def f():\n"}, "test is 'assert f'"),
        ("code_tests", {"entry_point": "f(", "test": CHECK, "stub": "def f():\n"}, "entry_point is 'f('"),
        (
            "instructions",
            {"instruction_id_list": ["no:such"], "kwargs": [{}]},
            "instruction is 'no:such'; ex",
        ),
        (
            "instructions",
            {"instruction_id_list": [WORDS], "kwargs": [{"num": 3}]},
            f"arguments of '{WORDS}' a",
        ),
        ("instructions", {"instruction_id_list": [WORDS], "kwargs": []}, "details of example"),
        ("instructions", {"instruction_id_list": WORDS, "kwargs": {}}, "details of example"),
        ("instructions", {"instruction_id_list": [WORDS], "kwargs": ["x"]}, "details of example"),
        (
            "instructions",
            {"instruction_id_list": [WORDS], "kwargs": [{"num_words": 3, "relation": "at most"}]},
            "relation is 'at most'; expected 'at least' or 'less than'. Correct it.",
        ),
    ],
)
def test_details_that_nothing_could_be_scored_with_are_named_with_their_line(
    tmp_path, scoring, details, sentence
):
    toml = HEAD.replace(".csv", ".jsonl") + (
        f'task = "open"\nscoring = "{scoring}"\n[fields]\nquestion = "q"\ndetails = {list(details)}\n'
    )
    with pytest.raises(ValueError, match="faulty line") as error:
        examples(tmp_path, toml, capitals_jsonl=row(q="How?", **details))
    assert f"capitals.jsonl:1: {sentence}" in str(error.value)


def test_sound_details_are_taken(tmp_path):
    toml = HEAD.replace(".csv", ".jsonl") + (
        'task = "open"\nscoring = "code_tests"\n[fields]\nquestion = "q"\n'
        'details = ["entry_point", "test", "stub"]\n'
    )
    stub = 'import math\n\ndef f(x):\n  """Twice x."""\n'
    payload = row(q="Twice?", entry_point="f", test=CHECK, stub=stub)
    assert len(examples(tmp_path, toml, capitals_jsonl=payload)) == 1


def test_an_open_answer_is_missed_where_it_is_compared(tmp_path):
    toml = HEAD + 'task = "open"\nscoring = "exact_match"\n[fields]\nquestion = "q"\n'
    assert complaint(tmp_path, toml) == [
        "fields.answer is missing; expected the name of a field. Add or correct it."
    ]


def test_shots_come_from_a_file_of_their_own(tmp_path):
    toml = CHOICE.replace("[fields]", 'n_shots = 1\nshots_file = "shots.csv"\n[fields]')
    benchmark = read(declare(tmp_path, toml))["capitals"]
    assert benchmark.n_shots == 1
    assert benchmark.shots is not None
    assert benchmark.shots.path == "benchmarks/shots.csv"  # pyright: ignore[reportAttributeAccessIssue]


def test_a_declaration_has_a_fingerprint_that_follows_it(tmp_path):
    one = fingerprint(read(declare(tmp_path, CHOICE))["capitals"])
    assert one == fingerprint(read(declare(tmp_path, CHOICE + "\n# a comment\n"))["capitals"])
    assert one != fingerprint(read(declare(tmp_path, CHOICE.replace('"right"', '"wrong"')))["capitals"])


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (
            ("title =", "tilte ="),
            ["Unknown key 'tilte'. Did you mean 'title'?", "title is missing; expected text."],
        ),
        (('"Capitals"', "3"), ["title is 3; expected text. Add or correct it."]),
        (('"CC0-1.0"', '" "'), ["licence is ' '; expected text. Add or correct it."]),
        (
            ('"multiple_choice"', '"quiz"'),
            ["task is 'quiz'; expected one of multiple_choice, lettered, yes_no, open"],
        ),
        (
            ('"capitals.csv"', '"../capitals.csv"'),
            ["file is '../capitals.csv'; expected the name of a file beside"],
        ),
        (
            ('"capitals.csv"', '"/etc/passwd"'),
            ["file is '/etc/passwd'; expected the name of a file beside this one"],
        ),
        (
            ('"capitals.csv"', '"capitals.xlsx"'),
            ["file is 'capitals.xlsx'; expected the name of a file beside this"],
        ),
        (
            ('["a", "b"]', '["a"]'),
            ["fields.choices is ['a']; expected the name of a field that holds a list, or two"],
        ),
        (('["a", "b"]', "3"), ["fields.choices is 3; expected the name of a field"]),
        (
            ('"letter"', '"roman"'),
            ["fields.answer_as is 'roman'; expected one of text, letter, index, index_from_1."],
        ),
        (('answer = "right"', "answer = 3"), ["fields.answer is 3; expected the name of a field."]),
        (('answer = "right"', ""), ["fields.answer is missing; expected the name of a field."]),
        (("part", "category"), []),
        (("category =", "catgory ="), ["Unknown fields. 'catgory'. Did you mean 'category'?"]),
        (
            ("[fields]", "n_shots = -1\n[fields]"),
            ["n_shots is -1; expected 0 to 1,000. Correct it."],
        ),
        (("[fields]", "n_shots = true\n[fields]"), ["n_shots is True; expected a whole number. Correct it."]),
        (
            ("[fields]", 'shots_file = "s.csv"\n[fields]'),
            ["n_shots is missing; expected how many worked examples"],
        ),
        (
            ("[fields]", "max_new_tokens = 9\n[fields]"),
            ["max_new_tokens is 9 for task 'multiple_choice'; expected"],
        ),
        (("[fields]", "stop = [3]\n[fields]"), ["stop is [3]; expected a list of texts. Correct it."]),
        (
            ("[fields]", 'scoring = "likelihod"\n[fields]'),
            ["scoring is 'likelihod' for task 'multiple_choice': Unknown scoring policy 'likelihod'."],
        ),
        (
            ("[fields]", 'scoring = "numeric"\n[fields]'),
            ["scoring is 'numeric' for task 'multiple_choice'; expected one for choices. Correct it."],
        ),
        (
            ("[fields]", "[field]"),
            ["Unknown key 'field'. Did you mean 'fields'?", "fields is None; expected a table"],
        ),
        (("[fields]", "[fields"), ["Expected ']' at the end of a table declaration"]),
    ],
)
def test_a_wrong_declaration(tmp_path, change, sentences):
    toml = CHOICE.replace(*change)
    if not sentences:
        assert read(declare(tmp_path, toml))
        return
    found = complaint(tmp_path, toml)
    assert len(found) == len(sentences), found
    for line, start in zip(found, sentences, strict=True):
        assert line.startswith(start), line


def test_choices_need_no_names_where_there_are_none(tmp_path):
    toml = CHOICE.replace('"multiple_choice"', '"yes_no"')
    assert complaint(tmp_path, toml) == [
        "fields.choices or answer_as is given for task 'yes_no'; expected neither. Remove it."
    ]


def test_an_open_task_says_how_it_is_scored(tmp_path):
    toml = HEAD + 'task = "open"\n[fields]\nquestion = "q"\nanswer = "a"\n'
    [found] = complaint(tmp_path, toml)
    assert found.startswith("scoring is missing for task 'open': Unknown scoring policy ''. Known: ")


PAIRS = HEAD + 'task = "open"\nscoring = "judge_pair"\n[fields]\nquestion = "q"\ndetails = ["baseline"]\n'


def test_a_baseline_is_what_a_judge_compares_with(tmp_path):
    [example] = examples(tmp_path, PAIRS, capitals_csv=b"q,baseline\nWrite about tin.,Tin is a metal.\n")
    assert (example.targets, example.details) == ((), '{"baseline": "Tin is a metal."}')
    asked: list[str] = []

    class Judge:
        source = "test"

        def decide(self, prompt, verdicts):
            asked.append(prompt)
            return verdicts[len(asked) - 1]  # first, then second: the answer is better in both orders

    said = Completion(
        model="m", benchmark="capitals", example_id=example.example_id, text="Tin melts at 232 degrees.",
        stop="end", n_prompt_tokens=1, n_completion_tokens=1,
    )  # fmt: skip
    assert POLICIES["judge_pair"].score(example, said, Judge()).value == 1.0
    assert len(asked) == 2
    assert all("Tin is a metal." in prompt and "232" in prompt for prompt in asked)


def test_names(tmp_path):
    assert complaint(tmp_path, CHOICE, "taken") == [
        "name 'taken' is that of a benchmark of the catalogue; expected one of its own. Rename it."
    ]
    (tmp_path / "benchmarks" / "taken.toml").unlink()
    assert complaint(tmp_path, CHOICE, "a,b")[0].startswith(
        "Benchmark name is 'a,b'; expected letters, digits"
    )


@pytest.mark.parametrize("toml", [b"\xff\xfe", b"title = ", b"a = [" * 5_000])
def test_no_toml(tmp_path, toml):
    [found] = complaint(tmp_path, toml)
    assert found.endswith((". Correct it.", ". Save the file as UTF-8."))


def test_every_faulty_declaration_is_named_and_good_ones_do_not_hide_them(tmp_path):
    declare(tmp_path, CHOICE)
    declare(tmp_path, "", "empty")
    declare(tmp_path, "x = 1", "strange")
    with pytest.raises(ValueError, match="expected") as error:
        read(tmp_path)
    assert {Path(line.split(":")[0]).name for line in str(error.value).splitlines()} == {
        "empty.toml",
        "strange.toml",
    }


def test_no_declarations(tmp_path):
    assert read(tmp_path) == {}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (b"Of X?,Lyon,,A,Europe", "choices are ('Lyon',); expected two different ones or more. Add one."),
        (
            b"Of X?,,Lyon,A,Europe",
            "field 'a' is empty, but 'b' after it is not; expected no empty choice before another. "
            "Fill it, or move those after it up and correct the answer.",
        ),
        (b"Of X?,Paris,Lyon,C,Europe", "answer is 'C'; expected a letter from A to B. Correct it."),
        (
            b"Of X?,Paris,Lyon,,Europe",
            "field 'right' is empty; expected a value. Add it, or correct the declaration.",
        ),
        (
            b",Paris,Lyon,A,Europe",
            "field 'q' is empty; expected a value. Add it, or correct the declaration.",
        ),
        (
            b"Of X?,Paris,Paris,A,Europe",
            "choices are ('Paris', 'Paris'); expected two different ones or more. Add one.",
        ),
        (
            b"Of X?,Paris",
            "got 2 values, ['Of X?', 'Paris']; expected 5, one for each of q, a, b, right, part. "
            "Quote commas, or add what is missing.",
        ),
        (b"Of X?,Paris,Lyon,A,Europe\nOf X?,Paris,Lyon,A,Asia", None),
    ],
)
def test_a_faulty_row_names_file_line_and_field(tmp_path, line, sentence):
    with pytest.raises(ValueError, match="faulty line") as error:
        examples(tmp_path, CHOICE, capitals_csv=b"q,a,b,right,part\n" + line + b"\n")
    found = str(error.value).splitlines()[1].removeprefix(f"{tmp_path}/benchmarks/")
    if sentence:
        assert found == f"capitals.csv:2: {sentence}"
    else:
        assert found.startswith(
            "capitals.csv:3: example 'Question: Of X?\\nAnswer:', answer 'Paris', repeats line 2;"
        )


@pytest.mark.parametrize(
    ("task", "answer", "sentence"),
    [
        ("yes_no", "maybe", "field 'a' is 'maybe'; expected yes or no, true or false, 1 or 0. Correct it."),
        (
            "numeric",
            "12 eggs",
            "field 'a' is '12 eggs'; expected a number such as '12' or '3.5'. Correct it.",
        ),
        ("numeric", True, "field 'a' is True; expected a number such as '12' or '3.5'. Correct it."),
        ("open", [], "field 'a' is []; expected a text, or a list of accepted ones. Correct it."),
        ("open", {"x": 1}, "field 'a' is {'x': 1}; expected a text, or a list of accepted ones. Correct it."),
        ("index", 2, "field 'a' is 2; expected a number from 0 to 1. Correct it."),
        ("index_from_1", 0, "field 'a' is 0; expected a number from 1 to 2. Correct it."),
        ("index", "one", "field 'a' is 'one'; expected a whole number. Correct it."),
        ("text", "Rome", "field 'a' is 'Rome'; expected one of the choices ('Paris', 'Lyon'). Correct it."),
    ],
)
def test_a_faulty_answer(tmp_path, task, answer, sentence):
    chosen = task in ("index", "index_from_1", "text")
    head = f'task = "{"multiple_choice" if chosen else task}"\n' + (
        'scoring = "numeric"\n' if task == "open" else ""
    )
    named = f'choices = "c"\nanswer_as = "{task}"\n' if chosen else ""
    toml = HEAD.replace(".csv", ".jsonl") + head + f'[fields]\nquestion = "q"\nanswer = "a"\n{named}'
    with pytest.raises(ValueError, match="faulty line") as error:
        examples(tmp_path, toml, capitals_jsonl=row(q="Which?", a=answer, c=["Paris", "Lyon"]))
    assert str(error.value).endswith(f"capitals.jsonl:1: {sentence}")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.sampled_from(["multiple_choice", "lettered", "yes_no", "open", "numeric"]),
    st.dictionaries(st.sampled_from(["q", "a", "c"]), VALUES, min_size=1),
)
def test_any_row_is_read_or_explained(tmp_path, task, fields):
    chosen = task in ("multiple_choice", "lettered")
    scoring = 'scoring = "numeric"\n' if task == "open" else ""
    toml = (
        HEAD.replace(".csv", ".jsonl") + f'task = "{task}"\n{scoring}[fields]\nquestion = "q"\nanswer = "a"\n'
    )
    payload = json.dumps(fields).encode()
    try:
        found = examples(tmp_path, toml + ('choices = "c"\n' if chosen else ""), capitals_jsonl=payload)
    except ValueError as error:
        found = error
    assert type(found) is list or "\n" in str(found)


def test_a_choice_that_stands_twice_is_refused(tmp_path):
    toml = CHOICE.replace('["a", "b"]', '["a", "b", "c"]')
    table = b"q,a,b,c,right,part\nOf X?,Paris,Lyon,Paris,A,Europe\n"
    with pytest.raises(ValueError, match=r"choice 'Paris' stands twice; expected each once\."):
        examples(tmp_path, toml, capitals_csv=table)
