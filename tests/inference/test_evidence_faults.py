"""Token activations that were read otherwise than the saliency: each planted fault is caught."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cg_pipeline import evidence_checks, pipeline
from cg_pipeline.evidence.assembling import wanted_of
from cg_pipeline.evidence_records import ConceptEvidence
from cg_pipeline.inference.encoder import SaeEncoder
from cg_pipeline.records import Example, Score
from cg_pipeline.specs import Study
from tests.fakes import tiny_loaded_model, write_tiny_sae
from tests.inference.test_encoder import TEXTS, tiny_spec

STUDY = Study(name="s", title="S", models=("tiny",), benchmarks=("quiz",), n_evidence=2)
EXAMPLES = [
    Example(benchmark="quiz", category="any", cluster="", prompt=f"{number} {text}", targets=("x",))
    for number in range(3)
    for text in TEXTS
]
SCORES = [
    Score(
        model="tiny",
        benchmark="quiz",
        example_id=example.example_id,
        outcome="right" if number % 2 else "wrong",
        value=float(number % 2),
    )
    for number, example in enumerate(EXAMPLES)
]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data")
    write_tiny_sae(path / "saes/tiny")
    return path


def encoder(data_dir: Path, seed: int = 0, **changes: object) -> SaeEncoder:
    model = tiny_loaded_model(seed=seed)
    return SaeEncoder(tiny_spec(model, **changes), model, data_dir=data_dir, batch_tokens=60)


def evidence(saliency: SaeEncoder, tokens: SaeEncoder) -> ConceptEvidence:
    read = pipeline.read_concepts(EXAMPLES, saliency)
    strongest = pipeline.choose_evidence(read, SCORES, STUDY)
    wanted = wanted_of(strongest, read)
    asked = [example for example in EXAMPLES if example.example_id in wanted]
    firings = pipeline.read_evidence(asked, wanted, tokens)
    return pipeline.assemble_evidence(strongest, read, SCORES, firings)


def check(found: ConceptEvidence) -> evidence_checks.Finding:
    return evidence_checks.tokens_make_the_saliency(found, tolerance=evidence_checks.TOLERANCE["float32"])


def test_the_same_reader_agrees_with_itself(data_dir: Path):
    found = evidence(encoder(data_dir), encoder(data_dir))
    finding = check(found)
    assert finding.passed, finding.sentence
    assert len(found.concept_ids) > 50
    np.testing.assert_allclose(evidence_checks.token_means(found), found.saliency, rtol=1e-5)
    assert evidence_checks.sides_agree(found, pipeline.mean_scores(SCORES)).passed


@pytest.mark.parametrize("token_mask", ["no_special", "all"])
def test_a_wrong_mask_is_caught(data_dir: Path, token_mask: str):
    assert not check(evidence(encoder(data_dir), encoder(data_dir, token_mask=token_mask))).passed
    assert not check(evidence(encoder(data_dir, token_mask=token_mask), encoder(data_dir))).passed


def test_a_wrong_hookpoint_is_caught(data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    astray = encoder(data_dir)
    monkeypatch.setattr(astray, "_spec", tiny_spec(tiny_loaded_model(), hookpoint="blocks.0.hook_resid_post"))
    finding = check(evidence(encoder(data_dir), astray))
    assert not finding.passed
    assert "same hookpoint and token mask" in finding.sentence


def test_another_model_is_caught(data_dir: Path):
    assert not check(evidence(encoder(data_dir), encoder(data_dir, seed=1))).passed


def test_one_token_too_many_is_caught(data_dir: Path):
    """A stray BOS is one more token: it changes a mean over 20 tokens by a twentieth."""
    found = evidence(encoder(data_dir), encoder(data_dir))
    assert not check(replace(found, n_tokens=found.n_tokens + 1)).passed
