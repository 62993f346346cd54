"""The method in slow, plain loops, written from its equations and sharing no code with the package.

Saliency is a list of examples, each a list over concepts; a score of None is unscored; a
result of None is undefined. Slowness is the point: every line can be checked by eye.
"""

import math
from dataclasses import dataclass

Saliency = list[list[float]]
Scores = list[float | None]


@dataclass(frozen=True)
class OracleBenchmark:
    """One benchmark: saliency and scores of its examples."""

    saliency: Saliency
    scores: Scores
    n_concepts: int

    def column(self, concept: int) -> list[float]:
        """a_c(x) of every example."""
        return [row[concept] for row in self.saliency]

    def scored(self, concept: int) -> list[tuple[float, float]]:
        """(a_c(x), s(x)) of the scored examples."""
        pairs = zip(self.column(concept), self.scores, strict=True)
        return [(a, s) for a, s in pairs if s is not None]


def coverage(benchmark: OracleBenchmark, concept: int, normaliser: str = "grand_mean") -> float:
    """mean_x a_c(x) / Ā_b."""
    if not benchmark.saliency:
        return 0.0
    mean = sum(benchmark.column(concept)) / len(benchmark.saliency)
    average = 1.0 if normaliser == "none" else average_saliency(benchmark, normaliser)
    return mean / average if average > 0 else mean


def average_saliency(benchmark: OracleBenchmark, normaliser: str) -> float:
    """Ā_b: over all pairs of example and concept (grand_mean), or over those that are active."""
    everything = [a for row in benchmark.saliency for a in row]
    counted = everything if normaliser == "grand_mean" else [a for a in everything if a > 0]
    return sum(counted) / len(counted) if counted else 0.0


def mass(benchmark: OracleBenchmark, concept: int) -> float:
    """Σ a over scored examples."""
    return sum(a for a, _ in benchmark.scored(concept))


def performance(benchmark: OracleBenchmark, concept: int) -> float | None:
    """Σ a·s / Σ a over scored examples."""
    total = mass(benchmark, concept)
    return sum(a * s for a, s in benchmark.scored(concept)) / total if total > 0 else None


def mean_score(benchmark: OracleBenchmark) -> float | None:
    """Mean of the scored examples' scores."""
    given = [s for s in benchmark.scores if s is not None]
    return sum(given) / len(given) if given else None


def lift(benchmark: OracleBenchmark, concept: int) -> float | None:
    """χ_model minus the benchmark's mean score."""
    here, average = performance(benchmark, concept), mean_score(benchmark)
    return None if here is None or average is None else here - average


def firing_rate(benchmark: OracleBenchmark, concept: int) -> float | None:
    """Share of examples in which the concept fires."""
    return n_examples(benchmark, concept) / len(benchmark.saliency) if benchmark.saliency else None


def n_examples(benchmark: OracleBenchmark, concept: int) -> int:
    """Examples in which the concept fires."""
    return sum(a > 0 for a in benchmark.column(concept))


def n_scored(benchmark: OracleBenchmark, concept: int) -> int:
    """Scored examples in which the concept fires."""
    return sum(a > 0 for a, _ in benchmark.scored(concept))


def n_eff(benchmark: OracleBenchmark, concept: int) -> float:
    """(Σ a)² / Σ a² over scored examples."""
    squares = sum(a * a for a, _ in benchmark.scored(concept))
    return mass(benchmark, concept) ** 2 / squares if squares > 0 else 0.0


def outcome_correlation(benchmark: OracleBenchmark, concept: int) -> float | None:
    """Pearson r of a and s over scored examples."""
    pairs = benchmark.scored(concept)
    n = len(pairs)
    if n < 2 or len({a for a, _ in pairs}) == 1 or len({s for _, s in pairs}) == 1:
        return None
    mean_a, mean_s = math.fsum(a for a, _ in pairs) / n, math.fsum(s for _, s in pairs) / n
    above = math.fsum((a - mean_a) * (s - mean_s) for a, s in pairs)
    var_a, var_s = (
        math.fsum((a - mean_a) ** 2 for a, _ in pairs),
        math.fsum((s - mean_s) ** 2 for _, s in pairs),
    )
    return above / math.sqrt(var_a * var_s)


def suite_coverage(suite: list[OracleBenchmark], concept: int, normaliser: str = "grand_mean") -> float:
    """(1/|B|) Σ_b χ_bench(b,c), zeros counted."""
    return sum(coverage(benchmark, concept, normaliser) for benchmark in suite) / len(suite)


def suite_performance(suite: list[OracleBenchmark], concept: int) -> float | None:
    """Plain mean over the benchmarks where χ_model is defined."""
    return _mean([performance(benchmark, concept) for benchmark in suite])


def suite_lift(suite: list[OracleBenchmark], concept: int) -> float | None:
    """Plain mean over the benchmarks where the lift is defined."""
    return _mean([lift(benchmark, concept) for benchmark in suite])


def suite_n_eff(suite: list[OracleBenchmark], concept: int) -> float:
    """(Σ a)² / Σ a² over the scored examples of all benchmarks together."""
    pairs = [pair for benchmark in suite for pair in benchmark.scored(concept)]
    squares = sum(a * a for a, _ in pairs)
    return sum(a for a, _ in pairs) ** 2 / squares if squares > 0 else 0.0


def jaccard(first: OracleBenchmark, second: OracleBenchmark, counted: list[int]) -> float | None:
    """|A₁ ∩ A₂| / |A₁ ∪ A₂| of the counted concepts that fire."""
    active = [{c for c in counted if n_examples(benchmark, c) > 0} for benchmark in (first, second)]
    union = active[0] | active[1]
    return len(active[0] & active[1]) / len(union) if union else None


def ranked(values: dict[int, float], share: float) -> list[int]:
    """Concepts of the lowest share of values, lowest first, at least one, ties by number."""
    order = sorted(values, key=lambda concept: (values[concept], concept))
    return order[: math.ceil(round(share * len(order), 9))]


def _mean(values: list[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return sum(given) / len(given) if given else None
