"""Figures of a fit against slow and obvious ways to get them."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sae_lens import SAE as SaeLensSae

from cg_pipeline.health_records import PLACES, FitArrays, ReaderFit
from cg_pipeline.inference import reader_fit
from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.inference.fit_sums import FitSums
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.prompts import render_prompt
from cg_pipeline.inference.sae_quality import sae_quality
from cg_pipeline.specs import Sae, SaeDirectory
from tests.fakes import tiny_loaded_model, write_tiny_sae
from tests.inference.fitted import (
    D_MODEL,
    D_SAE,
    HOOKPOINT,
    TEXTS,
    content_states,
    fitted_sae,
    fitted_spec,
    on_one_thread,
    taught_model,
)

Case = tuple[LoadedModel, Path, ReaderFit, FitArrays]


@pytest.fixture(scope="module", params=["chat", "plain with BOS"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    chat = request.param == "chat"
    directory = tmp_path_factory.mktemp("fit")
    with on_one_thread():
        reader = taught_model(chat=chat, adds_bos=not chat)
        fitted_sae(directory / "sae", reader)
        return reader, directory, *SaeEncoder(fitted_spec(reader), reader, data_dir=directory).fit(TEXTS)


def sae_of(directory: Path) -> SaeLensSae:
    return SaeLensSae.load_from_disk(directory / "sae")


def test_variance_and_l0_are_those_that_gate_a_training(case: Case) -> None:
    reader, directory, fit, _ = case
    states = content_states(reader, HOOKPOINT)
    figures = sae_quality(sae_of(directory), states)
    assert fit.n_tokens == len(states)
    assert fit.explained_variance == pytest.approx(figures["explained_variance"], abs=1e-6)
    assert fit.l0 == pytest.approx(figures["l0"])
    assert fit.content_explained_variance == fit.explained_variance  # nothing else counts by default


def test_counts_by_place_are_those_of_a_loop(case: Case) -> None:
    reader, directory, _, arrays = case
    sae, bos = sae_of(directory), reader.tokenizer.bos_token_id
    expected, tokens = np.zeros_like(arrays.firings), np.zeros_like(arrays.n_tokens)
    for text in TEXTS:
        prompt = render_prompt(reader.tokenizer, reader.spec, text)
        hidden = reader.module(
            torch.from_numpy(prompt.input_ids)[None], output_hidden_states=True
        ).hidden_states[2][0]
        seen_content, begins = False, True
        for token, content, state in zip(prompt.input_ids, prompt.content_mask, hidden, strict=True):
            begins = begins and token == bos
            place = "bos" if begins else "template" if not content else "content" if seen_content else "first"
            seen_content = seen_content or content
            tokens[PLACES.index(place)] += 1
            expected[PLACES.index(place)] += (sae.encode(state[None])[0] > 0).numpy()
    assert arrays.n_tokens.tolist() == tokens.tolist()
    assert (arrays.firings != expected).mean() < 1e-3  # a latent at the edge of the top k may tip over
    assert arrays.counted_firings[:2].tolist() == arrays.firings[:2].tolist()
    assert not arrays.counted_firings[2:].any()


def loss_of(reader: LoadedModel, change) -> float:
    """Cross-entropy of content tokens after content tokens, text by text, states changed by hand."""
    total, n = 0.0, 0
    for text in TEXTS[: reader_fit.N_SPLICED]:
        prompt = render_prompt(reader.tokenizer, reader.spec, text)
        content = torch.from_numpy(prompt.content_mask)

        def hook(_module, _inputs, output, content=content):
            states = (output if torch.is_tensor(output) else output[0]).clone()
            states[0, content] = change(states[0, content])
            return states if torch.is_tensor(output) else (states, *output[1:])

        handle = reader.module.model.layers[1].register_forward_hook(hook)
        ids = torch.from_numpy(prompt.input_ids)[None]
        logits = reader.module(ids).logits[0, :-1]
        handle.remove()
        wanted = content[1:] & content[:-1]
        total += float(torch.nn.functional.cross_entropy(logits[wanted], ids[0, 1:][wanted], reduction="sum"))
        n += int(wanted.sum())
    return total / n


def test_losses_are_those_of_a_loop(case: Case) -> None:
    reader, directory, fit, _ = case
    sae, mean = sae_of(directory).requires_grad_(False), content_states(reader, HOOKPOINT).mean(0)
    bare = loss_of(reader, lambda states: states)
    spliced = loss_of(reader, lambda states: sae.decode(sae.encode(states)))
    ablated = loss_of(reader, lambda states: mean.expand_as(states))
    zeroed = loss_of(reader, torch.zeros_like)
    found = (fit.loss, fit.spliced_loss, fit.mean_loss, fit.zero_loss)
    assert found == pytest.approx((bare, spliced, ablated, zeroed), rel=1e-4)
    assert fit.loss_recovered == pytest.approx((ablated - spliced) / (ablated - bare), rel=1e-3)
    assert fit.zero_loss_recovered == pytest.approx((zeroed - spliced) / (zeroed - bare), rel=1e-3)


def test_a_layer_is_probed_like_the_one_that_is_read(case: Case) -> None:
    reader, directory, fit, _ = case
    assert fit.hookpoints == tuple(f"blocks.{layer}.hook_resid_post" for layer in range(4))
    assert fit.hookpoint_explained_variance[1] == pytest.approx(fit.scale_explained_variance[3], abs=1e-5)
    few = SaeEncoder(fitted_spec(reader), reader, data_dir=directory).fit(TEXTS[: reader_fit.N_PROBED])[0]
    assert fit.probed_explained_variance == pytest.approx(few.explained_variance, abs=1e-5)
    assert fit.n_probed_tokens == few.n_tokens


@pytest.mark.parametrize("batch_tokens", [60, 300])
def test_figures_do_not_depend_on_batching(case: Case, batch_tokens: int) -> None:
    """F6."""
    reader, directory, fit, arrays = case
    encoder = SaeEncoder(fitted_spec(reader), reader, data_dir=directory, batch_tokens=batch_tokens)
    again, counted = encoder.fit(TEXTS)
    for name in ("explained_variance", "loss", "spliced_loss", "mean_loss", "other_bos_explained_variance"):
        assert getattr(again, name) == pytest.approx(getattr(fit, name), rel=1e-4)
    assert (counted.firings != arrays.firings).mean() < 1e-3


def test_a_batch_that_does_not_fit_is_counted_once(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, directory, fit, arrays = case
    add, calls = FitSums.add, []

    def full(self: FitSums, *rows: torch.Tensor) -> None:
        calls.append(1)
        add(self, *rows)
        if len(calls) == 1:  # once its tokens are counted
            raise torch.OutOfMemoryError

    monkeypatch.setattr(FitSums, "add", full)
    again, counted = SaeEncoder(fitted_spec(reader), reader, data_dir=directory).fit(TEXTS)
    assert again.n_tokens == fit.n_tokens
    assert counted.n_tokens.tolist() == arrays.n_tokens.tolist()


def test_a_perfect_reconstruction_recovers_everything(tmp_path: Path) -> None:
    from sae_lens import StandardSAE, StandardSAEConfig
    from sae_lens.saes.sae import SAEMetadata

    reader = taught_model()
    metadata = SAEMetadata(model_name="tiny", hook_name=HOOKPOINT)
    both = StandardSAE(StandardSAEConfig(d_in=D_MODEL, d_sae=2 * D_MODEL, metadata=metadata))
    with torch.no_grad():  # x = max(x, 0) - max(-x, 0)
        eye = torch.eye(D_MODEL)
        both.W_enc.copy_(torch.cat([eye, -eye], 1))
        both.W_dec.copy_(torch.cat([eye, -eye]))
        both.b_enc.zero_()
        both.b_dec.zero_()
    both.save_model(tmp_path / "sae")
    spec = fitted_spec(reader, d_sae=2 * D_MODEL)
    fit, arrays = SaeEncoder(spec, reader, data_dir=tmp_path).fit(TEXTS)
    assert fit.explained_variance == pytest.approx(1.0)
    assert fit.loss_recovered == pytest.approx(1.0)
    assert fit.spliced_loss == pytest.approx(fit.loss)
    assert fit.l0 == pytest.approx(D_MODEL)
    assert (arrays.cosine <= 1e-6).all()  # its nearest are at right angles; opposite ones are not near


def test_directions_are_compared(case: Case) -> None:
    _, directory, _, arrays = case
    unit = torch.nn.functional.normalize(sae_of(directory).W_dec.detach(), dim=1)
    cosines = unit @ unit.T
    cosines.fill_diagonal_(-2.0)
    assert arrays.nearest.tolist() == cosines.argmax(1).tolist()
    np.testing.assert_allclose(arrays.cosine, cosines.amax(1), rtol=1e-5)
    assert len(arrays.nearest) == D_SAE


def test_texts_without_a_token_are_refused(case: Case) -> None:
    reader, directory, _, _ = case
    encoder = SaeEncoder(fitted_spec(reader), reader, data_dir=directory)
    with pytest.raises(ValueError, match=r"2 sampled texts hold no token that counts .*token_mask='content'"):
        encoder.fit(["", ""])


def test_texts_too_short_to_foretell_have_no_loss(case: Case) -> None:
    reader, directory, _, _ = case
    fit, _ = SaeEncoder(fitted_spec(reader), reader, data_dir=directory).fit(["1", "2", "3"])
    assert fit.n_predicted == 0
    assert math.isnan(fit.loss)
    assert math.isnan(fit.loss_recovered)


def test_a_text_that_is_too_long_is_left_out(case: Case) -> None:
    reader, directory, fit, _ = case
    encoder = SaeEncoder(fitted_spec(reader), reader, data_dir=directory)
    long = encoder.fit([*TEXTS, "1 " * 600])[0]
    assert (long.n_examples, long.n_tokens) == (fit.n_examples + 1, fit.n_tokens)


def test_what_counts_is_the_specs(case: Case) -> None:
    reader, directory, fit, arrays = case
    spec = fitted_spec(reader, token_mask="all")
    everything, counted = SaeEncoder(spec, reader, data_dir=directory).fit(TEXTS)
    assert everything.n_tokens == int(arrays.n_tokens.sum()) == int(counted.counted_tokens.sum())
    assert everything.content_explained_variance == pytest.approx(fit.explained_variance, abs=1e-6)
    assert counted.counted_firings.tolist() == counted.firings.tolist()
    assert replace(spec, token_mask="content").token_mask == "content"


def test_a_text_of_all_the_positions_there_are_is_not_tried_with_a_token_more(tmp_path: Path) -> None:
    """Learned positions end: a BOS before such a text would be one too many."""
    reader = tiny_loaded_model("gpt2", chat=False)
    write_tiny_sae(tmp_path / "sae")
    longest = "é" * (int(reader.n_positions) // 2)  # two bytes, a token each
    assert len(render_prompt(reader.tokenizer, reader.spec, longest).input_ids) == reader.n_positions
    spec = Sae(
        name="tiny_sae",
        title="Tiny",
        model=reader.spec,
        hookpoint="blocks.1.hook_resid_post",
        weights=SaeDirectory(path="sae"),
        d_sae=48,
        licence="MIT",
    )
    encoder = SaeEncoder(spec, reader, data_dir=tmp_path)
    alone, _ = encoder.fit([longest])
    assert alone.n_tokens == reader.n_positions
    assert math.isnan(alone.other_bos_explained_variance)
    both, _ = encoder.fit([longest, "The cat sat on the mat."])
    assert math.isfinite(both.other_bos_explained_variance)
