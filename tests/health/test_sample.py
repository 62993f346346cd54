"""Who is drawn depends on who there is, and on nothing else."""

import random

from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.health.sample import LEAST_OF_EACH, sample_examples
from cg_pipeline.records import Example


def benchmark(name: str, n: int) -> list[Example]:
    return [
        Example(benchmark=name, category="any", cluster="", prompt=f"{name} {k}?", targets=("1",))
        for k in range(n)
    ]


def drawn(size: int, **sizes: int) -> list[tuple[str, str]]:
    found = sample_examples({name: benchmark(name, n) for name, n in sizes.items()}, size)
    return [(each.benchmark, each.example_id) for each in found]


def test_as_many_of_each_benchmark_however_large() -> None:
    found = drawn(30, small=5, middle=50, large=500)
    assert {name: sum(each == name for each, _ in found) for name, _ in found} == {
        "small": 5,
        "middle": 10,
        "large": 10,
    }


@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_and_benchmarks_is_irrelevant(draw: random.Random) -> None:
    asked = {name: benchmark(name, 20) for name in ("a", "b", "c")}
    shuffled = {name: draw.sample(asked[name], 20) for name in draw.sample(list(asked), 3)}
    assert sample_examples(shuffled, 12) == sample_examples(asked, 12)


def test_a_further_example_displaces_at_most_one() -> None:
    assert len(set(drawn(10, a=100)) - set(drawn(10, a=101))) <= 1


def test_the_first_few_are_a_sample_of_all_benchmarks() -> None:
    assert {name for name, _ in drawn(120, a=99, b=99, c=99)[:12]} == {"a", "b", "c"}


def test_many_benchmarks_are_all_looked_at() -> None:
    found = drawn(10, **{f"b{k}": 9 for k in range(40)})
    assert len(found) == 40 * LEAST_OF_EACH


def test_nothing_is_drawn_from_nothing() -> None:
    assert sample_examples({}) == []
    assert drawn(10, empty=0) == []
