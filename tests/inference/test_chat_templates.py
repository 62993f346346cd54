"""What templates write around a message; `test_prompts` shows the whole."""

import pytest

from cg_pipeline.inference.chat_templates import chat_frame, end_of_turn, special_ids
from tests.fakes import CHAT_TEMPLATE, tiny_tokenizer

TOKENIZER = tiny_tokenizer()


def test_the_frame_of_a_message() -> None:
    frame = chat_frame(TOKENIZER, "Be short.")

    assert frame.head == "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\n"
    assert frame.tail == "<|im_end|>\n<|im_start|>assistant\n"
    assert frame.trims == (False,)


def test_trimming_is_noticed() -> None:
    trimming = tiny_tokenizer(chat_template=CHAT_TEMPLATE.replace("['content']", "['content'] | trim"))

    assert chat_frame(trimming, "").trims == (True,)


def test_nothing_changes_from_one_day_to_the_next() -> None:
    """Llama 3.2's template prints today's date unless it is given one."""
    dated = "{{ date_string | default(strftime_now('%d %b %Y')) }} {{ messages[-1]['content'] }}"

    assert chat_frame(tiny_tokenizer(chat_template=dated), "").head == "26 Jul 2024 "


def test_a_template_that_drops_the_message_is_refused() -> None:
    with pytest.raises(ValueError, match="writes a message of the user 0 times; expected once"):
        chat_frame(tiny_tokenizer(chat_template="Hello"), "")


def test_the_turn_ends_where_the_template_says() -> None:
    assert end_of_turn(TOKENIZER) == TOKENIZER.convert_tokens_to_ids("<|im_end|>")
    assert end_of_turn(tiny_tokenizer(chat_template="{{ messages[-1]['content'] }}")) is None


def test_special_tokens_are_all_that_are_flagged() -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<extra>"]})

    assert special_ids(tokenizer) == {0, 1, 2, 3, 340}


def test_earlier_turns_have_their_place() -> None:
    frame = chat_frame(TOKENIZER, "Be short.", 1)

    assert frame.parts == (
        "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\n",
        "<|im_end|>\n<|im_start|>assistant\n",
        "<|im_end|>\n<|im_start|>user\n",
        "<|im_end|>\n<|im_start|>assistant\n",
    )
    assert frame.trims == (False, False, False)


def test_a_template_that_drops_an_answer_is_refused() -> None:
    forgetful = "{% for m in messages %}{% if m['role'] == 'user' %}{{ m['content'] }}{% endif %}{% endfor %}"

    with pytest.raises(ValueError, match="writes a message of the assistant 0 times; expected once"):
        chat_frame(tiny_tokenizer(chat_template=forgetful), "", 1)
