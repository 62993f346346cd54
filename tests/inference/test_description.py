"""From numbered tokens back to places in texts."""

import torch

from cg_pipeline.inference.description import locate_firings
from cg_pipeline.inference.firings import Firings
from cg_pipeline.inference.prompts import render_prompt
from tests.fakes import tiny_loaded_model


def test_numbers_run_through_the_content_of_all_texts() -> None:
    """Both texts are words of one token each; number 3 is the first content token of the second."""
    model = tiny_loaded_model()
    texts = ("The answer is", " the capital of")
    prompts = [render_prompt(model.tokenizer, model.spec, text) for text in texts]
    assert [int(prompt.content_mask.sum()) for prompt in prompts] == [3, 3]
    firings = Firings(
        n_tokens=6,
        counts=torch.tensor([2, 0]),
        values=torch.tensor([[9.0, 0.0], [4.0, 0.0]]),
        tokens=torch.tensor([[4, -1], [1, -1]]),
    )

    first, second = locate_firings(firings, texts, prompts)

    assert [(found.text, found.token, found.activation) for found in first] == [
        (texts[1], "capital", 9.0),
        (texts[0], "answer", 4.0),
    ]
    assert second == []
