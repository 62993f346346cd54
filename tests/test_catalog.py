"""A module without its constant, or named otherwise than its file, fails at import and says so."""

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from cg_pipeline.catalog import collect, lookup


@dataclass(frozen=True)
class Fruit:
    name: str


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A package on disk; called with its files, it collects their `FRUIT`."""

    def gather(**files: str) -> dict[str, Fruit]:
        folder = tmp_path / "orchard"
        folder.mkdir()
        (folder / "__init__.py").touch()
        for name, text in files.items():
            (folder / f"{name}.py").write_text(f"from {__name__} import Fruit\n{text}\n")
        importlib.invalidate_caches()
        package = importlib.import_module("orchard")
        return collect("orchard", package.__path__, "FRUIT", Fruit)

    monkeypatch.syspath_prepend(tmp_path)
    yield gather
    for name in [name for name in sys.modules if name.split(".")[0] == "orchard"]:
        del sys.modules[name]


def test_one_entry_per_file_in_alphabetical_order(shelf):
    found = shelf(pear="FRUIT = Fruit('pear')", apple="FRUIT = Fruit('apple')", fig="FRUIT = Fruit('fig')")
    assert list(found) == ["apple", "fig", "pear"]
    assert found["fig"] == Fruit("fig")


def test_an_empty_folder_is_an_empty_catalogue(shelf):
    assert shelf() == {}


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        (
            "",
            TypeError,
            "orchard.apple defines no FRUIT; expected `FRUIT = Fruit(…)`. "
            "Each module of orchard holds exactly one.",
        ),
        (
            "fruit = Fruit('apple')",
            TypeError,
            "orchard.apple defines no FRUIT; expected `FRUIT = Fruit(…)`. "
            "Each module of orchard holds exactly one.",
        ),
        (
            "FRUIT = 'apple'",
            TypeError,
            "orchard.apple defines FRUIT = 'apple'; expected `FRUIT = Fruit(…)`. "
            "Each module of orchard holds exactly one.",
        ),
        (
            "FRUIT = Fruit('aple')",
            ValueError,
            "orchard.apple names its Fruit 'aple'; expected 'apple', the name of its file. "
            "Rename one of the two.",
        ),
    ],
)
def test_a_module_that_does_not_fit(shelf, text, kind, sentence):
    with pytest.raises(kind) as error:
        shelf(apple=text, pear="FRUIT = Fruit('pear')")
    assert str(error.value) == sentence


def test_lookup_finds():
    assert lookup("fruit", "fig", {"fig": 1}) == 1


@pytest.mark.parametrize(
    ("name", "known", "sentence"),
    [
        ("appel", ["apple", "pear"], "Unknown fruit 'appel'. Did you mean 'apple'? Known: apple, pear."),
        ("Apple", ["apple", "pear"], "Unknown fruit 'Apple'. Did you mean 'apple'? Known: apple, pear."),
        ("zzz", ["apple", "pear"], "Unknown fruit 'zzz'. Known: apple, pear."),
        ("fig", [], "Unknown fruit 'fig'. Known: none."),
    ],
)
def test_lookup_suggests(name, known, sentence):
    with pytest.raises(KeyError) as error:
        lookup("fruit", name, dict.fromkeys(known, 1))
    assert error.value.args == (sentence,)
