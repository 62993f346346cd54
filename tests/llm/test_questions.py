import json

import pytest

from cg_pipeline.llm.questions import chat_question, counted, measured, raw_question, raw_text, rendered
from cg_pipeline.protocols import Generation
from cg_pipeline.records import Example

EXAMPLE = Example(benchmark="b", category="c", cluster="", prompt="2 + 2?", targets=("4",))
SHOTS = Example(
    benchmark="b",
    category="c",
    cluster="",
    prompt="2 + 2?",
    targets=("4",),
    shots=("1 + 1?", "2", "1 + 2?", "3"),
)
GREEDY = Generation(max_new_tokens=8)
NOTHING = frozenset[str]()


def ask_chat(example=EXAMPLE, how=GREEDY, refused=NOTHING, **settings):
    question = chat_question(example, how, **{"system_prompt": "", "sample": 0, **settings})
    return question.build(refused)


def test_a_conversation_holds_system_prompt_shots_and_question():
    request = ask_chat(SHOTS, system_prompt="Be brief.")
    assert [(turn["role"], turn["content"]) for turn in request["messages"]] == [
        ("system", "Be brief."),
        ("user", "1 + 1?"),
        ("assistant", "2"),
        ("user", "1 + 2?"),
        ("assistant", "3"),
        ("user", "2 + 2?"),
    ]
    assert (request["max_tokens"], request["temperature"]) == (8, 0.0)
    assert "continue_final_message" not in request


def test_worked_examples_are_dropped_from_the_first_on():
    assert [turn["content"] for turn in ask_chat(SHOTS, n_dropped=1)["messages"]] == ["1 + 2?", "3", "2 + 2?"]
    assert raw_text(SHOTS, "2 + 2?", n_dropped=2) == "2 + 2?"


def test_an_answer_is_begun_by_a_message_that_the_server_goes_on_with():
    request = ask_chat(how=Generation(max_new_tokens=8, opening="The answer is"))
    assert request["messages"][-1] == {"role": "assistant", "content": "The answer is"}
    assert (request["continue_final_message"], request["add_generation_prompt"]) == (True, False)


def test_a_server_that_refuses_is_asked_in_words_to_begin_so():
    how = Generation(max_new_tokens=8, opening="The answer is")
    request = ask_chat(how=how, refused=frozenset({"continue_final_message"}))
    assert request["messages"] == [
        {"role": "user", "content": "2 + 2?\n\nBegin your answer with these words: The answer is"}
    ]
    assert not {"continue_final_message", "add_generation_prompt"} & set(request)


def test_sampling_gives_each_sample_a_seed_of_its_own():
    how = Generation(max_new_tokens=8, temperature=0.7, top_p=0.9, seed=5, n_samples=2, stop=("\n",))
    first, second = (ask_chat(how=how, sample=sample) for sample in (0, 1))
    assert (first["temperature"], first["top_p"], first["seed"], first["stop"]) == (0.7, 0.9, 5, ["\n"])
    assert second == {**first, "seed": 6}
    assert "seed" not in ask_chat()


@pytest.mark.parametrize("name", ["temperature", "seed", "top_p", "stop"])
def test_what_a_server_refuses_is_left_out(name):
    how = Generation(max_new_tokens=8, temperature=0.7, top_p=0.9, stop=("\n",))
    whole = ask_chat(how=how)
    assert ask_chat(how=how, refused=frozenset({name})) == {k: v for k, v in whole.items() if k != name}


def test_the_limit_has_two_names():
    request = ask_chat(refused=frozenset({"max_tokens"}))
    assert ("max_tokens" in request, request["max_completion_tokens"]) == (False, 8)
    neither = ask_chat(refused=frozenset({"max_tokens", "max_completion_tokens"}))
    assert not {"max_tokens", "max_completion_tokens"} & set(neither)


def test_raw_text_puts_answers_after_a_space_and_blank_lines_between():
    question = raw_question(SHOTS, Generation(max_new_tokens=8, opening="It is"), sample=0)
    assert question.build(NOTHING)["prompt"] == "1 + 1? 2\n\n1 + 2? 3\n\n2 + 2? It is"
    assert not question.chat


def test_the_record_of_a_conversation_is_json_that_reads_back():
    hostile = Example(benchmark="b", category="c", cluster="", prompt='é"\n<|im_end|>\u2028', targets=("4",))
    request = ask_chat(hostile)
    assert json.loads(rendered(request)) == request["messages"]
    assert rendered({"prompt": 'é"\n'}) == 'é"\n'


def test_identities_tell_samples_purposes_and_places_apart():
    questions = [
        chat_question(EXAMPLE, GREEDY, system_prompt="", sample=0),
        chat_question(EXAMPLE, GREEDY, system_prompt="", sample=1),
        raw_question(EXAMPLE, GREEDY, sample=0),
        counted("2 + 2?"),
        measured("2 + 2?", 1),
        measured("2 + 2?", 2),
    ]
    identities = [json.dumps(question.identity, sort_keys=True) for question in questions]
    assert len(set(identities)) == len(questions)
