"""The embedded model, SAE and suite for real: loading, batching, fidelity, and χ against the slow oracle."""

import hashlib
import json
import time

import numpy as np
import pytest

from cg_pipeline import pipeline
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.environment import CHECKOUT
from cg_pipeline.metrics import METRICS
from cg_pipeline.models import MODELS
from cg_pipeline.protocols import Generation
from cg_pipeline.records import ConceptActivations, Example, Score
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.specs import SaeDirectory
from cg_pipeline.studies import STUDIES
from tests import oracle
from tests.closeness import relative_distances

pytestmark = [pytest.mark.real, pytest.mark.timeout(1200)]

STUDY = STUDIES["embedded"]
MODEL = MODELS[STUDY.models[0]]
SAE = SAES[MODEL.reader]
DATA = CHECKOUT / "data"
CACHE = DATA / "cache"


@pytest.fixture(scope="session")
def loaded():
    pytest.importorskip("torch")
    from cg_pipeline.inference.models import load_model

    return load_model(MODEL, cache_dir=CACHE, data_dir=DATA)


def encoder_of(loaded, batch_tokens: int):
    from cg_pipeline.inference.encoder import SaeEncoder

    return SaeEncoder(SAE, loaded, data_dir=DATA, batch_tokens=batch_tokens)


def model_of(loaded, batch_tokens: int):
    from cg_pipeline.inference.language_model import LanguageModel

    return LanguageModel(loaded, batch_tokens=batch_tokens)


def examples_of(name: str, n: int | None = None) -> list[Example]:
    return read_examples(BENCHMARKS[name], DATA)[:n]


@pytest.fixture(scope="session")
def suite_activations(loaded) -> dict[str, ConceptActivations]:
    encoder = encoder_of(loaded, 4096)
    return {name: pipeline.read_concepts(examples_of(name), encoder) for name in STUDY.benchmarks}


def test_a_converted_model_loads_in_three_seconds(loaded) -> None:
    from cg_pipeline.inference.models import load_model

    def seconds() -> float:
        started = time.process_time()
        load_model(MODEL, cache_dir=CACHE, data_dir=DATA)
        return time.process_time() - started

    assert min(seconds() for _ in range(2)) < 3.0


@pytest.mark.parametrize("name", ["pronouns", "vocabulary"])
def test_batched_choices_equal_unbatched_ones(loaded, name: str) -> None:
    """Fault F6: same scores whatever the batch; log-probabilities of each example within 1e-4 relative."""
    examples, policy = examples_of(name, 24), POLICIES[BENCHMARKS[name].scoring]
    together = model_of(loaded, 4096).choose(examples)
    alone = model_of(loaded, 1).choose(examples)
    backwards = model_of(loaded, 700).choose(examples[::-1])[::-1]
    for other in (alone, backwards):
        assert pipeline.score(policy, examples, other) == pipeline.score(policy, examples, together)
        found, expected = ([done.choice_logprobs for done in answers] for answers in (other, together))
        assert relative_distances(found, expected).max() <= 1e-4


def test_batched_answers_equal_unbatched_ones(loaded) -> None:
    """Fault F6 for generated text."""
    examples = examples_of("arithmetic", 6)
    together = model_of(loaded, 4096).generate(examples, Generation(max_new_tokens=16))
    alone = model_of(loaded, 1).generate(examples[::-1], Generation(max_new_tokens=16))[::-1]
    assert [completion.text for completion in alone] == [completion.text for completion in together]


def test_batched_activations_equal_unbatched_ones(loaded) -> None:
    """Saliency of each example within 1e-4 relative (‖a - b‖₂ / ‖b‖₂), whatever the batch size and order."""
    examples = [example for name in STUDY.benchmarks for example in examples_of(name, 3)]
    together = pipeline.read_concepts(examples, encoder_of(loaded, 4096)).matrix().toarray()
    alone = pipeline.read_concepts(examples, encoder_of(loaded, 1)).matrix().toarray()
    backwards = pipeline.read_concepts(examples[::-1], encoder_of(loaded, 300)).matrix().toarray()[::-1]
    for other in (alone, backwards):
        assert relative_distances(other, together).max() <= 1e-4


def figures_of_card() -> dict[str, float]:
    """What the SAE's directory says of it, measured on all prompts of the suite when it was trained."""
    assert isinstance(SAE.weights, SaeDirectory)
    return json.loads((DATA / SAE.weights.path / "figures.json").read_text(encoding="utf-8"))["check_texts"]


def test_sae_is_faithful_on_the_suite(loaded) -> None:
    """Explained variance ≥ 0.80 on content tokens, all finite: every fifth prompt of each benchmark.

    All prompts would take minutes; the figure that the SAE ships with is from all of them.
    """
    import torch

    from cg_pipeline.inference.harvest import read_states
    from cg_pipeline.inference.reading_plan import prompt_sequence
    from cg_pipeline.inference.sae_quality import sae_quality
    from cg_pipeline.inference.saes import load_sae

    prompts = [example.prompt for name in STUDY.benchmarks for example in examples_of(name)[::5]]
    sequences = [prompt_sequence(loaded, prompt) for prompt in prompts]
    states = read_states(loaded, SAE.hookpoint, sequences)
    figures = sae_quality(load_sae(SAE, loaded, data_dir=DATA), states)
    assert torch.isfinite(states).all()
    assert figures["explained_variance"] >= 0.80, figures
    assert figures["explained_variance"] == pytest.approx(figures_of_card()["explained_variance"], abs=0.02)
    assert SAE.training
    assert figures["l0"] == SAE.training.k
    assert figures["finite"] == 1.0, figures
    assert torch.get_default_dtype() == torch.float32


def test_few_concepts_are_dead_on_the_suite(suite_activations) -> None:
    """At most 5 % of the latents fire on no prompt, by the activations of every prompt of the suite."""
    fired = np.unique(np.concatenate([found.concept_ids for found in suite_activations.values()]))
    dead_share = 1 - len(fired) / SAE.d_sae
    assert dead_share <= 0.05
    assert dead_share == pytest.approx(figures_of_card()["dead_share"], abs=0.005)
    for name, found in suite_activations.items():
        assert np.isfinite(found.saliency).all(), name
        assert (found.saliency > 0).all(), name


def test_shipped_weights_are_small_and_open_in_sae_lens() -> None:
    from sae_lens import SAE as SaeLensSae

    assert isinstance(SAE.weights, SaeDirectory)
    directory = DATA / SAE.weights.path
    weights = directory / "sae_weights.safetensors"
    assert weights.stat().st_size <= 12_000_000
    opened = SaeLensSae.load_from_disk(directory)
    assert (opened.cfg.d_sae, opened.cfg.d_in) == (SAE.d_sae, 576)
    assert (directory / "README.md").read_text(encoding="utf-8").startswith("#")


def pseudo_scores(name: str, activations: ConceptActivations) -> list[Score]:
    """Scores drawn from each id, every seventh example unscored: χ does not care where scores come from."""
    return [_score(name, example_id) for example_id in activations.example_ids]


def _score(name: str, example_id: str) -> Score:
    number = int(hashlib.sha256(example_id.encode()).hexdigest(), 16) % 7
    value = None if number == 6 else float(number % 2)
    outcome = "unscored" if value is None else "right" if value else "wrong"
    reason = "unparsed" if value is None else ""
    return Score(
        model=MODEL.name, benchmark=name, example_id=example_id, outcome=outcome, value=value, reason=reason
    )


def test_metrics_equal_the_oracle_on_the_embedded_suite(suite_activations) -> None:
    """χ_bench, χ_model and their company within 1e-6 of loops over examples, all concepts and benchmarks."""
    checked = 0
    for name, activations in suite_activations.items():
        scores = pseudo_scores(name, activations)
        frame = pipeline.measure_concepts(MODEL.name, name, activations, scores, METRICS, STUDY)
        values = [score.value for score in scores]
        dense = activations.matrix().toarray().tolist()
        slow = oracle.OracleBenchmark(dense, values, SAE.d_sae)
        grand_mean = oracle.average_saliency(slow, "grand_mean")
        for concept, row in enumerate(frame.to_dict("records")):
            expected = {
                "coverage": oracle.coverage(slow, concept, "none") / grand_mean,
                "performance": oracle.performance(slow, concept),
                "lift": oracle.lift(slow, concept),
                "n_eff": oracle.n_eff(slow, concept),
                "n_examples": oracle.n_examples(slow, concept),
                "outcome_correlation": oracle.outcome_correlation(slow, concept),
            }
            for metric, value in expected.items():
                found = row[metric]
                if value is None:
                    assert np.isnan(found), (name, concept, metric)
                else:
                    assert abs(found - value) <= 1e-6, (name, concept, metric, found, value)
                    checked += 1
    assert checked > 100_000


def test_every_example_is_read(suite_activations) -> None:
    for name, activations in suite_activations.items():
        assert (activations.n_tokens > 0).all(), name
        assert len(activations.example_ids) == len(examples_of(name))
