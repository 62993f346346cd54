"""Which rows are asked: repetitions, samples, worked examples, twins across benchmarks."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline import pipeline
from cg_pipeline.curation import add_shots, contradicts, find_distinct, hold_out, limit_examples
from cg_pipeline.formats import around_blank, lettered, plain, question_answer
from cg_pipeline.items import ChoiceRow, Item, choice_item
from cg_pipeline.records import Example
from cg_pipeline.specs import Benchmark, LocalRows, Study

QUIZ = Benchmark(
    name="quiz",
    title="Quiz",
    scope="Questions.",
    licence="Apache-2.0",
    source=LocalRows(path="quiz.jsonl"),
    row=ChoiceRow,
    to_item=choice_item,
    prompt=question_answer,
    response="choice",
    scoring="likelihood",
    n_shots=2,
)
STUDY = Study(name="s", title="S", models=("m",), benchmarks=("quiz",))


def example(prompt: str, *targets: str, **more: Any) -> Example:
    return Example(
        benchmark="quiz", **{"category": "c", "cluster": "", "prompt": prompt, "targets": targets, **more}
    )


def items(*questions: str, **more: Any) -> list[Item]:
    return [
        Item(**{"question": text, "choices": ("yes", "no"), "answers": ("no",), "category": "c", **more})
        for text in questions
    ]


def posed(benchmark: Benchmark, *found: Item) -> list[tuple[Example, Item]]:
    return [(pipeline.pose(benchmark, item), item) for item in found]


@pytest.mark.parametrize(
    ("answers", "kept", "repeated", "torn"),
    [
        ([("4",)], (0,), (), ()),
        ([("4",), ("4",), ("4",)], (0,), (1, 2), ()),
        ([("four", "4"), ("4",)], (0,), (1,), ()),
        ([("Paris",), (" paris ",)], (0,), (1,), ()),
        ([("4",), ("5",)], (), (), (0, 1)),
        ([("4",), ("4",), ("5",)], (), (), (0, 1, 2)),
        ([(), ()], (0,), (1,), ()),
    ],
)
def test_a_question_is_kept_once_and_a_torn_one_never(answers, kept, repeated, torn):
    """Fault F37: duplicate rows weigh double, and contradictory ones make the score arbitrary."""
    found = find_distinct([example("2 + 2?", *targets) for targets in answers])
    assert (found.kept, found.repeated, found.contradictory) == (kept, repeated, torn)


def test_other_choices_make_another_question():
    pair = [example("Which?", "a", choices=("a", "b")), example("Which?", "c", choices=("c", "d"))]
    assert find_distinct(pair).kept == (0, 1)
    swapped = [pair[0], example("Which?", "b", choices=("b", "a"))]
    assert find_distinct(swapped).contradictory == (0, 1)


def test_contradiction_is_mutual():
    assert contradicts(example("q", "a"), example("q", "b"))
    assert not contradicts(example("q"), example("q"))


NUMBERS = st.lists(
    st.tuples(st.integers(0, 999), st.sampled_from("abc")), min_size=1, max_size=40, unique=True
)


@given(NUMBERS, st.integers(1, 40), st.integers(1, 40), st.integers(0, 9))
def test_limits_are_nested_and_whole_examples(numbers, one, other, seed):
    found = [example(f"question {n} of {name}?", "x", category=name) for n, name in numbers]
    few, many = sorted((one, other))
    ids = {each.example_id for each in limit_examples(found, few, seed)}
    more = limit_examples(found[::-1], many, seed)
    assert ids <= {each.example_id for each in more}
    assert len(more) == min(many, len(found))


def test_no_limit_is_all_and_none_is_refused():
    found = [example("a?", "x"), example("b?", "x")]
    assert limit_examples(found, None, 0) == found
    with pytest.raises(
        ValueError, match=r"^limit is 0; expected a positive number of examples, or None for all\.$"
    ):
        limit_examples(found, 0, 0)


@pytest.mark.parametrize(
    ("prompt", "item", "shown"),
    [
        (
            question_answer,
            Item(question="Tin?", choices=("yes", "no"), answers=("no",)),
            ("Question: Tin?\nAnswer:", "no"),
        ),
        (
            lettered,
            Item(question="Tin?", choices=("yes", "no"), answers=("no",)),
            ("Tin?\nA. yes\nB. no\nAnswer:", "B"),
        ),
        (
            around_blank,
            Item(question="The _ is wet.", choices=("sea", "sun"), answers=("sea",)),
            ("The sea", "is wet."),
        ),
        (plain, Item(question="Tin?", answers=("metal", "a metal")), ("Tin?", "metal")),
        (
            plain,
            Item(question="2 + 2?", answers=("4",), worked="2 and 2 are 4. #### 4"),
            ("2 + 2?", "2 and 2 are 4. #### 4"),
        ),
    ],
)
def test_a_worked_example_shows_what_the_model_should_say(prompt, item, shown):
    benchmark = replace(QUIZ, n_shots=1, prompt=prompt)
    [asked] = add_shots(benchmark, [example("Ice?", "no")], posed(benchmark, item), [])
    assert asked.shots == shown


def test_an_opening_belongs_to_the_answer_shown():
    benchmark = replace(
        QUIZ, n_shots=1, prompt=plain, opening="The answer is", response="generation", max_new_tokens=5
    )
    pool = posed(benchmark, Item(question="2 + 2?", answers=("4",)))
    assert add_shots(benchmark, [example("1 + 1?", "2")], pool, [])[0].shots == ("2 + 2?", "The answer is 4")


def test_a_header_stands_once_before_everything():
    benchmark = replace(QUIZ, header=lambda category: f"About {category}.\n\n")
    pool = posed(benchmark, *items("a1", "a2", category="a"))
    [asked] = posed(benchmark, *items("a3", category="a"))
    assert asked[0].prompt == "About a.\n\nQuestion: a3\nAnswer:"
    [found] = add_shots(benchmark, [asked[0]], pool, [asked[0]])
    first, second = "About a.\n\nQuestion: a1\nAnswer:", "Question: a2\nAnswer:"
    assert found.shots == (first, "no", second, "no")
    assert found.prompt == "Question: a3\nAnswer:"


def test_a_header_stands_before_each_stem():
    benchmark = replace(QUIZ, n_shots=1, prompt=around_blank, header=lambda category: "Fill in.\n")
    wet, dry = (
        Item(question=f"The _ is {end}.", choices=("sea", "sun"), answers=("sea",)) for end in ("wet", "dry")
    )
    [(asked, _), *pool] = posed(benchmark, wet, dry)
    assert asked.stems == ("Fill in.\nThe sea", "Fill in.\nThe sun")
    [found] = add_shots(benchmark, [asked], pool, [asked])
    assert (found.shots, found.stems) == (("Fill in.\nThe sea", "is dry."), ("The sea", "The sun"))


def test_shots_are_of_the_category_where_it_has_enough():
    pool = posed(QUIZ, *items("a1", "a2", "a3", category="a"), *items("b1", category="b"))
    asked = [example("x?", "y", category=name) for name in ("a", "b", "z")]
    shown = [each.shots[::2] for each in add_shots(QUIZ, asked, pool, asked)]
    first = ("Question: a1\nAnswer:", "Question: a2\nAnswer:")
    assert shown == [first, first, first]
    later = posed(QUIZ, *items("c1", category="c"), *items("a1", "a2", category="a"))
    assert add_shots(QUIZ, asked[:1], later, asked)[0].shots[::2] == first


def test_what_is_asked_is_never_shown():
    pool = posed(QUIZ, *items("one", "two", "three"))
    asked = [pool[0][0], example("else?", "x")]
    for each in add_shots(QUIZ, asked, pool, asked):
        assert each.shots[::2] == ("Question: two\nAnswer:", "Question: three\nAnswer:")


def test_too_few_worked_examples():
    pool = posed(QUIZ, *items("one", "two"))
    with pytest.raises(ValueError, match="worked examples") as error:
        add_shots(QUIZ, [pool[0][0]], pool, [pool[0][0]])
    assert str(error.value) == (
        "Benchmark 'quiz' has 1 of 2 worked examples that are not asked themselves; "
        "expected at least n_shots, 2. Lower n_shots or add rows."
    )


def test_a_worked_example_without_an_answer_is_refused():
    benchmark = replace(QUIZ, n_shots=1, prompt=plain)
    with pytest.raises(
        ValueError, match=r"^Worked example 'Write\.' of 'quiz' has no answer; expected one to show"
    ):
        add_shots(benchmark, [example("Sing.", "x")], posed(benchmark, Item(question="Write.")), [])


def test_own_rows_are_held_out_whatever_the_limit_and_order():
    found = posed(QUIZ, *items(*(f"question {index}?" for index in range(30))))
    whole = pipeline.choose_examples(QUIZ, found, None, STUDY)
    assert len(whole) == 28
    shown = {text for each in whole for text in each.shots[::2]}
    assert len(shown) == 2
    assert not shown & {each.prompt for each in whole}
    part = pipeline.choose_examples(QUIZ, found[::-1], None, replace(STUDY, limit=10))
    assert {text for each in part for text in each.shots[::2]} == shown
    prompts = {each.prompt for each in part}
    assert len(prompts) == 10
    assert prompts <= {each.prompt for each in whole}


@given(st.permutations(range(12)), st.integers(1, 4))
def test_ids_do_not_depend_on_the_order_of_rows(order, n_shots):
    """Fault: worked examples are part of an id, so their order must not be that of the file."""
    benchmark = replace(QUIZ, n_shots=n_shots)
    found = [
        pair for i in range(12) for pair in posed(benchmark, *items(f"question {i}?", category="ab"[i % 2]))
    ]
    shuffled = [found[i] for i in order]
    ids = {each.example_id for each in pipeline.choose_examples(benchmark, found, None, STUDY)}
    assert {each.example_id for each in pipeline.choose_examples(benchmark, shuffled, None, STUDY)} == ids
    assert len(ids) == 12 - n_shots


def test_without_shots_nothing_is_held_out():
    none = replace(QUIZ, n_shots=0)
    found = posed(none, *items("one", "two"))
    assert hold_out(found, 0) == ([], found)
    assert pipeline.choose_examples(none, found, None, STUDY) == [each for each, _ in found]


def test_twins_across_benchmarks_are_named_by_id():
    text = "which of the two hills was bought by the widow of the last keeper of the lighthouse"
    one = example(text, "x")
    other = replace(example(f"Long ago. {text}?", "x"), benchmark="older")
    [pair] = pipeline.compare_benchmarks([one, other, example("something else entirely", "x")])
    assert (pair.benchmark, pair.example_id) == ("older", other.example_id)
    assert (pair.other_benchmark, pair.other_example_id) == ("quiz", one.example_id)
    assert pair.overlap == 1.0
