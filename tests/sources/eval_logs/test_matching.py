import time
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.records import Example
from cg_pipeline.sources.eval_logs.logged import LoggedAnswer
from cg_pipeline.sources.eval_logs.matching import match
from tests.sources.eval_logs.logs import BARKS, COLD, PENS, SUM

EXAMPLES = [BARKS, COLD, PENS, SUM]


def logged(prompt: str = "", **fields) -> LoggedAnswer:
    return LoggedAnswer(**{"place": "log:1", "prompt": prompt, "stop": "end", "value": 1.0, **fields})


def measured(prompt: str, choices: tuple[str, ...], **fields) -> LoggedAnswer:
    return logged(prompt, **{"orders": (choices,), "logprobs": (-1.0,) * len(choices), **fields})


def only(answer: LoggedAnswer, examples=EXAMPLES):
    """The one match, or the reason there is none."""
    found = match(examples, [answer])
    return found.matches[0] if found.matches else found.strays[0][1]


def test_the_same_prompt_in_other_spacing_and_case():
    found = only(measured("QUESTION:  Which animal barks\u00a0at night?\n answer:", (" dog", " cat")))
    assert (found.example, found.order) == (BARKS, (1, 0))


def test_a_prompt_behind_worked_examples():
    found = only(logged("What is one plus one?\n2\n\nWhat is two plus two?"))
    assert found.example is SUM


def test_the_end_of_another_question_is_not_a_worked_example():
    assert only(logged("Tell me, my friend: what is two plus two?")) == "no example asks this"


def test_a_question_in_another_format_is_found_by_the_row():
    answer = logged(
        "<|user|>Choose. Which of these is cold?<|assistant|>",
        fields=(("id", "17"), ("question", "Which of these is cold?")),
        orders=((" fire", " ice", " steam"),),
        logprobs=(-3.0, -1.0, -2.0),
        target="1",
    )
    found = only(answer)
    assert (found.example, found.order) == (COLD, (1, 0, 2))


def test_other_choices_are_another_question():
    assert only(measured(COLD.prompt, ("ice", "fire"))) == "its choices are others"
    assert only(measured(COLD.prompt, ("ice", "fire", "lava"))) == "its choices are others"
    assert only(logged(COLD.prompt, orders=(("ice", "fire", "lava"),))) == "its choices are others"


def test_another_key_is_another_question():
    choices = ("ice", "fire", "steam")
    assert only(measured(COLD.prompt, choices, target="1")) == "its right answer is another"
    assert only(measured(COLD.prompt, choices, target="B")) == "its right answer is another"
    assert only(measured(COLD.prompt, choices, target="fire")) == "its right answer is another"
    for target in ("0", "A", "Ice", "", "some explanation"):
        assert only(measured(COLD.prompt, choices, target=target)).example is COLD


def test_two_examples_that_ask_the_same_are_not_chosen_between():
    twins = [replace(SUM, targets=("4",)), replace(SUM, targets=("four",))]
    assert only(logged(SUM.prompt), twins) == "2 examples ask this"


def test_choices_tell_examples_with_one_prompt_apart():
    others = [COLD, replace(COLD, choices=("ice", "lava", "steam"))]
    assert only(measured(COLD.prompt, ("steam", "lava", "ice")), others).example is others[1]


def test_a_passage_shared_by_questions_is_not_enough():
    passage = "Ann walked to the market and bought a basket of ripe red apples."
    asked = [
        replace(SUM, prompt=f"{passage}\nQuestion: What did she buy there?", targets=("apples",)),
        replace(SUM, prompt=f"{passage}\nQuestion: Where did she walk to?", targets=("market",)),
    ]
    right = logged(fields=(("passage", passage), ("question", "Where did she walk to?")))
    assert only(right, asked).example is asked[1]
    shared = logged(fields=(("passage", passage), ("question", "Who sold her the apples?")))
    assert only(shared, asked) == "2 examples ask this"


def test_letters_stand_for_choices_only_in_the_logged_order():
    lettered = replace(COLD, continuations=("A", "B", "C"))
    fields = (("question", "Which of these is cold?"),)
    letters = (" A", " B", " C")
    shuffled = logged(
        fields=fields,
        orders=(letters, ("fire", "ice", "steam")),
        logprobs=(-3.0, -1.0, -2.0),
        target="1",
    )
    assert only(shuffled, [lettered]).order == (1, 0, 2)
    assert only(measured(COLD.prompt, letters), [lettered]).order == (0, 1, 2)
    assert only(measured(COLD.prompt, letters), [COLD]) == "its choices are others"


def test_filled_blanks_are_told_by_their_contexts():
    blank = Example(
        benchmark="toy",
        category="c",
        cluster="",
        prompt="The cup did not fit into the box because _ was too big.",
        choices=("the cup", "the box"),
        targets=("the cup",),
        stems=(
            "The cup did not fit into the box because the cup",
            "The cup did not fit into the box because the box",
        ),
        continuations=("was too big.",) * 2,
    )
    answer = logged(
        blank.stems[1],
        fields=(("sentence", blank.prompt),),
        contexts=(blank.stems[1], blank.stems[0]),
        orders=((" was too big.",) * 2,),
        logprobs=(-1.0, -2.0),
    )
    assert only(answer, [blank]).order == (1, 0)


def test_what_is_asked_twice_is_taken_once():
    found = match(EXAMPLES, [logged(SUM.prompt), logged(SUM.prompt, place="log:2")])
    assert len(found.matches) == 1
    assert found.strays[0][1] == "repeats log:1"
    assert found.absent == [BARKS, COLD, PENS]


def test_samples_of_one_example_are_not_repetitions():
    assert len(match(EXAMPLES, [logged(SUM.prompt, sample=i) for i in range(3)]).matches) == 3


def test_a_word_of_a_row_is_not_a_question():
    assert only(logged(fields=(("category", "pen"), ("answer", "barks")))) == "no example asks this"


@given(st.permutations(range(4)), st.permutations(range(4)))
def test_order_is_irrelevant(first, second):
    answers = [
        measured(BARKS.prompt, ("cat", "dog")),
        measured(COLD.prompt, ("ice", "fire", "steam")),
        logged(PENS.prompt),
        logged(SUM.prompt),
    ]
    found = match([EXAMPLES[i] for i in first], [answers[i] for i in second])
    assert {match.example.example_id: match.logged.prompt for match in found.matches} == {
        example.example_id: example.prompt for example in EXAMPLES
    }


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_matched_or_told(prompt, question):
    found = match(EXAMPLES, [logged(prompt, fields=(("question", question),))])
    assert len(found.matches) + len(found.strays) == 1


def test_thousands_of_answers_are_matched_in_seconds():
    asked = [f"A farmer has {i} sheep and buys {i % 97} more. How many are there?" for i in range(2_000)]
    examples = [replace(SUM, prompt=f"Question: {text}\nAnswer:") for text in asked]
    answers = [logged(fields=(("question", text),)) for text in asked]
    started = time.process_time()
    assert len(match(examples, answers).matches) == 2_000
    assert time.process_time() - started < 10


def test_likelihoods_of_whole_sentences_are_not_those_of_what_they_share():
    """As lm-evaluation-harness logs CrowS-Pairs: both sentences after nothing."""
    pair = Example(
        benchmark="toy",
        category="c",
        cluster="",
        prompt="Owls often lie.\nHens often lie.",
        choices=("Owls often lie.", "Hens often lie."),
        targets=("Hens often lie.",),
        stems=("Owls", "Hens"),
        continuations=("often lie.", "often lie."),
    )
    fields = (("sent_more", "Owls often lie."), ("sent_less", "Hens often lie."))
    whole = measured("", pair.choices, fields=fields, contexts=("", ""))
    assert only(whole, [pair]) == "no example asks this"
    assert only(replace(whole, prompt=pair.prompt), [pair]) == "its choices are others"
    partly = measured(pair.prompt, ("often lie.",) * 2, contexts=("Hens", "Owls"))
    assert only(partly, [pair]).order == (1, 0)
