from cg_pipeline.answers.own_part import own_part, without_reasoning


def test_reasoning_is_no_answer():
    assert own_part("<think>It may be A.</think> B") == "B"
    assert own_part("It may be A.</think>B") == "B"  # the opening tag stood in the prompt
    assert own_part("<think>It may be A.") == ""


def test_a_question_the_model_asks_itself_ends_its_answer():
    assert own_part("B\n\nQuestion: What next?\nAnswer: A") == "B"
    assert own_part("B\n**Question 2:** What next?") == "B"
    assert own_part("B\nThe question: is it?") == "B\nThe question: is it?"


def test_an_echo_of_the_prompt_stays():
    assert own_part("Question: What?\nAnswer: B") == "Question: What?\nAnswer: B"


def test_invisible_characters_are_left_out():
    assert own_part("\u202eB\x00\u200b\ufeff") == "B"
    assert own_part("می\u200cخواهم") == "می\u200cخواهم"  # spelling needs it
    assert own_part("a\r\nb\rc") == "a\nb\nc"
    assert without_reasoning("<think>x</think>\n\u202eB ") == "\u202eB"
