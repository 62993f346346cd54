"""The catalogue on a directory of real benchmark files: they load, they are posed, answers are scored.

The files are other people's texts and not part of the project: name their directory in
CG_TEST_BENCHMARKS_DIR, or in CG_BENCHMARKS_DIR as for a run.
"""

import functools
import os
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from cg_pipeline import checks
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.inference.stop_texts import cut_before
from cg_pipeline.items import Item
from cg_pipeline.processes.sandbox import Limits, Sandbox
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.benchmark_directory import find_file
from cg_pipeline.sources.lines import read_lines
from cg_pipeline.sources.origins import bring, origins_of
from cg_pipeline.sources.row_checks import Reading, normalised_shape, read_rows
from cg_pipeline.specs import Benchmark, HubRows

SITE = os.environ.get("CG_TEST_BENCHMARKS_DIR") or os.environ.get("CG_BENCHMARKS_DIR", "")
FROM_THE_HUB = {name: spec for name, spec in BENCHMARKS.items() if isinstance(spec.source, HubRows)}
MOST_REPEATED = 0.05
N_SCORED = 200
N_PROGRAMS = 4
NOTHING_SHARED = "unscored nothing_shared"
NONSENSE = "quixotic zebrafish"

pytestmark = pytest.mark.skipif(
    not SITE,
    reason="neither CG_TEST_BENCHMARKS_DIR nor CG_BENCHMARKS_DIR names a directory of benchmark files",
)
every_benchmark = pytest.mark.parametrize("name", FROM_THE_HUB)


class Sure:
    """A judge that always says the same."""

    source = "test"

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict

    def decide(self, prompt: str, verdicts: Sequence[str]) -> str:
        assert prompt.strip()
        assert self.verdict in verdicts
        return self.verdict


@functools.cache
def reading(name: str) -> tuple[Reading, int]:
    """Everything read of a benchmark's file, and how many lines it has."""
    spec = FROM_THE_HUB[name]
    if find_file(Path(SITE), spec.entry or name) is None:
        pytest.skip(f"the directory has no file of {name!r}")
    payload = bring(spec, origins_of(spec, Path(SITE), SITE)[0], Path(SITE))
    lines = read_lines(f"{name}.jsonl", payload)
    return read_rows(spec, name, lines, normalised_shape(spec)), len(payload.splitlines())


def some(name: str) -> list[tuple[Example, Item]]:
    """Examples from all over a benchmark's file."""
    posed = reading(name)[0].posed
    return posed[:: max(1, len(posed) // N_SCORED)]


def completion(example: Example, text: str, choice: str = "") -> Completion:
    return Completion(
        model="m",
        benchmark=example.benchmark,
        example_id=example.example_id,
        text=text,
        choice_logprobs=tuple(-1.0 if each == choice else -99.0 for each in example.choices),
        unconditional_logprobs=tuple(-50.0 for _ in example.choices) if _neutral(example) else (),
        choice_tokens=(1,) * len(example.choices),
        stop="choice" if example.choices else "end",
        n_prompt_tokens=1,
        n_completion_tokens=1,
    )


def _neutral(example: Example) -> str:
    return BENCHMARKS[example.benchmark].unconditional


def said(spec: Benchmark, example: Example, *texts: str) -> list[Completion]:
    """The texts, as far as the benchmark lets a model speak."""
    return [completion(example, cut_before(text, spec.stop)) for text in texts]


def right(spec: Benchmark, example: Example, worked: str) -> list[Completion]:
    """What models that are right would do."""
    if example.choices:
        return [completion(example, example.targets[0], example.targets[0])]
    return said(spec, example, *example.targets, *([worked] if worked else []))


def wrong(spec: Benchmark, example: Example) -> list[Completion]:
    """What models that are wrong would do."""
    if example.choices:
        others = dict.fromkeys(each for each in example.choices if each not in example.targets)
        return [completion(example, choice, choice) for choice in others]
    if spec.scoring == "numeric":
        return said(spec, example, f"The answer is {float(Fraction(example.targets[0]) + 1):f}")
    if spec.scoring == "mixed":
        return []  # nonsense is of no kind that an example wants: unscored
    return said(spec, example, NONSENSE)


def outcomes(scores: Iterable[Score]) -> set[str]:
    return {f"{score.outcome} {score.reason}".strip() for score in scores}


@every_benchmark
def test_a_file_is_taken_whole(name: str):
    found, n_lines = reading(name)
    left_out = len(found.repeated) + len(found.contradictory)
    assert len(found.posed) + left_out == n_lines
    assert left_out <= MOST_REPEATED * n_lines


@every_benchmark
def test_its_examples_can_be_answered(name: str):
    spec, examples = FROM_THE_HUB[name], reading(name)[0].examples
    for check in (checks.unique_ids, checks.prompts_not_empty):
        assert check(examples).passed, check(examples).sentence
    answerable = checks.targets_answerable(examples, spec, POLICIES[spec.scoring])
    assert answerable.passed, answerable.sentence
    assert all(len(each.choices) >= 2 for each in examples if spec.response == "choice")


@every_benchmark
def test_right_answers_are_right_and_wrong_ones_wrong(name: str):
    spec = FROM_THE_HUB[name]
    policy, posed = POLICIES[spec.scoring], some(name)
    if policy.judged or policy.runs_code or not policy.needs_targets:
        pytest.skip(f"{spec.scoring!r} asks somebody else or has no answer key: tested below")
    good = [policy.score(each, done) for each, item in posed for done in right(spec, each, item.worked)]
    bad = [policy.score(each, done) for each, _ in posed for done in wrong(spec, each)]
    assert outcomes(good) - {NOTHING_SHARED} == {"right"}
    assert outcomes(bad) - {NOTHING_SHARED} == ({"wrong"} if bad else set())


@every_benchmark
def test_a_judge_decides(name: str):
    policy = POLICIES[FROM_THE_HUB[name].scoring]
    if not policy.judged:
        pytest.skip("nobody is asked")
    for each, _ in some(name):
        values = [policy.score(each, completion(each, "So."), Sure(grade)).value for grade in ("10", "1")]
        assert values == [1.0, 0.0]


def test_programs_are_run():
    spec, sandbox = FROM_THE_HUB["humaneval"], Sandbox(Limits(cpu_s=5))
    posed = some("humaneval")
    for each, _ in posed[:: len(posed) // N_PROGRAMS]:
        texts = said(spec, each, each.targets[0], "    raise ValueError\n")
        scores = [POLICIES["code_tests"].score(each, done, sandbox) for done in texts]
        assert [score.value for score in scores] == [1.0, 0.0], each.prompt


def test_every_instruction_is_checked():
    policy = POLICIES["instructions"]
    scores = [
        policy.score(each, done)
        for each, _ in some("ifeval")
        for done in said(FROM_THE_HUB["ifeval"], each, NONSENSE)
    ]
    assert outcomes(scores) == {"right", "wrong"}  # few letters, no comma: some instructions are followed


@pytest.mark.parametrize(
    "name", [name for name, spec in FROM_THE_HUB.items() if POLICIES[spec.scoring].summarise]
)
def test_what_the_authors_report_besides(name: str):
    spec = FROM_THE_HUB[name]
    policy, examples = POLICIES[spec.scoring], reading(name)[0].examples
    if not policy.needs_targets:
        pytest.skip("no answer key")
    assert policy.summarise is not None
    scores = [policy.score(each, right(spec, each, "")[0]) for each in examples]
    found = policy.summarise(examples, scores)
    assert found
    assert all(-1 <= value <= 1 for value in found.values())
