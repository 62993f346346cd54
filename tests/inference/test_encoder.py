"""Reading and describing with an SAE, against sae-lens on transformers' own hidden states."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sae_lens import SAE

from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_answer, render_prompt
from cg_pipeline.protocols import ConceptEncoder
from cg_pipeline.records import ConceptActivations
from cg_pipeline.specs import Sae, SaeDirectory
from tests.fakes import Architecture, tiny_loaded_model, write_tiny_sae
from tests.strategies import TEXT, few

TEXTS = (
    "The cat sat on the mat.",
    "Hi",
    "What is the capital of Japan, and what of France? " * 3,
    "é日本 <|im_end|> 🦜",
)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the tiny SAE lies."""
    path = tmp_path_factory.mktemp("data")
    write_tiny_sae(path / "saes/tiny")
    return path


def tiny_spec(model: LoadedModel, **changes: object) -> Sae:
    spec = Sae(
        name="tiny_sae",
        title="Tiny",
        model=model.spec,
        hookpoint="blocks.1.hook_resid_post",
        weights=SaeDirectory(path="saes/tiny"),
        d_sae=48,
        licence="MIT",
    )
    return replace(spec, **changes)  # type: ignore[arg-type]


def tiny_encoder(data_dir: Path, *, batch_tokens: int = 8192, **changes: object) -> SaeEncoder:
    model = tiny_loaded_model()
    return SaeEncoder(tiny_spec(model, **changes), model, data_dir=data_dir, batch_tokens=batch_tokens)


def read(encoder: SaeEncoder, texts: Sequence[str] = TEXTS) -> ConceptActivations:
    return encoder.read([f"id {text[:9]}" for text in texts], texts)


def naive_saliency(model: LoadedModel, sae: SAE, text: str, token_mask: str = "content") -> np.ndarray:
    """The definition, text by text: a whole forward pass, every token encoded, the counted ones averaged."""
    prompt = render_prompt(model.tokenizer, model.spec, text)
    states = model.module(torch.from_numpy(prompt.input_ids)[None], output_hidden_states=True).hidden_states[
        2
    ][0]
    return sae.encode(states)[torch.from_numpy(prompt.counted(token_mask))].mean(0).detach().numpy()


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("architecture", ["llama", "gpt2", "gpt_neox"])
def test_saliency_is_the_mean_of_sae_lens_activations(
    architecture: Architecture, chat: bool, data_dir: Path
) -> None:
    """F6, F23: a batch reads as each text alone, at the right layer."""
    model = tiny_loaded_model(architecture, chat=chat, adds_bos=True)
    sae = SAE.load_from_disk(data_dir / "saes/tiny")

    result = read(SaeEncoder(tiny_spec(model), model, data_dir=data_dir)).matrix().toarray()

    for row, text in zip(result, TEXTS, strict=True):
        np.testing.assert_allclose(row, naive_saliency(model, sae, text), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("token_mask", ["content", "no_special", "all"])
def test_only_counted_tokens_enter_the_mean(token_mask: str, data_dir: Path) -> None:
    """F20: BOS, template and padding stay out unless the spec says otherwise; padding always does."""
    encoder, model = tiny_encoder(data_dir, token_mask=token_mask), tiny_loaded_model()
    sae = SAE.load_from_disk(data_dir / "saes/tiny")

    result = read(encoder)

    for row, text in zip(result.matrix().toarray(), TEXTS, strict=True):
        np.testing.assert_allclose(row, naive_saliency(model, sae, text, token_mask), rtol=1e-4, atol=1e-5)
    counted = [
        int(render_prompt(model.tokenizer, model.spec, text).counted(token_mask).sum()) for text in TEXTS
    ]
    assert result.n_tokens.tolist() == counted


TURNS = (
    ("What is the capital of Japan?", "Tokyo."),
    ("Hi", "é日本 <|im_end|> 🦜"),
    ("The cat sat", " on the mat"),
)


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("token_mask", ["content", "all"])
def test_an_answer_is_read_after_its_question(token_mask: str, chat: bool, data_dir: Path) -> None:
    """Only its own tokens count, by any mask, and their states have seen the question."""
    model = tiny_loaded_model(chat=chat, adds_bos=True)
    sae = SAE.load_from_disk(data_dir / "saes/tiny")
    encoder = SaeEncoder(tiny_spec(model, token_mask=token_mask), model, data_dir=data_dir)

    found = encoder.read_answers(["a", "b", "c"], TURNS)

    assert found.example_ids == ("a", "b", "c")
    for row, turn in zip(found.matrix().toarray(), TURNS, strict=True):
        prompt = render_answer(model.tokenizer, model.spec, *turn)
        ids = torch.from_numpy(prompt.input_ids)[None]
        states = model.module(ids, output_hidden_states=True).hidden_states[2][0]
        expected = sae.encode(states)[torch.from_numpy(prompt.content_mask)].mean(0).detach().numpy()
        np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-5)
    others = encoder.read_answers(["a"], [("What is two plus three?", TURNS[0][1])]).matrix().toarray()[0]
    assert not np.allclose(others, found.matrix().toarray()[0])


def test_an_empty_answer_gets_an_empty_row(data_dir: Path) -> None:
    found = tiny_encoder(data_dir).read_answers(["a", "b"], [("Hi", ""), ("Hi", "Yes")])

    assert found.n_tokens[0] == 0 < found.n_tokens[1]
    assert found.indptr[1] == 0 < found.indptr[2]


def test_reading_does_not_depend_on_batching_or_order(data_dir: Path) -> None:
    """F6."""
    together = read(tiny_encoder(data_dir)).matrix().toarray()

    alone = read(tiny_encoder(data_dir, batch_tokens=1)).matrix().toarray()
    backwards = read(tiny_encoder(data_dir), TEXTS[::-1]).matrix().toarray()[::-1]

    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(backwards, together, rtol=1e-4, atol=1e-6)


@few(0.2)
@given(st.lists(TEXT, max_size=4))
def test_any_texts_make_valid_records(data_dir: Path, texts: list[str]) -> None:
    result = tiny_encoder(data_dir).read([str(i) for i in range(len(texts))], texts)

    assert result.saliency.dtype == np.float32
    assert (result.saliency > 0).all()
    assert all(
        (np.diff(result.concept_ids[a:b]) > 0).all()
        for a, b in zip(result.indptr, result.indptr[1:], strict=False)
    )
    assert len(result.n_tokens) == len(texts) == len(result.indptr) - 1


def test_a_text_without_content_gets_an_empty_row(data_dir: Path) -> None:
    result = read(tiny_encoder(data_dir), ("", "The cat"))

    assert result.n_tokens[0] == 0
    assert result.indptr[1] == 0 < result.indptr[2]


def test_a_text_beyond_the_models_positions_is_left_out_and_logged(
    data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """F9: never cut; its row is empty and says 0 tokens."""
    with caplog.at_level("WARNING"):
        result = read(tiny_encoder(data_dir), ("cat " * 600, "The cat"))

    assert result.n_tokens[0] == 0 < result.n_tokens[1]
    assert "Left out a text of" in caplog.text
    assert "tiny has 512 positions" in caplog.text


def test_ids_without_texts_are_refused(data_dir: Path) -> None:
    with pytest.raises(ValueError, match="2 ids for 1 texts; expected one each"):
        tiny_encoder(data_dir).read(["a", "b"], ["text"])


def test_it_is_a_concept_encoder(data_dir: Path) -> None:
    encoder = tiny_encoder(data_dir)

    assert isinstance(encoder, ConceptEncoder)
    assert encoder.n_concepts == 48


def test_directions_are_unit_decoder_rows(data_dir: Path) -> None:
    """F26: a latent with a zero direction keeps it instead of turning into NaN."""
    encoder = tiny_encoder(data_dir)
    encoder._sae.W_dec[5] = 0.0

    directions = encoder.directions()

    norms = np.linalg.norm(directions, axis=1)
    np.testing.assert_allclose(np.delete(norms, 5), 1.0, rtol=1e-5)
    assert norms[5] == 0.0
    sae = SAE.load_from_disk(data_dir / "saes/tiny")
    np.testing.assert_allclose(directions[0], (sae.W_dec[0] / sae.W_dec[0].norm()).detach(), rtol=1e-5)


def test_description_agrees_with_reading(data_dir: Path) -> None:
    """A concept is dead exactly when no text has saliency for it; rates come from the same tokens."""
    encoder = tiny_encoder(data_dir, dense_threshold=0.3)
    concepts = encoder.describe(TEXTS)
    saliency = read(encoder).matrix().toarray().sum(0)

    assert [concept.concept_id for concept in concepts] == list(range(48))
    assert {concept.status for concept in concepts} == {"alive", "dead", "dense"}
    for concept, seen in zip(concepts, saliency, strict=True):
        assert (
            (concept.status == "dead")
            == (seen == 0.0)
            == (concept.firing_rate == 0.0)
            == (not concept.top_tokens)
        )
        assert (concept.status == "dense") == (concept.firing_rate > 0.3)
        assert concept.label.startswith("never fires") == (concept.status == "dead")
        assert concept.promoted_tokens
        assert (concept.sae, concept.label_source) == ("tiny_sae", "automatic")
    k_per_token = sum(concept.firing_rate for concept in concepts)
    assert 3.0 < k_per_token <= 4.0 + 1e-9  # k = 4, less the few that ReLU zeroes


def test_contexts_mark_a_token_of_the_text(data_dir: Path) -> None:
    concepts = tiny_encoder(data_dir).describe(TEXTS)

    shown = [(concept, context) for concept in concepts for context in concept.contexts]
    assert shown
    for concept, context in shown:
        assert (
            any(f"⟦{token}⟧".casefold() in context.casefold() for token in concept.top_tokens)
            or len(concept.top_tokens) == 8
        )
        assert not any(mark in context for mark in ("Ġ", "\ufffd", "\n"))


def test_description_does_not_depend_on_batching(data_dir: Path) -> None:
    """F6."""
    together = tiny_encoder(data_dir).describe(TEXTS)
    alone = tiny_encoder(data_dir, batch_tokens=1).describe(TEXTS)

    assert [(c.label, c.firing_rate, c.contexts) for c in together] == [
        (c.label, c.firing_rate, c.contexts) for c in alone
    ]
