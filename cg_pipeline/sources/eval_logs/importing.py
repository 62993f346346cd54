"""Completions and scores of one cell out of the logs of another tool, with a report for people.

Scores are kept as given. An example that no logged answer is about is unscored(not_in_the_log): the
cell stays complete, and nobody takes a hole for a wrong answer.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cg_pipeline.answers.grading import grade
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.sources.eval_logs.checked import titled
from cg_pipeline.sources.eval_logs.harness import read_harness
from cg_pipeline.sources.eval_logs.inspect_log import read_inspect
from cg_pipeline.sources.eval_logs.lighteval import read_lighteval
from cg_pipeline.sources.eval_logs.logged import LoggedAnswer, storable
from cg_pipeline.sources.eval_logs.matching import Match, Matching, match
from cg_pipeline.sources.json_lines import show
from cg_pipeline.specs import Benchmark

FORMATS = ("lm-eval", "inspect", "lighteval")
NOT_IN_THE_LOG = "not_in_the_log"
_SHOWN = 3


@dataclass(frozen=True)
class Imported:
    """One cell as a log tells it."""

    completions: list[Completion]
    scores: list[Score]
    matching: Matching
    source: Mapping[str, str]
    """Format, files, their hashes, and which score was taken."""
    drawn: str = ""
    """Which examples were there to be matched, in words."""

    @property
    def n_examples(self) -> int:
        """Examples that answers were looked for."""
        return len(self.matching.absent) + len({each.example.example_id for each in self.matching.matches})

    @property
    def share(self) -> float:
        """Share of these examples that a logged answer is about, in [0, 1]."""
        return 1 - len(self.matching.absent) / self.n_examples if self.n_examples else 0.0

    def report(self) -> list[str]:
        """What matched and what did not, in plain lines, the first few of each kind."""
        found, strays = self.matching, self.matching.strays
        unscored = Counter(score.reason for score in self.scores if score.reason)
        lines = [
            f"Matched with {self.n_examples:,} examples{self.drawn}",
            f"Score taken: {self.source['metric']}{_of(self.source['filter'])}",
            f"{len(found.matches) + len(strays):,} logged answers: {len(found.matches):,} matched, "
            f"{len(strays):,} not",
            *(f"  {n:,}: {why}" for why, n in Counter(_kind(why) for _, why in strays).most_common()),
            *(f"    {each.place} {show(_asked(each))}: {why}" for each, why in strays[:_SHOWN]),
            f"{len(found.absent):,} examples of the benchmark are not in the log ({self.share:.1%} are)",
            *(f"    {each.example_id} {show(each.prompt)}" for each in found.absent[:_SHOWN]),
        ]
        return [
            *lines,
            f"unscored: {', '.join(f'{why} {n:,}' for why, n in unscored.most_common()) or 'none'}",
        ]


def import_results(
    log_format: str,
    paths: Sequence[Path],
    *,
    examples: Sequence[Example],
    benchmark: Benchmark,
    model: str,
    metric: str = "",
    filtered_by: str = "",
    drawn: str = "",
) -> Imported:
    """One model's cell of one benchmark from logs in one of the `FORMATS`; `drawn` says which examples.

    Raises:
        ValueError: a log cannot be read, or does not say which score is meant.
        FileNotFoundError: a file is not there.
        ModuleNotFoundError: the tool's reader is needed and not installed.
    """
    readers: Mapping[str, Callable[[], list[LoggedAnswer]]] = {
        "lm-eval": lambda: read_harness(
            paths, metric=metric, filtered_by=filtered_by, scoring=benchmark.scoring
        ),
        "inspect": lambda: read_inspect(paths, metric=metric),
        "lighteval": lambda: read_lighteval(paths, metric=metric),
    }
    answers = readers[log_format]()
    found = match(examples, answers)
    records = [_records(each, model) for each in found.matches]
    blanks = [_blank(example, model) for example in found.absent]
    place = {example.example_id: i for i, example in enumerate(examples)}
    cell = sorted([*records, *blanks], key=lambda pair: (place[pair[0].example_id], pair[0].sample))
    source = {
        "format": log_format,
        "metric": _named(each.metric for each in answers),
        "filter": _named(each.filter for each in answers),
    }
    files = {f"file {name}": sha256(path.read_bytes()).hexdigest() for path, name in titled(paths).items()}
    return Imported([c for c, _ in cell], [s for _, s in cell], found, {**source, **files}, drawn)


def _named(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, names))) or "none"


def _of(filtered_by: str) -> str:
    return "" if filtered_by == "none" else f", after the filter {filtered_by}"


def _records(found: Match, model: str) -> tuple[Completion, Score]:
    example, logged = found.example, found.logged
    logprobs = tuple(logged.logprobs[i] for i in found.order) if logged.logprobs else ()
    ranked = [-math.inf if math.isnan(value) else value for value in logprobs]
    likeliest = example.choices[ranked.index(max(ranked))] if ranked else storable(logged.text)
    completion = Completion(
        model=model,
        benchmark=example.benchmark,
        example_id=example.example_id,
        sample=logged.sample,
        text=likeliest,
        choice_logprobs=logprobs,
        unconditional_logprobs=tuple(logged.unconditional[i] for i in found.order)
        if logged.unconditional
        else (),
        stop=logged.stop,
        n_prompt_tokens=logged.n_prompt_tokens,
        n_completion_tokens=logged.n_completion_tokens,
        rendered_prompt=storable(logged.prompt),
    )
    answer = storable(logged.answer) or (likeliest if logprobs else "")
    return completion, grade(completion, logged.value, answer=answer, reason=logged.reason)


def _blank(example: Example, model: str) -> tuple[Completion, Score]:
    completion = Completion(
        model=model,
        benchmark=example.benchmark,
        example_id=example.example_id,
        text="",
        stop="failed",
        n_prompt_tokens=0,
        n_completion_tokens=0,
    )
    return completion, grade(completion, None, reason=NOT_IN_THE_LOG)


def _kind(why: str) -> str:
    """The reason without what is particular to one answer."""
    return "repeats another" if why.startswith("repeats ") else why.lstrip("0123456789")


def _asked(logged: LoggedAnswer) -> str:
    return logged.prompt or " · ".join(text for _, text in logged.fields)
