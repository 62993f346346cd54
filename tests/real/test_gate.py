"""The gate on the embedded reader: in its place it passes, one layer on it does not, two BOS are noticed."""

import json
import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.environment import CHECKOUT
from cg_pipeline.health.gate import gate_sentence, judge_fit, passes_gate
from cg_pipeline.health.sample import sample_examples
from cg_pipeline.models import MODELS
from cg_pipeline.saes import SAES
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.specs import Sae, SaeDirectory
from cg_pipeline.studies import STUDIES

pytestmark = [pytest.mark.real, pytest.mark.timeout(1200)]

STUDY = STUDIES["embedded"]
SAE = SAES[MODELS[STUDY.models[0]].reader]
DATA = CHECKOUT / "data"


@pytest.fixture(scope="module")
def loaded():
    pytest.importorskip("torch")
    from cg_pipeline.inference.models import load_model

    return load_model(SAE.model, cache_dir=DATA / "cache", data_dir=DATA)


def prompts(size: int) -> list[str]:
    asked = {name: read_examples(BENCHMARKS[name], DATA) for name in STUDY.benchmarks}
    return [example.prompt for example in sample_examples(asked, size)]


def fit_of(sae: Sae, loaded, size: int, data_dir: Path = DATA):
    from cg_pipeline.inference.encoder import SaeEncoder

    return SaeEncoder(sae, loaded, data_dir=data_dir).fit(prompts(size))


def test_in_its_place_it_passes_with_the_figures_of_its_card(loaded) -> None:
    fit, arrays = fit_of(SAE, loaded, 128)
    found = judge_fit(fit, SAE)
    assert passes_gate(found), gate_sentence(found)
    assert SAE.published
    assert fit.explained_variance == pytest.approx(SAE.published.explained_variance, abs=0.01)
    assert fit.l0 == SAE.published.l0
    assert fit.loss_recovered > 0.95
    others = [
        value
        for place, value in zip(fit.hookpoints, fit.hookpoint_explained_variance, strict=True)
        if place != fit.hookpoint
    ]
    assert fit.probed_explained_variance - max(others) > 0.03
    assert (arrays.cosine < 0.6).all()


@pytest.mark.parametrize("layer", [11, 13])
def test_one_layer_off_it_does_not(loaded, tmp_path: Path, layer: int) -> None:
    """With settings that claim the place, so that only its figures give it away."""
    assert isinstance(SAE.weights, SaeDirectory)
    directory = Path(shutil.copytree(DATA / SAE.weights.path, tmp_path / "sae"))
    settings, place = directory / "cfg.json", f"blocks.{layer}.hook_resid_post"
    claimed = json.loads(settings.read_text(encoding="utf-8"))
    claimed["metadata"]["hook_name"] = place
    settings.write_text(json.dumps(claimed), encoding="utf-8")
    moved = replace(SAE, hookpoint=place, weights=SaeDirectory(path="sae"))
    found = judge_fit(fit_of(moved, loaded, 20, tmp_path)[0], moved)
    assert not passes_gate(found)
    assert "likely cause: wrong layer, for it explains 0.8" in gate_sentence(found)
    assert SAE.hookpoint in gate_sentence(found)


def test_two_bos_are_noticed(loaded) -> None:
    """F21: a template that writes one more."""
    from cg_pipeline.inference.prompts import render_prompt
    from cg_pipeline.inference.reader_fit import measure_fit
    from cg_pipeline.inference.saes import load_sae

    tokenizer = deepcopy(loaded.tokenizer)
    tokenizer.chat_template = tokenizer.bos_token + tokenizer.chat_template
    doubled = replace(loaded, tokenizer=tokenizer)
    with pytest.raises(ValueError, match="begin with 2 BOS tokens; expected at most one"):
        load_sae(SAE, doubled, data_dir=DATA)
    sae = load_sae(SAE, loaded, data_dir=DATA)
    rendered = [render_prompt(tokenizer, SAE.model, text) for text in prompts(20)]
    found = judge_fit(measure_fit(SAE, sae, doubled, rendered, 4096)[0], SAE)
    assert not passes_gate(found)
    assert "a prompt begins with 2 BOS tokens, expected at most 1" in gate_sentence(found)
    assert "stray BOS" in gate_sentence(found)
