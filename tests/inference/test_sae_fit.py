"""An SAE used otherwise than it was trained is refused, with what to correct or to declare."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from sae_lens import SAE

from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.sae_fit import check_fit
from cg_pipeline.specs import Sae, SaeDirectory
from tests.fakes import tiny_loaded_model, tiny_tokenizer, write_tiny_sae

CHAT, PLAIN, WITH_BOS = (
    tiny_loaded_model(),
    tiny_loaded_model(chat=False),
    tiny_loaded_model(chat=False, adds_bos=True),
)
SPEC = Sae(
    name="tiny_sae",
    title="Tiny",
    model=CHAT.spec,
    hookpoint="blocks.1.hook_resid_post",
    weights=SaeDirectory(path="sae"),
    d_sae=48,
    licence="MIT",
)


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., None]:
    """Checks a tiny SAE with some metadata against a spec and a model."""

    def check(reader: LoadedModel = PLAIN, spec: Sae = SPEC, **metadata: object) -> None:
        write_tiny_sae(tmp_path, **metadata)  # type: ignore[arg-type]
        check_fit(spec, SAE.load_from_disk(tmp_path), reader)

    return check


@pytest.mark.parametrize("reader", [CHAT, PLAIN, WITH_BOS])
def test_what_metadata_do_not_say_is_not_refused(check: Callable[..., None], reader: LoadedModel) -> None:
    check(reader)


@pytest.mark.parametrize(
    ("reader", "prepend_bos"), [(CHAT, False), (PLAIN, False), (WITH_BOS, True)], ids=["chat", "plain", "bos"]
)
def test_prompts_that_begin_as_in_training_pass(
    check: Callable[..., None], reader: LoadedModel, prepend_bos: bool
) -> None:
    check(reader, prepend_bos=prepend_bos)


@pytest.mark.parametrize(
    ("reader", "prepend_bos", "sentence"),
    [
        (
            WITH_BOS,
            False,
            r"on texts without a BOS token \(prepend_bos=False\); prompts of model 'tiny' are read with one",
        ),
        (
            PLAIN,
            True,
            r"on texts with a BOS token \(prepend_bos=True\); prompts of model 'tiny' are read without one",
        ),
    ],
)
def test_a_stray_or_missing_bos_is_refused_unless_accepted(
    check: Callable[..., None], reader: LoadedModel, prepend_bos: bool, sentence: str
) -> None:
    """F20, F21."""
    with pytest.raises(ValueError, match=sentence):
        check(reader, prepend_bos=prepend_bos)
    with pytest.raises(ValueError, match=r'accepts=\("bos",\)'):
        check(reader, prepend_bos=prepend_bos, spec=replace(SPEC, accepts=("context",)))
    check(reader, prepend_bos=prepend_bos, spec=replace(SPEC, accepts=("bos",)))


def test_two_bos_are_refused_whatever_was_accepted(check: Callable[..., None]) -> None:
    """F21: a template that writes a BOS, read by a tokenizer that adds one."""
    doubled = "<s><s>{% for m in messages %}{{ m['content'] }}{% endfor %}"
    reader = replace(CHAT, tokenizer=tiny_tokenizer(chat_template=doubled))
    with pytest.raises(ValueError, match="Prompts of model 'tiny' begin with 2 BOS tokens; expected at most"):
        check(reader, prepend_bos=True, spec=replace(SPEC, accepts=("bos",)))


def test_longer_texts_than_in_training_are_refused_unless_accepted(check: Callable[..., None]) -> None:
    check(context_size=512)
    sentence = "trained on contexts of 128 tokens; model 'tiny' reads up to 512"
    with pytest.raises(ValueError, match=sentence):
        check(context_size=128)
    check(context_size=128, spec=replace(SPEC, accepts=("context",)))


def test_another_model_on_purpose_is_named(check: Callable[..., None]) -> None:
    """F24: an SAE of a base model reads its instruct form only where the spec says of which base."""
    sentence = r"was trained on model 'base-7b'; its spec's model is 'tiny'.* say trained_on='base-7b'\."
    with pytest.raises(ValueError, match=sentence):
        check(model_name="base-7b")
    check(model_name="base-7b", spec=replace(SPEC, trained_on="owner/Base-7B"))
    with pytest.raises(ValueError, match="was trained on model 'tiny'; its spec's trained_on is 'base-7b'"):
        check(spec=replace(SPEC, trained_on="base-7b"))


def test_unfolded_whitening_is_refused(tmp_path: Path) -> None:
    """F26: its matrices are not in the files, and without them the SAE reads noise."""
    sae = write_tiny_sae(tmp_path)
    sae.cfg.normalize_activations = "covariance_whitening"
    with pytest.raises(ValueError, match="Save it after sae-lens's fold_activation_whitening"):
        check_fit(SPEC, sae, PLAIN)


def test_a_width_that_the_weights_do_not_have_is_refused(tmp_path: Path) -> None:
    """F25: settings that lie about the weights."""
    sae = write_tiny_sae(tmp_path)
    sae.W_dec = torch.nn.Parameter(sae.W_dec[:40])
    with pytest.raises(ValueError, match="has 40 latents; its spec says 48"):
        check_fit(SPEC, sae, PLAIN)
