"""Activations of chosen concepts, token by token, against sae-lens on transformers' own hidden states."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sae_lens import SAE

from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.inference.token_firings import join_firings, split_tokens
from cg_pipeline.protocols import FiringReader, TokenReader
from tests.fakes import tiny_loaded_model, write_tiny_sae
from tests.inference.test_encoder import TEXTS, tiny_spec

CHOSEN = [40, 3, 17, 8]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data")
    write_tiny_sae(path / "saes/tiny")
    return path


@pytest.mark.parametrize("batch_tokens", [1, 40, 8192])
def test_they_are_those_of_sae_lens_whatever_the_batches(data_dir: Path, batch_tokens: int):
    """Fault F6: a batch reads as each text alone."""
    model = tiny_loaded_model()
    encoder = SaeEncoder(tiny_spec(model), model, data_dir=data_dir, batch_tokens=batch_tokens)
    sae = SAE.load_from_disk(data_dir / "saes/tiny")

    found = encoder.fire(TEXTS, CHOSEN)

    assert isinstance(encoder, FiringReader)
    assert found.concept_ids == (3, 8, 17, 40)
    for number, text in enumerate(TEXTS):
        prompt = render_prompt(model.tokenizer, model.spec, text)
        ids = torch.from_numpy(prompt.input_ids)[None]
        states = model.module(ids, output_hidden_states=True).hidden_states[2][0]
        expected = sae.encode(states)[torch.from_numpy(prompt.content_mask)][:, [3, 8, 17, 40]]
        here = found.text_of == number
        dense = found.activations.toarray()[here]
        np.testing.assert_allclose(dense, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
        assert (found.starts[here] == prompt.spans[prompt.content_mask][:, 0]).all()
        assert (found.ends[here] == prompt.spans[prompt.content_mask][:, 1]).all()


def test_of_no_texts_there_are_none(data_dir: Path):
    model = tiny_loaded_model()
    found = SaeEncoder(tiny_spec(model), model, data_dir=data_dir).fire([], CHOSEN)
    assert found.activations.shape == (0, 4)
    assert len(found.text_of) == 0


def test_chunks_end_where_they_like():
    chunks = [torch.eye(3), torch.zeros(0, 3), torch.full((2, 3), 2.0)]
    first, second, third = split_tokens(chunks, [1, 4, 0], 3)
    assert first.toarray().tolist() == [[1, 0, 0]]
    assert second.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [2, 2, 2], [2, 2, 2]]
    assert third.shape == (0, 3)


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_activations_that_are_none_are_refused(wrong: float):
    model = tiny_loaded_model()
    prompts = [render_prompt(model.tokenizer, model.spec, "cat")]
    n = int(prompts[0].content_mask.sum())
    found = split_tokens([torch.full((n, 2), wrong)], [n], 2)
    with pytest.raises(ValueError, match="below 0 or not finite"):
        join_firings(prompts, found, (0, 1))


WANTED = [[3, 8], [40], [0, 17, 40], []]


@pytest.mark.parametrize("token_mask", ["content", "no_special", "all"])
@pytest.mark.parametrize("batch_tokens", [1, 40, 8192])
def test_each_text_has_its_own_concepts_on_the_tokens_that_saliency_is_the_mean_of(
    data_dir: Path, batch_tokens: int, token_mask: str
):
    model = tiny_loaded_model()
    spec = tiny_spec(model, token_mask=token_mask)
    encoder = SaeEncoder(spec, model, data_dir=data_dir, batch_tokens=batch_tokens)

    found = encoder.fire_each(TEXTS, WANTED)

    assert isinstance(encoder, TokenReader)
    assert found.concept_ids == (0, 3, 8, 17, 40)
    saliency = encoder.read([str(number) for number in range(len(TEXTS))], TEXTS).matrix().toarray()
    for number, (text, wanted) in enumerate(zip(TEXTS, WANTED, strict=True)):
        prompt = render_prompt(model.tokenizer, model.spec, text)
        here = found.text_of == number
        assert here.sum() == prompt.counted(token_mask).sum()
        assert (found.starts[here] == prompt.spans[prompt.counted(token_mask)][:, 0]).all()
        means = found.activations.toarray()[here].mean(0)
        expected = np.where(np.isin(found.concept_ids, wanted), saliency[number, list(found.concept_ids)], 0)
        np.testing.assert_allclose(means, expected, rtol=1e-5, atol=1e-6)


def test_chunks_of_encoded_tokens_change_nothing(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    model = tiny_loaded_model()
    whole = SaeEncoder(tiny_spec(model), model, data_dir=data_dir).fire_each(TEXTS, WANTED)
    small = SaeEncoder(tiny_spec(model), model, data_dir=data_dir)
    monkeypatch.setattr(small, "_chunk_tokens", 3)
    pieces = small.fire_each(TEXTS, WANTED)
    np.testing.assert_allclose(
        pieces.activations.toarray(), whole.activations.toarray(), rtol=1e-5, atol=1e-6
    )


def test_each_text_needs_its_concepts(data_dir: Path):
    model = tiny_loaded_model()
    encoder = SaeEncoder(tiny_spec(model), model, data_dir=data_dir)
    with pytest.raises(ValueError, match="1 lists of concepts for 2 texts; expected one each"):
        encoder.fire_each(["a", "b"], [[1]])
    assert encoder.fire_each([], []).activations.shape == (0, 0)
    assert encoder.fire_each(["a"], [[]]).activations.nnz == 0
