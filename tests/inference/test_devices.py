"""Words for devices."""

import pytest
import torch

from cg_pipeline.inference.devices import resolve_device


def test_auto_is_a_device_that_works() -> None:
    assert torch.ones(1, device=resolve_device("auto")).item() == 1.0


def test_a_named_device_is_taken_as_it_is() -> None:
    assert resolve_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("word", ["gpu", "cuda:99"])
def test_an_impossible_device_says_what_is_possible(word: str) -> None:
    with pytest.raises(ValueError, match=rf"Device '{word}' cannot be used here .* expected 'auto', 'cpu'"):
        resolve_device(word)
