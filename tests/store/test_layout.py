import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.store.layout import Layout, slug

KEYS = st.one_of(
    st.text(min_size=1),
    st.text(alphabet="./~%-aA é\0", min_size=1),
    st.text(alphabet="a/", min_size=190, max_size=210),
)


@given(KEYS)
def test_a_slug_is_one_safe_file_name(key: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_%-][A-Za-z0-9._%-]*", slug(key))
    assert len(slug(key)) <= 200


@given(KEYS, KEYS)
def test_different_keys_have_different_slugs(one: str, other: str) -> None:
    assert (slug(one) == slug(other)) == (one == other)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("smollm2_135m", "smollm2_135m"),
        ("org/Model-7B", "org%2FModel-7B"),
        ("..", "%2E%2E"),
        ("org%2FModel-7B", "org%252FModel-7B"),
        ("\ud800", "%ED%A0%80"),
    ],
)
def test_slugs_of_known_keys(key: str, name: str) -> None:
    assert slug(key) == name


def test_a_key_and_a_longer_one_beginning_with_it_are_neighbours_not_parent_and_child(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert layout.report("org/model").parent == layout.report("org/model/b").parent


def test_long_keys_that_differ_at_the_end_differ() -> None:
    assert slug("x" * 300 + "a") != slug("x" * 300 + "b")


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(ValueError, match="A key is empty; expected at least one character"):
        slug("")


def test_everything_is_below_the_data_directory(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    places = [
        layout.live,
        layout.lock,
        layout.published,
        layout.shards,
        layout.cache,
        layout.suite,
        layout.report("m"),
    ]
    assert all(place.is_relative_to(tmp_path) for place in places)
    assert len(set(places)) == len(places)


def test_declared_paths_stay_below_the_data_directory(tmp_path: Path) -> None:
    assert Layout(tmp_path).declared("suite/a.jsonl") == tmp_path / "suite" / "a.jsonl"
    for path in ("../secret", "/etc/passwd", "suite/../../x"):
        with pytest.raises(ValueError, match=f"Path '{path}' leads to .*; expected a place below the data"):
            Layout(tmp_path).declared(path)
