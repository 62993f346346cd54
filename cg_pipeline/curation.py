"""Which rows are asked: repetitions dropped, worked examples put before, a sample drawn, twins found.

Pure functions between the rows of a source and the examples of a study; `pipeline` calls them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from cg_pipeline.ink import as_read
from cg_pipeline.items import Item
from cg_pipeline.records import Example, NearDuplicate, content_id
from cg_pipeline.specs import Benchmark
from cg_pipeline.stats.shingles import contained_pairs
from cg_pipeline.stats.stratified import stratified_sample

Posed = tuple[Example, Item]
"""An example with the item it was made of."""

LEAST_OVERLAP = 0.7
"""From this share of common eight-word sequences on, two examples count as near-duplicates."""


@dataclass(frozen=True, kw_only=True)
class Distinct:
    """Which of some examples ask something of their own; all by index."""

    kept: tuple[int, ...]
    repeated: tuple[int, ...]
    """Ask what an earlier one asks, with an answer in common."""
    contradictory: tuple[int, ...]
    """Ask the same with answers that have nothing in common: nobody knows which is right, so none is kept."""


def question_of(example: Example) -> tuple[str, frozenset[str]]:
    """What makes two examples the same question: the prompt and the set of choices, as they are seen."""
    return as_read(example.prompt), frozenset(map(as_read, example.choices))


def contradicts(one: Example, other: Example) -> bool:
    """Whether the answers to one question have nothing in common, letter case apart."""
    first, second = ({text.strip().casefold() for text in each.targets} for each in (one, other))
    return bool(first or second) and first.isdisjoint(second)


def find_distinct(examples: Sequence[Example]) -> Distinct:
    """Each question once, those with contradictory answers not at all."""
    groups: dict[object, list[int]] = {}
    for index, example in enumerate(examples):
        groups.setdefault(question_of(example), []).append(index)
    torn = {
        first
        for first, *rest in groups.values()
        if any(contradicts(examples[first], examples[other]) for other in rest)
    }
    return Distinct(
        kept=tuple(first for first, *_ in groups.values() if first not in torn),
        repeated=tuple(sorted(i for first, *rest in groups.values() if first not in torn for i in rest)),
        contradictory=tuple(sorted(i for found in groups.values() if found[0] in torn for i in found)),
    )


def limit_examples(examples: Sequence[Example], limit: int | None, seed: int) -> list[Example]:
    """A seeded sample in proportion to the categories; a larger limit keeps a smaller one's examples."""
    if limit is None:
        return list(examples)
    if limit < 1:
        raise ValueError(f"limit is {limit}; expected a positive number of examples, or None for all.")
    names = [example.example_id for example in examples]
    chosen = stratified_sample(names, [example.category for example in examples], limit, seed)
    return [examples[index] for index in chosen]


def hold_out(posed: Sequence[Posed], n: int) -> tuple[list[Posed], list[Posed]]:
    """`n` examples to be shown, the first by a hash of their ids, and the others, to be asked.

    The shown ones come ranked by that hash. They are part of what every other example asks,
    so in the order of the rows a shuffled file would ask other questions.

    Raises:
        ValueError: none would be left to be asked.
    """
    if 0 < n >= len(posed):
        raise ValueError(
            f"Of {len(posed)} rows n_shots, {n}, are held out to be shown; expected more rows, to be asked. "
            "Lower n_shots or add rows."
        )
    shown = sorted(posed, key=lambda pair: content_id("shown", pair[0].example_id))[:n]
    ids = {example.example_id for example, _ in shown}
    return shown, [pair for pair in posed if pair[0].example_id not in ids]


def add_shots(
    benchmark: Benchmark,
    examples: Sequence[Example],
    pool: Sequence[Posed],
    asked: Sequence[Example],
) -> list[Example]:
    """The examples, each after `n_shots` worked ones of the pool, in the pool's order.

    That order is `hold_out`'s, or that of the rows a benchmark names for it, whose authors mean
    the first ones. They are of the example's own category where the pool has enough of it (as for the
    subjects of MMLU), else of any; none asks what one of `asked` asks.

    Raises:
        ValueError: the pool has too few.
    """
    if benchmark.n_shots == 0:
        return list(examples)
    taken = {question_of(example) for example in asked}
    free = [(example, item) for example, item in pool if question_of(example) not in taken]
    if len(free) < benchmark.n_shots:
        raise ValueError(
            f"Benchmark {benchmark.name!r} has {len(free)} of {len(pool)} worked examples that are not asked "
            f"themselves; expected at least n_shots, {benchmark.n_shots}. Lower n_shots or add rows."
        )
    texts = _shown_by_category(benchmark, free)
    return [_after(benchmark, example, texts.get(example.category, texts[None])) for example in examples]


def _after(benchmark: Benchmark, example: Example, shown: tuple[str, ...]) -> Example:
    """The example after worked ones; its header stands before the first of them instead."""
    head = benchmark.header_for(example.category)
    return replace(
        example,
        prompt=example.prompt.removeprefix(head),
        stems=tuple(stem.removeprefix(head) for stem in example.stems),
        shots=(head + shown[0], *shown[1:]),
    )


def _shown_by_category(benchmark: Benchmark, pool: Sequence[Posed]) -> Mapping[str | None, tuple[str, ...]]:
    """Question, answer, question, answer … for every category with enough examples, and for None."""
    grouped: dict[str | None, list[Posed]] = {None: list(pool)}
    for example, item in pool:
        grouped.setdefault(example.category, []).append((example, item))
    return {
        category: tuple(text for pair in found[: benchmark.n_shots] for text in _worked(benchmark, *pair))
        for category, found in grouped.items()
        if len(found) >= benchmark.n_shots
    }


def _worked(benchmark: Benchmark, example: Example, item: Item) -> tuple[str, str]:
    """A worked example as question and answer: the answer as a model would have to give it."""
    head = benchmark.header_for(example.category)
    prompt = example.prompt.removeprefix(head)
    if item.worked:
        return prompt, item.worked
    if not example.targets:
        raise ValueError(
            f"Worked example {example.prompt[:60]!r} of {benchmark.name!r} has no answer; "
            "expected one to show. Add it, or set n_shots to 0."
        )
    answer = example.targets[0]
    if not example.choices:
        return prompt, f"{benchmark.opening} {answer}" if benchmark.opening else answer
    place = example.choices.index(answer)
    question = example.stems[place].removeprefix(head) if example.stems else prompt
    return question, example.continuations[place] if example.continuations else answer


def find_near_duplicates(examples: Sequence[Example]) -> list[NearDuplicate]:
    """Pairs of examples of different benchmarks that have most word sequences in common, closest first."""
    ordered = sorted(examples, key=lambda example: (example.benchmark, example.example_id))
    pairs = contained_pairs(
        [example.prompt for example in ordered], [example.benchmark for example in ordered], LEAST_OVERLAP
    )
    return [
        NearDuplicate(
            benchmark=ordered[one].benchmark,
            example_id=ordered[one].example_id,
            other_benchmark=ordered[other].benchmark,
            other_example_id=ordered[other].example_id,
            overlap=overlap,
        )
        for one, other, overlap in pairs
    ]
