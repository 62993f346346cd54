"""What ends an answer."""

import pytest

from cg_pipeline.inference.generation import stop_ids
from tests.fakes import tiny_loaded_model


def test_an_answer_ends_at_every_token_that_the_files_or_the_template_name() -> None:
    model = tiny_loaded_model()
    model.tokenizer.eos_token = "<s>"
    model.module.generation_config.eos_token_id = [0, 77]

    assert stop_ids(model) == [
        0,
        2,
        3,
        77,
    ]  # 0 and 77 from the files, 3 the tokenizer's, 2 closes the template's turn


def test_raw_text_has_no_turn_to_end() -> None:
    model = tiny_loaded_model(chat=False)
    model.tokenizer.eos_token = "<s>"
    model.module.generation_config.eos_token_id = None

    assert stop_ids(model) == [3]


def test_a_model_that_cannot_stop_is_refused() -> None:
    model = tiny_loaded_model(chat=False)
    model.tokenizer.eos_token = None
    model.module.generation_config.eos_token_id = None

    with pytest.raises(
        ValueError, match="Model 'tiny' names no token that ends a text; expected eos_token_id"
    ):
        stop_ids(model)
