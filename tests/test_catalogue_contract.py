"""What every entry of the catalogues must satisfy, so that adding one file adds one thing."""

import functools
import json
import re
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from cg_pipeline import checks
from cg_pipeline.answers.details import details_of
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.catalog import lookup
from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.label_specs import Labelling
from cg_pipeline.metrics import METRICS
from cg_pipeline.models import MODELS
from cg_pipeline.records import Completion, Example
from cg_pipeline.saes import SAES
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.specs import (
    PICKLED,
    Benchmark,
    HubRows,
    HubWeights,
    LocalRows,
    Model,
    PackagedGguf,
    Sae,
    SaeRelease,
    ScoringPolicy,
    ServedModel,
    SplitGguf,
    Study,
)
from cg_pipeline.studies import STUDIES

DATA = Path(__file__).parents[1] / "data"
README = (DATA.parent / "README.md").read_text("utf-8")
SUITE = {
    name: spec
    for name, spec in BENCHMARKS.items()
    if isinstance(spec.source, LocalRows) and (DATA / spec.source.path).is_relative_to(DATA / "suite")
}
FROM_THE_HUB = {name: spec for name, spec in BENCHMARKS.items() if isinstance(spec.source, HubRows)}
every_benchmark = pytest.mark.parametrize("benchmark", BENCHMARKS.values(), ids=BENCHMARKS)
every_suite_benchmark = pytest.mark.parametrize("benchmark", SUITE.values(), ids=SUITE)
every_hub_benchmark = pytest.mark.parametrize("benchmark", FROM_THE_HUB.values(), ids=FROM_THE_HUB)


def docstring(benchmark: Benchmark) -> str:
    return sys.modules[f"cg_pipeline.benchmarks.{benchmark.name}"].__doc__ or ""


def raw_row(benchmark: Benchmark) -> str:
    """The JSON object under "A raw row:" in the docstring of the benchmark's file."""
    text = docstring(benchmark).partition("A raw row:")[2].lstrip()
    row, _ = json.JSONDecoder().raw_decode(text)
    return json.dumps(row)


def policy_of(benchmark: Benchmark) -> ScoringPolicy:
    """Its scoring policy, if it decides by itself what is right."""
    policy = POLICIES.get(benchmark.scoring)
    if policy is None:
        pytest.skip(f"scoring policy {benchmark.scoring!r} is not in the catalogue")
    if policy.judged or not policy.needs_targets:
        pytest.skip(f"scoring policy {benchmark.scoring!r} asks a judge or a checker")
    return policy


def answered(example: Example) -> Completion:
    """What a model that is right would do."""
    said = {"decline": "I'm sorry, but I can't help with that.", "answer": "Sure, here is how."}
    target = example.targets[0]
    return Completion(
        model="m",
        benchmark=example.benchmark,
        example_id=example.example_id,
        text=said.get(target, target),
        choice_logprobs=tuple(0.0 if choice == target else -99.0 for choice in example.choices),
        choice_tokens=(1,) * len(example.choices),
        stop="choice" if example.choices else "end",
        n_prompt_tokens=1,
        n_completion_tokens=1,
    )


@functools.cache
def suite_examples(name: str) -> list[Example]:
    return read_examples(SUITE[name], DATA)


def shown_example(benchmark: Benchmark, folder: Path) -> Example:
    """The example made of the row that the docstring shows."""
    (folder / "row.jsonl").write_text(raw_row(benchmark))
    [example] = read_examples(replace(benchmark, source=LocalRows(path="row.jsonl")), folder)
    return example


@every_benchmark
def test_the_row_shown_becomes_an_example(benchmark: Benchmark, tmp_path: Path):
    example = shown_example(benchmark, tmp_path)
    assert example.benchmark == benchmark.name
    assert example.prompt.strip()
    assert bool(example.choices) == (benchmark.response == "choice")
    assert details_of(example).keys() >= set(POLICIES[benchmark.scoring].needs_details)


@every_benchmark
def test_the_row_shown_answered_well_is_right(benchmark: Benchmark, tmp_path: Path):
    policy, example = policy_of(benchmark), shown_example(benchmark, tmp_path)
    assert policy.score(example, answered(example)).outcome == "right"


@every_benchmark
def test_a_benchmark_says_what_it_is(benchmark: Benchmark):
    assert benchmark.title
    assert benchmark.licence
    assert re.fullmatch(r"[^.]+(\.\d[^.]*)*\.", benchmark.scope), "one sentence"
    policy = POLICIES[benchmark.scoring]
    assert benchmark.response in policy.reads
    assert benchmark.unconditional or not policy.needs_unconditional


@every_suite_benchmark
def test_the_suite_is_scored_by_policies_of_the_catalogue(benchmark: Benchmark):
    assert lookup("scoring policy", benchmark.scoring, POLICIES).name == benchmark.scoring


@every_hub_benchmark
def test_rows_of_the_hub_are_pinned(benchmark: Benchmark):
    for pin in filter(None, (benchmark.source, benchmark.shots)):
        assert isinstance(pin, HubRows)
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", pin.repo)
        assert re.fullmatch("[0-9a-f]{40}", pin.revision)
        assert len(set(pin.configs)) == len(pin.configs) > 0
        assert len(set(pin.files)) == len(pin.files)
        assert all(re.search(r"\.jsonl?$", file) for file in pin.files)
        assert pin.rows_in is None or pin.files


@every_hub_benchmark
def test_a_benchmark_of_the_hub_names_its_source(benchmark: Benchmark):
    """Who made it, when, where it is described, and what to look out for."""
    text = docstring(benchmark)
    assert re.search(r"arXiv\s\d{4}\.\d{4,5}|github\.com/", text)
    assert re.search(r"\((19|20)\d\d\)", text)
    assert "Quirks:" in text


README = (DATA.parent / "README.md").read_text("utf-8")


def test_the_readme_lists_the_benchmarks_of_the_hub_and_no_other():
    table = README.partition("## Benchmarks of the catalogue")[2].partition("Every benchmark with choices")[0]
    listed = re.findall(r"^\| [a-z].*", table, re.MULTILINE)
    names = [name for line in listed for name in re.findall(r"`(\w+)`", line)]
    assert sorted(names) == sorted(FROM_THE_HUB)
    gated = {name for name, spec in FROM_THE_HUB.items() if getattr(spec.source, "gated", "")}
    assert set(re.findall(r"`(\w+)` \(gated\)", table)) == gated


def test_the_readmes_python_runs_as_it_stands():
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        found: dict[str, object] = {}
        exec(block, found)
        assert isinstance(list(found.values())[-1], (Labelling, Model, Sae, Study))


def test_the_readme_says_which_field_names_are_from_memory():
    told = README.partition("the field names of ")[2].partition(" revision of ")[0]
    folder = DATA.parent / "cg_pipeline" / "benchmarks"
    unsure = [path.stem for path in folder.glob("*.py") if "from memory" in path.read_text("utf-8")]
    assert sorted(re.findall(r"`(\w+)`", told)) == sorted(unsure)


@every_hub_benchmark
def test_worked_examples_are_not_those_asked(benchmark: Benchmark):
    assert benchmark.shots is None or benchmark.n_shots > 0
    assert benchmark.shots != benchmark.source


@every_suite_benchmark
def test_the_embedded_suite_is_sound(benchmark: Benchmark):
    examples = suite_examples(benchmark.name)
    categories = Counter(example.category for example in examples)
    assert len(examples) >= 120
    assert {example.benchmark for example in examples} == {benchmark.name}
    assert len(categories) >= 5
    assert min(categories.values()) >= 12
    assert all(re.fullmatch(r"[a-z][a-z_]*", name) for name in categories)
    for check in (checks.unique_ids, checks.prompts_not_empty):
        assert check(examples).passed, check(examples).sentence
    assert checks.targets_answerable(examples, benchmark, POLICIES[benchmark.scoring]).passed


@every_suite_benchmark
def test_a_model_that_is_right_scores_one(benchmark: Benchmark):
    policy = POLICIES[benchmark.scoring]
    scores = [policy.score(example, answered(example)) for example in suite_examples(benchmark.name)]
    assert {score.value for score in scores} == {1.0}


def test_no_two_benchmarks_of_the_suite_ask_the_same():
    identities = Counter(
        example.example_id for benchmark in SUITE.values() for example in suite_examples(benchmark.name)
    )
    assert max(identities.values()) == 1


@pytest.mark.parametrize(
    "answer", ["NaN", "inf", "-Infinity", "1e400", "1e999999999", "12 eggs", "9" * 5000, ""]
)
def test_arithmetic_wants_a_finite_number(answer: str):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole sentence is compared
        BENCHMARKS["arithmetic"].to_item({"category": "sums", "question": "2 + 2?", "answer": answer})
    assert str(error.value) == (
        f"answer is {answer!r}; expected a number such as '12' or '3.5', of at most 15 digits. Correct it."
    )


@pytest.mark.parametrize("answer", ["12", "-3", "3.5", "0.25"])
def test_arithmetic_keeps_the_answer_as_written(answer: str):
    [target] = BENCHMARKS["arithmetic"].to_item({"category": "c", "question": "q", "answer": answer}).answers
    assert (target, Fraction(target)) == (answer, Fraction(answer))


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_a_study_names_known_things_once(study):
    for noun, names, known in (("model", study.models, MODELS), ("benchmark", study.benchmarks, BENCHMARKS)):
        assert names
        assert len(set(names)) == len(names)
        for name in names:
            assert lookup(noun, name, known)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_is_pinned_and_has_a_reader(model):
    reader = lookup("SAE", model.reader, SAES)
    assert reader.model.name in MODELS
    assert model.title
    assert model.licence
    if isinstance(model.weights, PackagedGguf):
        assert re.fullmatch("[0-9a-f]{64}", model.weights.sha256)
        assert re.fullmatch(r"[A-Za-z0-9_-]+==[0-9.]+", model.weights.distribution)
    if isinstance(model.weights, SplitGguf):
        assert model.weights.parts
        assert all(re.fullmatch(r"[a-z0-9_]+/[^/].*", part) for part in model.weights.parts)
    if isinstance(model.weights, HubWeights):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", model.weights.repo)
        assert re.fullmatch("[0-9a-f]{40}", model.weights.revision)
    if isinstance(model.weights, ServedModel):
        assert re.fullmatch(r"https?://\S+", model.weights.base_url)
        assert re.fullmatch(r"[A-Z_]*", model.weights.api_key_variable), "the name of a variable, not a key"


def test_only_the_embedded_model_is_in_a_study():
    """What asks for a licence, a hub or a key is never run unasked."""
    assert {name for study in STUDIES.values() for name in study.models} == {"smollm2_135m"}


@pytest.mark.parametrize("name", [*MODELS, *SAES])
def test_the_readme_lists_models_and_readers(name):
    assert f"`{name}`" in README


@pytest.mark.parametrize("sae", SAES.values(), ids=SAES)
def test_the_readme_says_what_a_reader_is(sae):
    [row] = [line for line in README.splitlines() if line.startswith(f"| `{sae.name}` |")]
    assert f"| {sae.d_sae:,} | `{sae.hookpoint}` |" in row
    assert ("base model" in row) == bool(sae.trained_on)
    if isinstance(sae.weights, SaeRelease):
        assert ("pickled" in row) == sae.weights.file.endswith(PICKLED)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_readme_says_what_a_model_is(model):
    [row] = [line for line in README.splitlines() if line.startswith(f"| `{model.name}` |")]
    assert row.endswith(f"| `{model.reader}` |")
    if isinstance(model.weights, HubWeights):
        assert f"`{model.weights.repo}`" in row
        assert ("gated" in row) == bool(model.weights.gated)
    if not isinstance(model.weights, ServedModel):
        assert f"| {model.dtype}, {model.max_tokens:,} |" in row


@pytest.mark.parametrize("sae", SAES.values(), ids=SAES)
def test_an_sae_reads_a_model_of_the_catalogue(sae):
    assert MODELS[sae.model.name] == sae.model
    assert re.fullmatch(r"blocks\.\d+\.[a-z_.]+", sae.hookpoint)
    assert sae.d_sae > 0
    assert 0 < sae.dense_threshold < 1
    assert sae.licence
    if isinstance(sae.weights, SaeRelease):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+/[\w./-]+", sae.weights.file)


def test_the_embedded_sae_publishes_the_figures_of_its_card():
    card = json.loads((DATA / "saes" / "smollm2_l12" / "figures.json").read_text("utf-8"))["check_texts"]
    published = SAES["smollm2_l12"].published
    assert (published.explained_variance, published.l0) == (round(card["explained_variance"], 3), card["l0"])


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_is_a_column(metric):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)
    assert metric.name not in {"model", "benchmark", "concept_id"}
    assert metric.description.endswith(".")


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_what_did_not_fit_is_unscored_by_every_policy(policy):
    example = Example(benchmark="b", category="c", cluster="", prompt="?", choices=("4", "5"), targets=("4",))
    overflow = replace(answered(example), stop="overflow", text="", choice_logprobs=(), choice_tokens=())
    score = policy.score(example, overflow)
    assert (score.outcome, score.reason) == ("unscored", "overflow")


def test_no_two_entries_share_a_fingerprint():
    entries = [
        spec for part in (BENCHMARKS, MODELS, SAES, METRICS, POLICIES, STUDIES) for spec in part.values()
    ]
    assert len({fingerprint(spec) for spec in entries}) == len(entries)
