"""Fingerprints change with what changes results, and with nothing else."""

import functools
import importlib.util
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline import fingerprints, identity
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.metrics import METRICS
from cg_pipeline.scoring import POLICIES
from cg_pipeline.specs import GapRules
from cg_pipeline.studies import STUDIES

ROOT = Path(__file__).parents[1]

SCORING = '''"""A scoring policy."""

import re
from math import sqrt

PATTERN = re.compile("[0-9]+")
"""What a number looks like."""
TITLE = "Numbers"
LIMITS = {}
LIMITS["low"] = 0
for one in ("high",):
    LIMITS[one] = 9
if sqrt(4) == 2:
    SCALE = 2


def score(text: str, weight: float = 1.0) -> float:
    """Weight of a text with a number."""
    return weight * read(text)


def read(text: str) -> float:
    # Only the first counts.
    return SCALE * float(PATTERN.search(text)[0]) - LIMITS["low"]


def unused(text: str) -> str:
    return text + TITLE


class Policy:
    def grade(self) -> float:
        return score("1")
'''


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a source text as a file of its own and imports it."""

    def load(source: str) -> ModuleType:
        name = f"policy_{len(list(tmp_path.iterdir()))}"
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("weight * read", "weight + read"),  # its body
        ("weight: float = 1.0", "weight: float = 2.0"),  # a default
        ("return SCALE *", "return SCALE /"),  # a helper of the file
        ("[0-9]+", "[0-9]"),  # a constant that a helper uses
        ('LIMITS["low"] = 0', 'LIMITS["low"] = 1'),  # a statement that changes a constant
        ("LIMITS[one] = 9", "LIMITS[one] = 8"),  # a loop that changes a constant
        ("SCALE = 2", "SCALE = 3"),  # a constant set under a condition
        ("from math import sqrt", "from cmath import sqrt"),  # where a name comes from
        ("text: str, weight", "text: object, weight"),  # an annotation: pydantic reads those
    ],
)
def test_what_a_function_leans_on_counts(load, old, new):
    assert SCORING.count(old) == 1
    assert fingerprint(load(SCORING).score) != fingerprint(load(SCORING.replace(old, new)).score)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A scoring policy."""', '"""Another docstring."""'),
        ('"""Weight of a text with a number."""', '"""Weight."""'),
        ('"""What a number looks like."""', ""),
        ("    # Only the first counts.\n", ""),
        ("\n\n\n", "\n\n\n\n"),
        ('"[0-9]+"', "'[0-9]+'"),
        ('TITLE = "Numbers"', 'TITLE = "Integers"'),  # not leaned on
        ("return text + TITLE", "return TITLE + text"),  # not leaned on
        ("import re\n", "import os\nimport re\n"),  # not leaned on
    ],
)
def test_words_layout_and_bystanders_do_not_count(load, old, new):
    assert old in SCORING
    assert fingerprint(load(SCORING).score) == fingerprint(load(SCORING.replace(old, new)).score)


READER = """
import re

PATTERN = re.compile("a")


def read(text):
    return PATTERN.search(text)


def bystander(text):
    return text
"""


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("search", "match", True),
        ('compile("a")', 'compile("b")', True),
        ("return text", "return text + 1", False),
    ],
)
@pytest.mark.parametrize("place", ["", "    "])  # imported at the top, or within the function
@pytest.mark.parametrize("package", ["answers", "families", "stats"])
def test_what_is_shared_counts_with_its_users(load, monkeypatch, old, new, counts, place, package):
    """What policies, or benchmarks of one source, share lies in a package of its own, which is followed."""

    def identity(reader: str) -> str:
        monkeypatch.setitem(sys.modules, f"cg_pipeline.{package}.shared", load(reader))
        imports = f"from cg_pipeline.{package}.shared import read\n"
        lines = [imports, "def score(text):\n    return read(text)\n"]
        if place:
            lines = ["def score(text):\n", place + imports, "    return read(text)\n"]
        return fingerprint(load("".join(lines)).score)

    assert (identity(READER) != identity(READER.replace(old, new))) == counts
    assert identity(READER) == identity(READER)


@pytest.fixture
def edit(load, monkeypatch):
    """Puts an edited module of the package in the place of one, for as long as a test lasts."""

    def edit(name: str, old: str, new: str) -> None:
        source = (ROOT / "cg_pipeline" / "stats" / f"{name}.py").read_text()
        assert old in source
        monkeypatch.setitem(sys.modules, f"cg_pipeline.stats.{name}", load(source.replace(old, new)))
        fingerprints._code_of.cache_clear()

    fingerprints._code_of.cache_clear()
    yield edit
    fingerprints._code_of.cache_clear()


def scores_of(policy: str) -> str:
    return identity.scores_id("completions", POLICIES[policy], "none")


def metrics_of(name: str) -> str:
    return identity.concept_metrics_id("scores", "activations", [METRICS[name]], STUDIES["embedded"])


def test_numbers_reported_beside_the_mean_are_made_anew_with_their_formula(edit):
    before, others = scores_of("bbq"), [scores_of(name) for name in POLICIES if name != "bbq"]
    edit("bias", "return (1 - accuracy) * raw", "return raw")
    assert scores_of("bbq") != before
    assert [scores_of(name) for name in POLICIES if name != "bbq"] == others


def test_a_formula_in_other_words_is_the_same(edit):
    before = scores_of("bbq"), metrics_of("performance")
    edit("bias", '"""Bias of answers', '"""The bias of answers')
    edit("weighted", '"""Quotient top', '"""The quotient top')
    assert (scores_of("bbq"), metrics_of("performance")) == before


def test_a_metric_counts_with_the_statistics_it_leans_on(edit):
    before = {name: metrics_of(name) for name in ("performance", "coverage")}
    edit("weighted", "np.clip(means, values.min(), values.max())", "np.clip(means, 0.0, values.max())")
    assert metrics_of("performance") != before["performance"]
    assert metrics_of("coverage") == before["coverage"]


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("parsed[0] and parsed[1] and verify", "verify", True),  # in the process of its own
        ("_MEMORY_BYTES = 4", "_MEMORY_BYTES = 2", True),
        ("LIMIT_S = 5.0", "LIMIT_S = 6.0", True),
        ("Answer pairs of texts", "Answer pairs", False),
    ],
)
def test_what_a_helper_process_does_counts(load, old, new, counts):
    source = (ROOT / "cg_pipeline" / "answers" / "latex_equality.py").read_text()
    assert old in source
    edited, here = load(source.replace(old, new)), load(source)
    assert (fingerprint(edited.same_mathematics) != fingerprint(here.same_mathematics)) == counts


def test_functions_of_one_file_differ(load):
    module = load(SCORING)
    assert len({fingerprint(item) for item in (module.score, module.read, module.unused, module.Policy)}) == 4
    assert fingerprint(module.Policy.grade) != fingerprint(module.Policy)


def test_a_class_counts_by_its_fields(load):
    row = "from typing import TypedDict\n\nclass Row(TypedDict):\n    question: str\n"
    assert fingerprint(load(row).Row) != fingerprint(load(row + "    answer: str\n").Row)
    assert fingerprint(load(row).Row) == fingerprint(load(row + '    """What is asked."""\n').Row)


def test_partials_count_by_what_they_fix(load):
    module = load(SCORING)
    once, twice = functools.partial(module.score, weight=1.0), functools.partial(module.score, weight=2.0)
    assert fingerprint(once) == fingerprint(functools.partial(module.score, weight=1.0))
    assert len({fingerprint(item) for item in (once, twice, module.score)}) == 3


@dataclass(frozen=True)
class Inner:
    size: Any = 1


@dataclass(frozen=True)
class Outer:
    inner: Any = Inner()
    names: tuple[str, ...] = ("a", "b")


@dataclass(frozen=True)
class Twin:
    inner: Any = Inner()
    names: tuple[str, ...] = ("a", "b")


@pytest.mark.parametrize(
    "other",
    [
        Outer(inner=Inner(2)),
        Outer(inner=Inner(1.0)),
        Outer(inner=Inner("1")),
        Outer(inner=Inner(None)),
        Outer(inner=Inner({"a": 1})),
        Outer(inner=Inner({"a": 2})),
        Outer(inner=Inner(GapRules())),
        Outer(inner=Inner(len)),
        Outer(inner=Inner(int)),
        Outer(names=("b", "a")),
        Outer(names=("ab",)),
        Twin(),
    ],
)
def test_a_nested_value_counts(other):
    assert fingerprint(other) != fingerprint(Outer())


def test_equal_specs_have_equal_fingerprints():
    assert fingerprint(Outer()) == fingerprint(Outer(inner=Inner(), names=("a", "b")))
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint({1: "a"}) != fingerprint({"1": "a"})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)
    )
)
def test_equal_data_has_equal_fingerprints(value):
    assert fingerprint(value) == fingerprint(value)
    assert fingerprint([value]) != fingerprint(value)


def closure(by: int) -> Any:
    def add(number: int) -> int:
        return number + by

    return add


DISGUISED = {"lambda": lambda: 1}


@pytest.mark.parametrize(
    "value",
    [
        DISGUISED["lambda"],
        closure(1),
        functools.partial(closure(1)),
        "text".upper,
        Outer(inner=object()),
        {1, 2},
        b"bytes",
        type("Made", (), {}),
        list[int],
    ],
    ids=["lambda", "closure", "partial", "method", "object inside", "set", "bytes", "local class", "alias"],
)
def test_what_has_no_lasting_identity_is_refused(value):
    with pytest.raises(TypeError) as error:
        fingerprint(value)
    assert str(error.value).endswith(
        " has no fingerprint; expected text, a number, a spec, or a function or class "
        "that stands at the top of a file. Give a lambda, closure or method a name there."
    )


def test_a_function_without_a_file_is_refused():
    code = "from cg_pipeline.fingerprints import fingerprint\ndef f(): ...\nfingerprint(f)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (
        "TypeError: __main__.f has no source to fingerprint; expected a file. Save it as one." in run.stderr
    )


CATALOGUE_CODE = """
from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.metrics import METRICS
from cg_pipeline.scoring import POLICIES
print(*(fingerprint(spec) for specs in (BENCHMARKS, METRICS, POLICIES) for spec in specs.values()))
"""


def test_another_process_with_another_hash_seed_agrees():
    """Neither hash order nor memory addresses count, and shape checks switched on in tests do not either."""
    here = [fingerprint(spec) for specs in (BENCHMARKS, METRICS, POLICIES) for spec in specs.values()]
    there = subprocess.run(
        [sys.executable, "-c", CATALOGUE_CODE],
        env={"PYTHONHASHSEED": "4"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert here == there
    assert len(set(here)) == len(here)


def test_renaming_a_field_counts():
    assert fingerprint(replace(GapRules(), under_share=0.2)) != fingerprint(
        replace(GapRules(), over_share=0.2)
    )
