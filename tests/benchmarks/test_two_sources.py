"""A row of the hub and its normalised form, one letter for an answer, give one item."""

from typing import Any

import pytest

from cg_pipeline.benchmarks import BENCHMARKS, logicbench_bqa, logicbench_mcqa
from cg_pipeline.benchmarks.gpqa import from_normalised as gpqa_normalised
from cg_pipeline.benchmarks.gpqa import to_item as gpqa_item
from cg_pipeline.benchmarks.winogrande import twin_key
from cg_pipeline.curation import add_shots
from cg_pipeline.families.mmlu import source_quoted
from cg_pipeline.pipeline import pose

PLAIN: dict[str, Any] = {"choices": None, "context": None, "category": None, "source_fields": {}}
SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gsm8k": (
        {"question": "2 + 2 * 600?", "answer": "2 * 600 = 1200\n#### 1,202"},
        {"question": "2 + 2 * 600?", "answer": "1,202", "source_fields": {"solution": "2 * 600 = 1200"}},
    ),
    "agieval": (
        {
            "config": "sat-en",
            "passage": "Owls hunt.",
            "question": "Who hunts?",
            "options": ["(A) Hens", "(B)Owls (A)"],
            "label": "B",
        },
        {
            "question": "Who hunts?",
            "choices": ["Hens", "Owls (A)"],
            "answer": "B",
            "context": "Owls hunt.",
            "category": "sat-en",
        },
    ),
    "logicbench_bqa": (
        {"type": "t", "axiom": "modus_tollens", "id": 3, "context": "C.", "question": "Q?", "answer": "No"},
        {
            "question": "Q?",
            "choices": ["yes", "no"],
            "answer": "B",
            "context": "C.",
            "category": "modus_tollens",
            "source_fields": {"sample_id": 3},
        },
    ),
    "logicbench_mcqa": (
        {
            "type": "t",
            "axiom": "commutation",
            "id": 3,
            "context": "C.",
            "question": "Q?",
            "choices": {"choice_2": "b", "choice_1": "a"},
            "answer": "choice_2",
        },
        {"question": "Q?", "choices": ["a", "b"], "answer": "B", "context": "C.", "category": "commutation"},
    ),
    "social_iqa": (
        {"context": "C.", "question": "Q?", "answerA": "a", "answerB": "b", "answerC": "a", "label": "2"},
        {"question": "Q?", "choices": ["a", "b", "a"], "answer": "B", "context": "C."},
    ),
    "winogrande": (
        {"sentence": "An owl saw a hen, but the _ hid.", "option1": "owl", "option2": "hen", "answer": "2"},
        {"question": "An owl saw a hen, but the _ hid.", "choices": ["owl", "hen"], "answer": "B"},
    ),
    "crows_pairs": (
        {
            "sent_more": "Owls lie.",
            "sent_less": "Hens lie.",
            "stereo_antistereo": "stereo",
            "bias_type": "age",
        },
        {
            "question": "Which of these is likelier?",
            "choices": ["Hens lie.", "Owls lie."],
            "answer": None,
            "category": "age",
            "source_fields": {
                "sent_more": "Owls lie.",
                "sent_less": "Hens lie.",
                "stereo_antistereo": "stereo",
                "more_stereotypical_choice": "B",
            },
        },
    ),
    "mmlu": (
        {"question": "Q?", "subject": "anatomy", "choices": ["a", "b", "c", "d"], "answer": 3},
        {"question": "Q?", "choices": ["a", "b", "c", "d"], "answer": "D", "category": "anatomy"},
    ),
    "arena_hard_v01": (
        {"question_id": "1", "category": "all", "cluster": "Owls", "turns": [{"content": "Draw an owl."}]},
        {"question": "Draw an owl.", "answer": None, "category": "Owls", "source_fields": {"uid": "1"}},
    ),
    "arena_hard_v2": (
        {"uid": "1", "category": "hard_prompt", "subcategory": "math", "prompt": "Count owls."},
        {"question": "Count owls.", "answer": None, "category": "math", "source_fields": {"uid": "1"}},
    ),
    "mt_bench": (
        {"prompt": ["Count.", "Again."], "prompt_id": 1, "category": "math", "reference": ["1", "2"]},
        {
            "question": "Count.",
            "answer": None,
            "category": "math",
            "source_fields": {"turns": ["Count.", "Again."], "reference": ["1", "2"]},
        },
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_hub_and_directory_give_one_item(name: str):
    (row, fields), benchmark = SAME[name], BENCHMARKS[name]
    assert benchmark.from_normalised is not None
    item = benchmark.to_item(row)
    assert benchmark.from_normalised({**PLAIN, **fields}) == item
    assert pose(benchmark, item).targets == item.answers


LETTERED = [name for name, (_, fields) in SAME.items() if fields.get("choices") and fields["answer"]]


@pytest.mark.parametrize("name", LETTERED)
def test_a_letter_that_no_choice_has_is_refused(name: str):
    benchmark, fields = BENCHMARKS[name], {**PLAIN, **SAME[name][1], "answer": "Z"}
    assert benchmark.from_normalised is not None
    with pytest.raises(ValueError, match=r"expected an index from 0 to \d\. Correct it\."):
        benchmark.from_normalised(fields)


def test_a_solution_without_a_number_is_refused():
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        BENCHMARKS["gsm8k"].to_item({"question": "2 + 2?", "answer": "It is 4."})
    assert str(error.value) == "answer ends with 'It is 4.'; expected '#### ' and a number. Add it."


def test_a_file_of_logicbench_is_laid_out_in_rows():
    pairs = [{"question": "P?", "answer": "yes"}, {"question": "Q?", "answer": "no"}]
    file = {
        "type": "nm_logic",
        "axiom": "default",
        "samples": [{"id": 1, "context": "C.", "qa_pairs": pairs}],
    }
    rows = logicbench_bqa.rows_in(file)
    assert rows == [
        {"type": "nm_logic", "axiom": "default", "id": 1, "context": "C.", **pair} for pair in pairs
    ]
    assert len({logicbench_bqa.to_item(row).cluster for row in rows}) == 1

    asked = {"id": 1, "context": "C.", "question": "Q?", "choices": {"choice_1": "a"}, "answer": "choice_1"}
    assert logicbench_mcqa.rows_in({**file, "samples": [asked]}) == [
        {"type": "nm_logic", "axiom": "default", **asked}
    ]


def test_there_is_a_file_of_logicbench_for_each_of_25_rules():
    for name in ("logicbench_bqa", "logicbench_mcqa"):
        assert len(BENCHMARKS[name].source.files) == 25


def test_twins_share_a_key_whichever_option_comes_first():
    one, two = "The owl saw a hen, but the _ hid.", "The owl saw a hen, so the _ hid."
    assert twin_key(one, ["owl", "hen"]) == twin_key(two, ["Hen", "owl"])
    assert twin_key(one, ["owl", "hen"]) != twin_key("A fox saw a hen, so the _ hid.", ["owl", "hen"])


def test_questions_about_one_quoted_source_belong_together():
    lead = "This question refers to the following information.\nOwls ruled the barn."
    assert source_quoted(f"{lead}\nWho ruled?") == source_quoted(f"{lead}\nWhere?") == lead
    assert source_quoted("Which of these\nis an owl?") == ""


def test_where_the_right_choice_stands_does_not_depend_on_its_column():
    names = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
    row = {"Question": "Q?", "High-level domain": "Physics"}
    item = gpqa_item({**row, **dict(zip(names, "abcd", strict=True))})
    other = gpqa_item({**row, **dict(zip(names, "bacd", strict=True))})
    assert item.choices == other.choices
    assert (item.answers, other.answers) == (("a",), ("b",))
    places = {
        (
            found := gpqa_item({**row, "Question": f"{i}?", **dict(zip(names, "abcd", strict=True))})
        ).choices.index(found.answers[0])
        for i in range(40)
    }
    assert places == {0, 1, 2, 3}


def test_what_stands_in_brackets_is_taken_out_of_gpqas_choices():
    names = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
    row = {"Question": "Q?", "High-level domain": "Physics"}
    item = gpqa_item({**row, **dict(zip(names, ("an [edit] owl", "b", "c [title] d", "e"), strict=True))})
    assert item.answers == ("an owl",)
    assert set(item.choices) == {"an owl", "b", "c. d", "e"}


def test_mmlu_names_its_subject_once_before_the_worked_examples():
    benchmark, row = BENCHMARKS["mmlu_5_shot"], SAME["mmlu"][0]
    items = [benchmark.to_item({**row, "question": f"{row['question']} {i}"}) for i in range(6)]
    asked, *pool = [(pose(benchmark, item), item) for item in items]
    [example] = add_shots(benchmark, [asked[0]], pool, [asked[0]])
    whole = "".join([*example.shots, example.prompt])
    assert whole.count("multiple choice questions") == 1
    assert whole.startswith("The following are multiple choice questions (with answers) about ")
    assert example.shots[0].removesuffix(example.shots[0].rpartition("\n\n")[2]) + example.prompt == (
        pose(BENCHMARKS["mmlu"], items[0]).prompt
    )


def test_gpqa_is_not_read_from_a_directory():
    with pytest.raises(ValueError, match="which must not be handed on; expected it from the hub alone"):
        gpqa_normalised({"item_id": "gpqa-0"})


def test_crows_pairs_rates_what_both_sentences_share_after_what_differs():
    benchmark = BENCHMARKS["crows_pairs"]
    example = pose(benchmark, benchmark.to_item(SAME["crows_pairs"][0]))
    assert example.prompt == "Owls lie.\nHens lie."
    assert (example.stems, example.continuations) == (("Owls", "Hens"), ("lie.", "lie."))
    assert (example.choices, example.targets) == (("Owls lie.", "Hens lie."), ("Hens lie.",))


@pytest.mark.parametrize(
    ("more", "less", "stems", "tail"),
    [
        (
            "The old owl can not fly.",
            "The young hen can not fly.",
            ("The old owl", "The young hen"),
            "can not fly.",
        ),
        ("Tired owls lie.", "owls lie.", ("Tired owls", "owls"), "lie."),
    ],
)
def test_where_crows_pairs_is_cut(more: str, less: str, stems: tuple[str, str], tail: str):
    benchmark = BENCHMARKS["crows_pairs"]
    row = {**SAME["crows_pairs"][0], "sent_more": more, "sent_less": less}
    example = pose(benchmark, benchmark.to_item(row))
    assert example.stems == stems
    assert example.continuations == (tail, tail)


@pytest.mark.parametrize(
    ("more", "less", "stems", "rest"),
    [
        ("Never trust an owl.", "Never trust hens.", ("Never trust",) * 2, ("an owl.", "hens.")),
        ("He ate his owl.", "She ate her hen.", ("He", "She"), ("ate his owl.", "ate her hen.")),
        ("Trust owls", "Trust owls who lie", ("Trust",) * 2, ("owls", "owls who lie")),
    ],
)
def test_where_crows_pairs_share_no_end_nothing_is_rated_after_nothing(more, less, stems, rest):
    benchmark = BENCHMARKS["crows_pairs"]
    row = {**SAME["crows_pairs"][0], "sent_more": more, "sent_less": less}
    example = pose(benchmark, benchmark.to_item(row))
    assert (example.stems, example.continuations) == (stems, rest)


def test_a_pair_of_single_words_is_refused():
    with pytest.raises(
        ValueError, match=r"sentences are \('Owls', 'Hens'\); expected two or more words each"
    ):
        BENCHMARKS["crows_pairs"].to_item(
            {**SAME["crows_pairs"][0], "sent_more": "Owls", "sent_less": "Hens"}
        )
