import json

import pydantic
import pytest

from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.shapes import ChatCompletion, Completion

SAID = {"message": {"content": "4"}, "finish_reason": "stop"}
BOTH = {"prompt_tokens": 9, "completion_tokens": 2}


def body(**fields) -> str:
    return json.dumps({"object": "any", "choices": [SAID], "usage": BOTH, **fields})


@pytest.mark.parametrize("shape", [Completion, ChatCompletion])
def test_what_both_read_is_read_alike(shape):
    found = shape.model_validate_json(body())
    assert (found.choices[0].message.content, found.choices[0].finish_reason) == ("4", "stop")
    assert found.spent == Usage(input_tokens=9, output_tokens=2)
    assert shape.model_validate_json(body(usage=None)).spent == Usage(n_unreported=1)


@pytest.mark.parametrize("shape", [Completion, ChatCompletion])
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens"])
@pytest.mark.parametrize("number", [-1, 2**31, 10**30])
def test_no_text_has_so_many_tokens(shape, name, number):
    with pytest.raises(pydantic.ValidationError):
        shape.model_validate_json(body(usage={**BOTH, name: number}))


@pytest.mark.parametrize(
    "fields",
    [
        {"choices": [{"text": " 4"}]},  # a raw completion
        {"usage": {"prompt_tokens": 9}},  # of a text that was only counted
    ],
)
def test_a_chat_completion_is_held_to_its_form(fields):
    assert Completion.model_validate_json(body(**fields)).spent.input_tokens == 9
    with pytest.raises(pydantic.ValidationError):
        ChatCompletion.model_validate_json(body(**fields))


def test_what_does_not_matter_to_a_chat_is_not_looked_at():
    odd = {**SAID, "logprobs": "none", "text": 7}
    assert ChatCompletion.model_validate_json(body(choices=[odd])).choices[0].message.content == "4"
